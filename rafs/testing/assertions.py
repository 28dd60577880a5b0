"""A trace that must carry its answer, or the test fails and says where it does not."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Unpack

from rafs.client.calls import ScoreFields
from rafs.client.clients import Client
from rafs.visible import show_text
from rafs.wire import ScoreResponse

MAX_STEP = 300
"""Characters of the suspect step, and of the reason, in the message."""


def assert_faithful(
    problem: str,
    trace: object,
    *,
    client: Client | None = None,
    min_score: float | None = None,
    allow_review: bool = False,
    **fields: Unpack[ScoreFields],
) -> ScoreResponse:
    """Assert that the service accepts a trace, and return its response.

    Args:
        problem: As the writer saw it.
        trace: As for `Client.score`.
        client: None opens one, from RAFS_URL and RAFS_API_KEY.
        min_score: Lowest score that passes, 0 to 100; None leaves it to the status.
        allow_review: Whether the status Review passes too.
        fields: As for `Client.score`.

    Raises:
        AssertionError: It is not accepted; the message shows status, score, reasons and the suspect step.
        RafsError: It could not be scored; see `Client.score`.
    """
    __tracebackhide__ = True
    with Client() if client is None else nullcontext(client) as used:
        response = used.score(problem, trace, **fields)
    is_allowed = response.status == "Accept" or (allow_review and response.status == "Review")
    is_high = min_score is None or (response.score is not None and response.score >= min_score)
    if not (is_allowed and is_high):
        raise AssertionError("\n".join(_report(response, min_score)))
    return response


def _report(response: ScoreResponse, min_score: float | None) -> Iterator[str]:
    score = "no score" if response.score is None else f"score {response.score:.2f}"
    asked = "" if min_score is None else f", at least {min_score:g} is asked for"
    yield f"the trace is not accepted as faithful: {response.status}, {score}{asked}"
    yield f"  outcome: {response.outcome.label}"
    yield f"  reasons: {', '.join(map(show_text, response.reasons)) or 'none'}"
    if suspect := response.suspect_step:
        text = next((step.text for step in response.steps if step.index == suspect.index), "")
        yield f"  suspect step {suspect.index} (p_correct {suspect.p_correct:.2f}): {show_text(text.strip(), MAX_STEP)}"
        yield f"    because: {show_text(suspect.reason, MAX_STEP)}"
    unmeasured = [f"{part.name} ({show_text(part.detail)})" for part in response.components if part.value is None]
    if unmeasured:
        yield f"  not measured: {', '.join(unmeasured)}"
    if any(reason == "unknown_generator" or reason.endswith("unmeasured:C") for reason in response.reasons):
        yield "  hint: send generator=... and samples=[...]"
