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


def refused(models: Sequence[ModelIdentity], writer: Writer, *, override: bool) -> frozenset[ModelIdentity]:
    """Return the models of the writer's families, which may not judge its trace unless the operator overrides."""
    return frozenset() if override else frozenset(model for model in models if model.families & writer.families)


def judge_independence(models: Sequence[ModelIdentity], writer: Writer, *, override: bool) -> Independence:
    """Say whether those who judge are independent of the writer.

    Args:
        models: All configured verifier models, before any was refused.
        writer: Who wrote the trace.
        override: Operator's choice to use verifiers of the writer's family.
    """
    related = refused(models, writer, override=False)
    if related and override:
        return Independence.OVERRIDDEN
    if len(related) == len(models):
        return Independence.NONE_LEFT
    return Independence.INDEPENDENT if writer.families else Independence.UNKNOWN


def choose_validator(validators: Sequence[Nli], writer: Writer, *, override: bool) -> Nli | None:
    """Return the first validator, in the operator's order, that is not of the writer's families."""
    barred = refused([validator.identity for validator in validators], writer, override=override)
    return next((validator for validator in validators if validator.identity not in barred), None)
