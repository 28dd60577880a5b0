"""What every oracle is: a text in, one of three answers out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from rafs.limits import MAX_TRACE_CHARS
from rafs.types import Truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What an oracle says of a text."""

    truth: Truth
    """UNKNOWN where its rule does not decide; never a guess."""
    reason: str
    """What it was decided by: the claim, the citation, the rule."""


class Oracle(Protocol):
    """Decides by a rule alone whether a text is right; the same text always gets the same decision."""

    @property
    def name(self) -> str:
        """`oracle:` and what it decides: `oracle:arithmetic`."""
        ...

    def decide(self, problem: str, text: str) -> Decision:
        """Say whether a text, written for a problem, is right in what the oracle looks at.

        Untrusted text, of any content and length: it is read in linear time, and beyond `MAX_TRACE_CHARS` not at all.
        Nothing is raised; what cannot be decided is UNKNOWN.
        """
        ...


def is_too_long(text: str) -> Decision | None:
    """Return the decision on a text that is longer than any that is read."""
    if len(text) <= MAX_TRACE_CHARS:
        return None
    return Decision(truth=Truth.UNKNOWN, reason=f"{len(text)} characters, at most {MAX_TRACE_CHARS} are read")


def all_hold(decisions: Iterable[Decision], nothing: str) -> Decision:
    """Return what holds of all: FALSE where one is, else UNKNOWN where one is, with the reasons of those.

    Args:
        decisions: On the parts of one text.
        nothing: Why there is none where there is none.
    """
    made = list(decisions)
    for truth in (Truth.FALSE, Truth.UNKNOWN, Truth.TRUE):
        if reasons := [one.reason for one in made if one.truth is truth]:
            return Decision(truth=truth, reason="; ".join(dict.fromkeys(reasons)))
    return Decision(truth=Truth.UNKNOWN, reason=nothing)
