"""Edits of what a step says in words: one word becomes its opposite."""

import random
import re
from collections.abc import Iterator

from counterfactuals.opposites import opposites_in
from rafs.interventions import Edit, EditFamily
from rafs.types import Step

SENTENCE = re.compile(r"(?:[^.!?;\n]|[.!?](?=\S))+[.!?;\n]?")
"""A piece of a text up to a sign that ends a sentence; the point of `2.5` does not."""
MAX_TRIED = 6
"""Words of one step that are tried (ours)."""
_PLANS = re.compile(
    r"\b(?:let(?:'s| us)?|need to|want to|have to|must find|going to|we will|we'll|we can (?:use|now|then|find)|if"
    r"|suppose|assume|to (?:find|determine|calculate|compute|solve|see|check)|given|recall|consider|step|whether"
    r"|which means)\b",
    re.IGNORECASE,
)
"""Words of a sentence that asserts nothing, or asserts it under a condition."""
_PREMISE = re.compile(r"\b(?:since|because|as|where|when|which|that|although|while)\b[^,]*", re.IGNORECASE)
"""A clause that gives a reason or a condition; what it says is no conclusion of the step."""
_RELATION = re.compile(r"[=<>≤≥≈≠]|\\[lg]e|\\approx|\\neq")
_FORMULA = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\\[.*?\\\]|\\[a-z]+\{[^}]*\}|`[^`]*`", re.DOTALL)


def last_conclusion(text: str) -> re.Match[str] | None:
    """Return the last sentence of a step, where it concludes; None for a question, a plan, a condition or a formula."""
    last = next((one for one in reversed(list(SENTENCE.finditer(text))) if one.group().strip()), None)
    if last is None or last.group().rstrip().endswith("?") or any(p.search(last.group()) for p in (_PLANS, _RELATION)):
        return None
    return last


def draw_negations(step: Step, seed: int) -> Iterator[Edit]:
    """Yield edits that turn one word of the step's last sentence into its opposite, in an order drawn by the seed.

    What says the same in a formula is left alone, and so are the reasons that the sentence gives.

    Args:
        step: The step.
        seed: Server-side.
    """
    text = step.blind_text
    last = last_conclusion(text)
    if last is None:
        return
    closed = [found.span() for pattern in (_FORMULA, _PREMISE) for found in pattern.finditer(text, *last.span())]
    flips = [
        one
        for one in opposites_in(text, *last.span())
        if not any(start < one.end and one.start < end for start, end in closed)
    ]
    random.Random(seed).shuffle(flips)
    for flip in flips[:MAX_TRIED]:
        yield Edit(
            step=step.index,
            claim=None,
            family=EditFamily.NEGATION,
            text=text[: flip.start] + flip.written + text[flip.end :],
            old=text[flip.start : flip.end],
            new=flip.written,
            predicted=None,
        )
