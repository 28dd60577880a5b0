"""What an edit did to the answer."""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

from counterfactuals.repairs import repairs
from rafs.answers.equivalence import equivalent
from rafs.answers.extraction import answer_value, extract_answer
from rafs.interventions import Edit, Effect, EffectMethod, Response
from rafs.support import continuation_delta, credits_of
from rafs.types import Sampled, Truth

LEVEL = 0.95


def replay_effect(edit: Edit, before: Fraction | None) -> Effect:
    """Effect by exact replay: Delta = 1 if the answer that the transcript leads to changes, else 0.

    It measures dependence in the transcript alone.

    Args:
        edit: The edit, with the answer that the replay leads to.
        before: The answer that the unedited transcript leads to; None where the answer is no result of any claim.
    """
    response = Response.STAYED if edit.predicted is None or edit.predicted == before else Response.FOLLOWED
    return Effect(edit=edit, method=EffectMethod.REPLAY, responses=(response,), delta=continuation_delta([response]))


def continuation_effect(
    edit: Edit, stated: str | None, problem: str, continuations: Sequence[Sampled], rest: Sequence[Response] = ()
) -> Effect:
    """Effect by continuation: Delta is the mean credit of the continuations that could be read and did not repair.

    Args:
        edit: The edit.
        stated: The answer of the unedited trace.
        problem: The problem, which decides some conventions of answers in words.
        continuations: What the writer wrote after the edited prefix.
        rest: Why it was not asked for more.
    """
    responses = (*(read_response(edit, stated, one, problem) for one in continuations), *rest)
    return Effect(
        edit=edit,
        method=EffectMethod.CONTINUATION,
        responses=responses,
        delta=continuation_delta(responses),
        interval=delta_interval(responses),
    )


def read_response(edit: Edit, stated: str | None, continuation: Sampled, problem: str = "") -> Response:
    """Say what one continuation did with the edit, by its own text alone; a truncated one has no answer."""
    found = None if continuation.truncated else extract_answer(continuation.text, problem=problem)
    stays = None if found is None else is_stated(found.text, stated, problem)
    if found is None or stays is None:
        return Response.UNPARSED
    if stays:
        return Response.RECOVERED if repairs(edit, continuation.text, problem) else Response.STAYED
    value = answer_value(found.text)
    return Response.FOLLOWED if value is not None and value == edit.predicted else Response.MOVED


def is_stated(found: str, stated: str | None, problem: str) -> bool | None:
    """Whether an answer is the stated one; None where that cannot be told, and for words where a number is stated."""
    value, expected = answer_value(found), None if stated is None else answer_value(stated)
    if value is not None and (stated is None or expected is not None):
        return value == expected
    if stated is None or expected is not None:
        return None
    truth = equivalent(found, stated, problem=problem)
    return None if truth is Truth.UNKNOWN else truth is Truth.TRUE


def delta_interval(responses: Sequence[Response]) -> tuple[float, float] | None:
    """Wilson's 95 % interval of the mean credit.

    With n credits of mean d, z = 1.96 and w = z^2 / n: (d + w/2 -+ z sqrt(d (1 - d) / n + w / (4n))) / (1 + w). A
    credit of 1/2 varies less than a coin of the same mean, so the interval is rather too wide than too narrow.

    Returns:
        (low, high) within [0, 1]; None where no continuation counts.

    Source:
        Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22.
    """
    earned = credits_of(responses)
    if not earned:
        return None
    n, mean = len(earned), sum(earned) / len(earned)
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    w = z * z / n
    half = z * math.sqrt(mean * (1 - mean) / n + w / (4 * n))
    low, high = (mean + w / 2 - half) / (1 + w), (mean + w / 2 + half) / (1 + w)
    return max(0.0, low), min(1.0, high)
