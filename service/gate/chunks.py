"""A completion as the chunks of a stream, and what chunks said."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi.sse import format_sse_event

from service.gate.completions import REPORT_KEY, Report

DONE = format_sse_event(data_str="[DONE]")
"""Ends a stream."""
STREAMED_KEYS = ("content", "refusal", "reasoning_content", "reasoning")


def to_event(chunk: Mapping[str, Any]) -> bytes:
    """Return one chunk as it is sent."""
    return format_sse_event(data_str=json.dumps(chunk, separators=(",", ":")))


def to_chunks(completion: Mapping[str, Any], *, with_usage: bool) -> Iterator[dict[str, Any]]:
    """Yield a whole completion as chunks: the message of every choice, why it ended, what it cost, and the verdict."""
    head = _head(completion)
    for choice in completion["choices"]:
        index, message = choice.get("index", 0), dict(choice["message"])
        if calls := _objects(message.get("tool_calls")):
            message["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls)]
        first = {"index": index, "delta": message, "logprobs": choice.get("logprobs"), "finish_reason": None}
        last = {"index": index, "delta": {}, "logprobs": None, "finish_reason": choice.get("finish_reason")}
        yield {**head, "choices": [first]}
        yield {**head, "choices": [last]}
    if with_usage and "usage" in completion:
        yield {**head, "choices": [], "usage": completion["usage"]}
    if REPORT_KEY in completion:
        yield {**head, "choices": [], REPORT_KEY: completion[REPORT_KEY]}


def report_chunk(like: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Return the chunk that holds the verdict, and no text, so that no client shows it as part of the answer."""
    return {**_head(like), "choices": [], REPORT_KEY: report.model_dump(mode="json")}


def text_chunk(like: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a chunk that adds text to the first choice."""
    return {**_head(like), "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}


def split_end(chunk: Mapping[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return what of a chunk goes on at once, and what waits for the verdict: why a choice ended, and what it cost."""
    ends = [choice for choice in _objects(chunk.get("choices")) if choice.get("finish_reason") is not None]
    plain = {key: value for key, value in chunk.items() if key != REPORT_KEY}
    if not ends:
        return (plain, None) if plain.get("choices") else (None, plain)
    now = [{**choice, "finish_reason": None} for choice in _objects(chunk.get("choices"))]
    later = [{**choice, "delta": {}, "logprobs": None} for choice in ends]
    return {**plain, "choices": now, "usage": None}, {**plain, "choices": later}


class Gathered:
    """What the chunks of a stream have said so far."""

    def __init__(self) -> None:
        self.first: Mapping[str, Any] = {}
        """The first chunk, whose id and model all of them share."""
        self._choices: dict[int, dict[str, Any]] = {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk in."""
        self.first = self.first or chunk
        for choice in _objects(chunk.get("choices")):
            index = choice.get("index")
            index = index if isinstance(index, int) else 0
            whole = self._choices.setdefault(index, {"index": index, "message": {"role": "assistant"}})
            delta = choice.get("delta")
            for key, value in (delta if isinstance(delta, dict) else {}).items():
                self._join(whole["message"], key, value)
            if choice.get("finish_reason") is not None:
                whole["finish_reason"] = choice["finish_reason"]

    def choices(self) -> list[dict[str, Any]]:
        """Return the choices as a completion has them."""
        return [self._choices[index] for index in sorted(self._choices)]

    @staticmethod
    def _join(message: dict[str, Any], key: str, value: Any) -> None:
        if key in STREAMED_KEYS and isinstance(value, str):
            message[key] = message.get(key, "") + value
        elif key not in ("role", *STREAMED_KEYS) and value:
            message[key] = value  # that there is one is all that is asked of it


def _head(like: Mapping[str, Any]) -> dict[str, Any]:
    head = {key: like[key] for key in ("id", "created", "model", "system_fingerprint") if key in like}
    return {**head, "object": "chat.completion.chunk"}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
