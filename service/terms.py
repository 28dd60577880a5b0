"""On what terms a request is worked on: how urgent, for whom, and within what bounds of time and tokens."""

from dataclasses import dataclass, replace
from typing import TypeVar

from rafs.usage import Priority

SHORTEST_S = 0.001
"""What is left of a deadline that passed while the body was read: the answer still says what was cut off."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a request may cost, how urgent it is, and on whose behalf it is made."""

    priority: Priority = Priority.SCORE
    tenant: str = ""
    """Nothing that was computed for one tenant is reused for another."""
    deadline_s: float | None = None
    """Seconds that are left; None leaves it at the preset's deadline."""
    token_budget: int | None = None
    """Tokens after which no model is asked any more; None for no bound."""

    def within(self, deadline_s: float | None, token_budget: int | None) -> "Terms":
        """Return these terms narrowed to other bounds; None narrows nothing."""
        return replace(
            self,
            deadline_s=_smaller(self.deadline_s, deadline_s),
            token_budget=_smaller(self.token_budget, token_budget),
        )

    def after(self, spent_s: float) -> "Terms":
        """Return what is left of these terms when some of the time has passed."""
        if self.deadline_s is None:
            return self
        return replace(self, deadline_s=max(SHORTEST_S, self.deadline_s - spent_s))


DEFAULT_TERMS = Terms()


def _smaller(one: Number | None, other: Number | None) -> Number | None:
    return min((each for each in (one, other) if each is not None), default=None)
