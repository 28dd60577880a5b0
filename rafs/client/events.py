"""What the service tells of a score while it grows."""

import httpx
from httpx_sse import ServerSentEvent
from pydantic import ValidationError

from rafs.client.errors import ReplyError
from rafs.client.replies import read_problem
from rafs.progress_wire import ScoreBounds, StepJudged, StepsRead
from rafs.visible import show_text
from rafs.wire import ScoreResponse

ScoreEvent = StepsRead | StepJudged | ScoreBounds | ScoreResponse
"""In this order: how the trace was read, each step's verdict, bounds that narrow between them, and the response."""

EVENTS: dict[str, type[ScoreEvent]] = {
    "steps": StepsRead,
    "verdict": StepJudged,
    "bounds": ScoreBounds,
    "result": ScoreResponse,
}
BROKEN_OFF = "the stream ended before its result"


def read_event(sent: ServerSentEvent, headers: httpx.Headers) -> ScoreEvent | None:
    """Return what one event says; None for one that only a newer client knows.

    Raises:
        ProblemError: The trace could not be scored after all.
        ReplyError: It is not what the service says.
    """
    if sent.event == "problem":
        raise read_problem(sent.data, headers, 500)
    model = EVENTS.get(sent.event)
    if model is None:
        return None
    try:
        return model.model_validate_json(sent.data, extra="ignore")
    except ValidationError as error:
        message = f"the event {sent.event!r} is none of RAFS: {show_text(error.errors()[0]['msg'])}"
        raise ReplyError(message) from error
