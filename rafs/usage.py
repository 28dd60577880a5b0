"""Counting what a request cost: calls, tokens and milliseconds by stage."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from time import perf_counter


class Stage(StrEnum):
    """The stages that wait for models, and that a deadline can cut off."""

    VERIFY = "verify"
    AGREE = "agree"
    INTERVENE = "intervene"


class Priority(IntEnum):
    """Who is served first where work waits; the smaller, the sooner."""

    GATE = 0
    """Somebody waits in front of a screen."""
    SCORE = 1
    BATCH = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """On whose behalf work is done."""

    tenant: str = ""
    """Nothing that was computed for one tenant is reused for another."""
    priority: Priority = Priority.SCORE


@dataclass(slots=True)
class StageUsage:
    """Cost of one stage; tokens are those that went through a model."""

    calls: int = 0
    tokens: int = 0
    reused: int = 0
    """Opinions that cost nothing: remembered, or shared with a caller who asked the same at the same time."""
    milliseconds: float = 0.0


@dataclass(slots=True)
class Meter:
    """Accumulates the cost of one request; engines add to the stage they were called in."""

    caller: Caller = field(default_factory=Caller)
    stages: dict[str, StageUsage] = field(default_factory=dict)
    token_budget: int | None = None
    """Tokens after which no model is asked any more; None for no bound."""

    @property
    def is_spent(self) -> bool:
        """Whether so many tokens went through models that none is asked any more; what is under way may end."""
        if self.token_budget is None:
            return False
        return sum(usage.tokens for usage in self.stages.values()) >= self.token_budget

    def end_if_spent(self) -> None:
        """Called before a model is asked.

        Raises:
            TimeoutError: The budget is spent; it ends a stage as the deadline does.
        """
        if self.is_spent:
            raise TimeoutError("the token budget is spent")

    def add(self, stage: str, *, calls: int = 0, tokens: int = 0, reused: int = 0) -> None:
        """Count calls, the tokens that went through a model, and reused opinions in `stage`."""
        usage = self.stages.setdefault(stage, StageUsage())
        usage.calls += calls
        usage.tokens += tokens
        usage.reused += reused

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to `stage`."""
        started = perf_counter()
        try:
            yield
        finally:
            self.stages.setdefault(stage, StageUsage()).milliseconds += (perf_counter() - started) * 1000
