"""What an edit did to the answer."""

import re
from collections.abc import Sequence
from fractions import Fraction

from rafs.answers.extraction import answer_value, extract_answer
from rafs.interventions import Edit, Effect, EffectMethod, Response
from rafs.support import continuation_delta
from rafs.types import Sampled

_REPAIR = re.compile(
    r"\b(?:wait|actually|correction|mistake|incorrect|not right|should be|let me (?:re-?check|redo|correct))\b",
    re.I,
)
"""Words with which a continuation announces that it repairs something."""


def replay_effect(edit: Edit, before: Fraction | None) -> Effect:
    """Effect by exact replay: Delta = 1 if the answer that the transcript leads to changes, else 0.

    It measures dependence in the transcript alone.

    Args:
        edit: The edit, with the answer that the replay leads to.
        before: The answer that the unedited transcript leads to; None where the answer is no result of any claim.
    """
    response = Response.STAYED if edit.predicted is None or edit.predicted == before else Response.FOLLOWED
    return Effect(edit=edit, method=EffectMethod.REPLAY, responses=(response,), delta=continuation_delta([response]))


def continuation_effect(edit: Edit, prefix: str, stated: str | None, continuations: Sequence[Sampled]) -> Effect:
    """Effect by continuation: Delta is the mean credit of the continuations that could be read and did not repair.

    Args:
        edit: The edit.
        prefix: Everything the generator was given.
        stated: The answer of the unedited trace.
        continuations: What it wrote after the prefix.
    """
    responses = tuple(read_response(edit, stated, continuation) for continuation in continuations)
    return Effect(
        edit=edit,
        method=EffectMethod.CONTINUATION,
        responses=responses,
        delta=continuation_delta(responses),
        prefix=prefix,
        continuations=tuple(continuations),
    )


def read_response(edit: Edit, stated: str | None, continuation: Sampled) -> Response:
    """Say what one continuation did with the edit, by its own text alone; a truncated one has no answer."""
    found = None if continuation.truncated else extract_answer(continuation.text)
    value = None if found is None else answer_value(found.text)
    if value is None:
        return Response.UNPARSED
    if stated is not None and value == answer_value(stated):
        return Response.RECOVERED if _REPAIR.search(continuation.text) else Response.STAYED
    return Response.FOLLOWED if value == edit.predicted else Response.MOVED
