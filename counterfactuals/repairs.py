"""Whether a continuation noticed an edit, and put it right."""

import re
from fractions import Fraction

from counterfactuals.numerals import mentions
from rafs.claims.reader import read_claims
from rafs.claims.retractions import doubts
from rafs.interventions import Edit
from rafs.types import BlindStep, StepKind

REACH = 200
"""Characters behind the words that take something back in which the right conclusion stands (ours)."""
_NOT = re.compile(r"[^.!?\n]{0,40}\b(?:not|instead\sof|rather\sthan|isn['’]t)\s[^.!?\n\d]{0,20}\Z", re.IGNORECASE)
"""Between the right conclusion and the one that it denies: `600, not 610`."""


def repairs(edit: Edit, text: str, problem: str) -> bool:
    """Say whether a text takes the edited conclusion back and says the right one.

    Words of doubt alone are no repair (`the number should be whole`, `the problem has a mistake`): close behind them
    stands the conclusion that the edit replaced, or what the edited calculation really comes to. `600, not 610` is one
    without words of doubt.

    Args:
        edit: The edit that the text goes on from.
        text: A continuation.
        problem: The problem, by which claims are read.
    """
    places = doubts(text)
    if isinstance(edit.old, str):
        said = [found.start() for found in re.finditer(rf"\b{re.escape(edit.old)}\b", text, re.IGNORECASE)]
        return any(0 <= at - place <= REACH for at in said for place in places)
    numbers = list(mentions(text))
    right = {edit.old, *_computed(edit, problem)} - {edit.new}
    told = [(at, value) for at, value in numbers if value in right]
    if any(0 <= at.start - place <= REACH for at, _ in told for place in places):
        return True
    denied = [at for at, value in numbers if value == edit.new]
    return any(_NOT.fullmatch(text, at.end, no.start) for at, _ in told for no in denied if at.end <= no.start)


def _computed(edit: Edit, problem: str) -> list[Fraction]:
    """Return what the calculations of the edited step that conclude the edited number really come to."""
    step = BlindStep(index=0, text=edit.text, kind=StepKind.INFERENCE)
    return [one.value for one in read_claims([step], problem) if one.result == edit.new and one.value is not None]
