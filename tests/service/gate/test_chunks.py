"""Completions as chunks, and chunks as completions."""

import json

from service.gate.chunks import Gathered, split_end, to_chunks, to_event

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "content": "a\nb", "reasoning_content": "r"}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
COMPLETION = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": SAID, "finish_reason": "stop"},
        {"index": 1, "message": CALLED, "finish_reason": "tool_calls"},
    ],
    "usage": {"total_tokens": 3},
}


def gathered(*chunks: dict[str, object]) -> list[dict[str, object]]:
    whole = Gathered()
    for chunk in chunks:
        whole.add(chunk)
    return whole.choices()


def delta(content: str | None, end: str | None = None, index: int = 0) -> dict[str, object]:
    changes = {} if content is None else {"content": content}
    return {"id": "x", "choices": [{"index": index, "delta": changes, "finish_reason": end}]}


def test_the_chunks_of_a_completion_say_the_same() -> None:
    first, second = gathered(*to_chunks(COMPLETION, with_usage=True))
    assert first["message"] == {"role": "assistant", "content": "a\nb", "reasoning_content": "r"}
    assert (second["finish_reason"], second["message"]) == (
        "tool_calls",
        {"role": "assistant", "tool_calls": [{"index": 0, **CALL}]},
    )


def test_the_cost_is_told_only_where_it_was_asked_for() -> None:
    assert [chunk.get("usage") for chunk in to_chunks(COMPLETION, with_usage=False)] == [None] * 4


def test_an_event_is_one_line_whatever_the_text() -> None:
    event = to_event({"content": "a\n\r\n\u2028data: [DONE]\ud800"})
    assert event.count(b"\n") == 2
    assert json.loads(event.removeprefix(b"data: "))["content"] == "a\n\r\n\u2028data: [DONE]\ud800"


def test_texts_of_a_choice_are_joined_and_choices_kept_apart() -> None:
    found = gathered(delta("a"), delta("x", index=1), delta("b"), delta(None, "stop"))
    assert [choice["message"]["content"] for choice in found] == ["ab", "x"]  # type: ignore[index]


def test_what_is_no_choice_is_left_out() -> None:
    assert gathered({"choices": None}, {"choices": ["x"]}, {"choices": [{"delta": "x", "index": []}]}) == [
        {"index": 0, "message": {"role": "assistant"}}
    ]


def test_text_that_comes_with_its_end_goes_on_and_the_end_waits() -> None:
    now, later = split_end(delta("b", "stop"))
    assert now is not None and later is not None
    assert [(one["delta"], one["finish_reason"]) for one in now["choices"]] == [({"content": "b"}, None)]
    assert [(one["delta"], one["finish_reason"]) for one in later["choices"]] == [({}, "stop")]


def test_the_cost_waits_with_the_end() -> None:
    assert split_end({"id": "x", "choices": [], "usage": {"total_tokens": 1}})[0] is None
