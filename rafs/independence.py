"""Who may judge whom: a model never judges what its own family wrote."""

from collections.abc import Sequence
from dataclasses import dataclass

from rafs.contracts import Nli
from rafs.policy import Independence
from rafs.types import ModelIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who wrote the trace, as far as it is known."""

    model: str | None
    families: frozenset[str]
    """Every family in its descent (a distilled model has two); empty where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Appointment:
    """Which of the configured models judge one trace."""

    asked: frozenset[str]
    """Names of the members that judge."""
    refused: frozenset[str]
    """Names of those of the writer's family."""
    independence: Independence


def appoint(models: Sequence[tuple[str, ModelIdentity]], writer: Writer, *, override: bool) -> Appointment:
    """Choose the judges of a trace: of each kind the first, in the operator's order, of another family than the writer.

    Args:
        models: Name in the ledger (`judge:<id>`, its kind before the colon) and identity of every model verifier.
        writer: Who wrote the trace.
        override: Operator's choice to use verifiers of the writer's family.
    """
    related = frozenset(name for name, identity in models if identity.families & writer.families)
    asked: dict[str, str] = {}
    for name, _ in models:
        if override or name not in related:
            asked.setdefault(kind_of(name), name)
    chosen = frozenset(asked.values())
    if not chosen:
        independence = Independence.NONE_LEFT
    elif chosen & related:
        independence = Independence.OVERRIDDEN
    else:
        independence = Independence.INDEPENDENT if writer.families else Independence.UNKNOWN
    return Appointment(asked=chosen, refused=frozenset() if override else related, independence=independence)


def kind_of(member: str) -> str:
    """Return the kind of a member: `judge` for `judge:smollm2-135m-instruct`."""
    return member.partition(":")[0]


def choose_validator(validators: Sequence[Nli], writer: Writer, *, override: bool) -> Nli | None:
    """Return the first validator, in the operator's order, that is not of the writer's families."""
    allowed = (one for one in validators if override or not one.identity.families & writer.families)
    return next(allowed, None)
