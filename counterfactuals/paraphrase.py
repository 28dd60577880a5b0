"""Rewording a step by rules: other connectives, other verbs of reasoning, another frame; no number, no claim."""

import re
from collections.abc import Sequence

from counterfactuals.numerals import mentions
from rafs.claims.reader import read_claims
from rafs.types import BlindStep, Claim, Trace

_CONNECTIVES = {
    "so": "therefore", "therefore": "so", "thus": "hence", "hence": "thus", "consequently": "as a result",
    "first": "to begin with", "next": "after that", "then": "after that", "finally": "in the end",
    "now": "at this point", "also": "in addition", "however": "even so", "similarly": "in the same way",
}  # fmt: skip
_PHRASES = {
    "we need to": "we have to", "we have to": "we need to", "we can see that": "it is clear that",
    "we know that": "it is known that", "calculate": "work out", "determine": "find out", "compute": "work out",
    "altogether": "all in all", "because": "since", "in order to": "so as to", "this means that": "it follows that",
    "it follows that": "this means that", "in other words": "put differently",
}  # fmt: skip
_CONNECTIVE = re.compile(rf"(?:^|(?<=[.!?;]\s))({'|'.join(_CONNECTIVES)})(?=,?\s)", re.IGNORECASE)
"""At the head of a sentence, where it joins sentences and nothing else."""
_PHRASE = re.compile(rf"\b({'|'.join(_PHRASES)})\b", re.IGNORECASE)
_FRAMES = ("At this point: ", "The next step: ", "To go on: ")
_FRAMED = re.compile(r"[A-Z][a-z']*\s(?!\d+[.:)])")
"""A sentence, and not a heading, a list number or a formula: a frame reads well before it."""


def reword_step(step: BlindStep, problem: str) -> str | None:
    """Return a step in other words; None where no rule applies, or where the claims grammar reads something else in it.

    The numbers are the same, in the same order, and so are its claims: what they compare, and whether they hold.
    """
    reworded = _PHRASE.sub(lambda found: _like(found[1], _PHRASES), step.text)
    reworded = _CONNECTIVE.sub(lambda found: _like(found[1], _CONNECTIVES), reworded)
    framed = f"{_FRAMES[step.index % len(_FRAMES)]}{step.text}" if _FRAMED.match(step.text) else step.text
    return next(
        (text for text in (reworded, framed) if text != step.text and _says_the_same(step, text, problem)), None
    )


def reword_steps(trace: Trace, n: int) -> Sequence[str]:
    """Return the blind texts of the first n steps of the derivation, in other words where the rules allow it."""
    steps = [BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in trace.derivation()[:n]]
    return [reword_step(step, trace.problem) or step.text for step in steps]


def _like(found: str, words: dict[str, str]) -> str:
    new = words[found.lower()]
    return new.capitalize() if found[0].isupper() else new


def _says_the_same(step: BlindStep, text: str, problem: str) -> bool:
    if [value for _, value in mentions(step.text)] != [value for _, value in mentions(text)]:
        return False
    after = BlindStep(index=step.index, text=text, kind=step.kind)
    return _claimed(read_claims([step], problem)) == _claimed(read_claims([after], problem))


def _claimed(claims: Sequence[Claim]) -> list[tuple[object, ...]]:
    return [(one.left, one.relation, one.right, one.truth, one.value, one.result, one.unit) for one in claims]
