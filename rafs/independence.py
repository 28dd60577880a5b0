"""Who may judge whom: a model never judges what its own family wrote."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rafs.contracts import HasIdentity
from rafs.families import UNNAMED
from rafs.policy import Independence
from rafs.types import MemberVerdicts, ModelIdentity, kind_of

Chosen = TypeVar("Chosen", bound=HasIdentity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who wrote the trace, as far as it is known."""

    model: str | None
    families: frozenset[str]
    """Every family in its descent (a distilled model has two, one of which may be `UNNAMED`); empty where unknown."""

    def is_kin_of(self, identity: ModelIdentity) -> bool:
        """Whether a model shares a family with it."""
        return not identity.families.isdisjoint(self.families)


def refuse_kin(models: Iterable[tuple[str, ModelIdentity]], writer: Writer, *, override: bool) -> frozenset[str]:
    """Return the names of the models that may not judge: those of the writer's families.

    Args:
        models: Name in the ledger and identity of every model verifier.
        writer: Who wrote the trace.
        override: Operator's choice to use verifiers of the writer's family.
    """
    return frozenset() if override else frozenset(name for name, identity in models if writer.is_kin_of(identity))


def choose_independent(models: Iterable[Chosen], writer: Writer, *, override: bool) -> Chosen | None:
    """Return the first validator, or editor, in the operator's order, that is not of the writer's families."""
    return next((one for one in models if override or not writer.is_kin_of(one.identity)), None)


def fill_seats(
    models: Sequence[tuple[str, ModelIdentity]],
    sitting: Collection[str],
    out: Collection[str],
    seats: Mapping[str, int],
) -> list[str]:
    """Choose whom to ask for the seats that are free, in the operator's order.

    A kind of model (`judge`, `prm`) has one seat unless `seats` says otherwise. Those on the seats of one kind share
    no family with one another: two judges of one family are one opinion said twice.

    Args:
        models: Name in the ledger (`judge:<id>`, its kind before the colon) and identity of every model verifier.
        sitting: Names of those that have a seat.
        out: Names of those that get none: refused, or failed.
        seats: Number of seats by kind.
    """
    called: list[str] = []
    for name, identity in models:
        if name in out or name in sitting:
            continue
        peers = [
            one for other, one in models if (other in sitting or other in called) and kind_of(other) == kind_of(name)
        ]
        if len(peers) < seats.get(kind_of(name), 1) and all(
            identity.families.isdisjoint(one.families) for one in peers
        ):
            called.append(name)
    return called


def judge_independence(
    members: Iterable[MemberVerdicts], refused: Collection[str], validator: ModelIdentity | None, writer: Writer
) -> Independence:
    """Say whether those who judged are of other families than the writer.

    Args:
        members: Rows of the ledger.
        refused: Names of the models that may not judge.
        validator: The model that compared claims; None where none was asked.
        writer: Who wrote the trace; one of its families not being known is as good as none.
    """
    models = [(row, row.identity) for row in members if row.identity is not None]
    if all(row.member in refused for row, _ in models):
        return Independence.NONE_LEFT
    asked = [identity for row, identity in models if any(row.asked())] + ([validator] if validator else [])
    if any(writer.is_kin_of(identity) for identity in asked):
        return Independence.OVERRIDDEN
    is_known = bool(writer.families) and UNNAMED not in writer.families
    return Independence.INDEPENDENT if is_known else Independence.UNKNOWN
