"""The caller's own samples, in the shapes that APIs give them in."""

import math
from typing import Annotated

from pydantic import BaseModel, Field, Tag

from rafs.channels import ENDED
from rafs.limits import MAX_TRACE_CHARS
from rafs.messages import Conversation, Message, MessageText, Name, Sent, conversation_text, shape_of, shapes
from rafs.types import Sampled

MAX_LOGPROBS = MAX_TRACE_CHARS
"""A token has a character at least."""
MIN_LOGPROB = -3.5e38
"""Below the least number of single precision, which some servers write for a probability of 0."""
Logprob = Annotated[float, Field(ge=MIN_LOGPROB, le=1e-3, description="Natural logarithm; above 0 by rounding alone.")]


class TokenLogprob(Sent):
    """One token of a chat choice."""

    logprob: Logprob | None = None


class Logprobs(Sent):
    """Of a chat choice (`content`), or of a completion (`token_logprobs`)."""

    content: Annotated[list[TokenLogprob], Field(max_length=MAX_LOGPROBS)] | None = None
    token_logprobs: Annotated[list[Logprob | None], Field(max_length=MAX_LOGPROBS)] | None = None

    def of_tokens(self) -> list[float] | None:
        """Return the log-probability of every token; None where that of some token is not given."""
        given = self.token_logprobs if self.content is None else [token.logprob for token in self.content]
        known = [one for one in given or [] if one is not None]
        return known if known and len(known) == len(given or []) else None


class Choice(Sent):
    """One of the `choices` of a chat reply, or of a completion, which has `text` in place of a message."""

    message: Message | None = None
    text: MessageText | None = None
    finish_reason: Name | None = None
    logprobs: Logprobs | None = None


class SampledMessage(Message):
    """An assistant message; some APIs write into it why it ended."""

    stop_reason: Name | None = None


SampleText = Annotated[str, Field(min_length=1, max_length=MAX_TRACE_CHARS)]


def shape_of_sample(value: object) -> str | None:
    """Return the tag of a sample's union member; an object with a message or a text in it is a choice."""
    match value:
        case {"message": _} | {"text": _} | Choice():
            return "<choice>"
        case [dict() | BaseModel(), *_]:
            return "<messages>"
        case list():
            return None
        case _:
            return shape_of(value)


SampleInput = Annotated[
    Annotated[SampleText, Tag("<text>")]
    | Annotated[SampledMessage, Tag("<object>")]
    | Annotated[Choice, Tag("<choice>")]
    | Annotated[Conversation, Tag("<messages>")],
    shapes("text, an assistant message, a list of messages or one of the `choices` of a reply", shape_of_sample),
]


def to_sampled(sample: SampleInput) -> Sampled:
    """Return what was sampled; cut where the reply says that it did not end by itself."""
    match sample:
        case Choice():
            text = sample.text or "" if sample.message is None else sample.message.to_text()
            logprobs = None if sample.logprobs is None else sample.logprobs.of_tokens()
            return Sampled(
                text=text,
                truncated=_is_cut(sample.finish_reason),
                logprob=None if logprobs is None else min(0.0, math.fsum(logprobs)),
                n_tokens=None if logprobs is None else len(logprobs),
            )
        case SampledMessage():
            return Sampled(text=sample.to_text(), truncated=_is_cut(sample.stop_reason))
        case str():
            return Sampled(text=sample, truncated=False)
        case _:
            return Sampled(text=conversation_text(sample), truncated=False)


def _is_cut(reason: str | None) -> bool:
    """Whether a text did not end by itself; where nothing is said of its end, it is taken as sent."""
    return reason is not None and reason not in ENDED
