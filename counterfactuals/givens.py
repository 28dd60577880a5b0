"""Whether a step restates what the problem gives; a change there contradicts the problem, not the step."""

import re

from counterfactuals.numerals import mentions
from counterfactuals.text_edits import SENTENCE
from rafs.grammar.units import is_known_unit
from rafs.types import Claim, Reading, SourceKind

_NOUN = re.compile(r"[\s~}]*(?:\\text\{\s*)?(?!of\b|and\b|or\b|in\b|is\b|per\b|times\b|more\b|less\b)([A-Za-z]{3,})")
_SHARE_RESTATED = 0.8
"""Share of the words of a sentence from which, found in one sentence of the problem, they repeat that one (ours)."""
_MIN_WORDS = 3


def restates_given(claim: Claim, reading: Reading) -> bool:
    """Whether a claim's result is a number of the problem, of the same thing: 18 rows again, or `1 * 18 = 18`.

    A measure is no thing: 18 miles may be another way.

    Args:
        claim: The claim that is edited.
        reading: Its trace.
    """
    if claim.result not in reading.graph.problem_values or claim.result_span is None:
        return False
    if any(operand.value == claim.result and operand.source is SourceKind.PROBLEM for operand in claim.operands):
        return True
    noun = _noun_behind(reading.trace.steps[claim.step].blind_text, claim.result_span.end)
    problem = reading.trace.problem
    return (
        noun != ""
        and not is_known_unit(noun)
        and any(value == claim.result and _noun_behind(problem, at.end) == noun for at, value in mentions(problem))
    )


def is_fact_of_units(claim: Claim) -> bool:
    """Whether a claim only says what a unit is in another one, `10 dimes equal 1 dollar`: that follows from nothing."""
    return claim.reason == "units converted" and all(
        operand.source is SourceKind.UNIT_CONSTANT for operand in claim.operands
    )


def _noun_behind(text: str, at: int) -> str:
    found = _NOUN.match(text, at)
    return "" if found is None else found[1].lower().removesuffix("s")


def restates_sentence(text: str, at: int, problem: str) -> bool:
    """Whether the sentence around a place of a step says what one sentence of the problem says."""
    own = next((found.group() for found in SENTENCE.finditer(text) if found.start() <= at < found.end()), text)
    words = _words(own)
    if len(words) < _MIN_WORDS:
        return False
    return any(
        len(words & _words(sentence.group())) >= _SHARE_RESTATED * len(words) for sentence in SENTENCE.finditer(problem)
    )


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+|\d+", text.lower()) if len(word) > 2 or word.isdigit()}
