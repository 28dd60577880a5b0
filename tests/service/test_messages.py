"""Assistant messages as the APIs return them: what is text or reasoning is read, the rest is left out."""

import json

import pytest
from fastapi.testclient import TestClient

from rafs.independence import Writer
from rafs.request import ScoreRequest
from service.scorer import to_input
from tests.service.stand_in import JSON, body

NOBODY = Writer(model=None, families=frozenset())
THOUGHT = "<think>\n2 + 2 = 4\n</think>\nThe answer is 4."
MESSAGES: dict[str, tuple[dict[str, object], str]] = {
    "chat completion": (
        {
            "role": "assistant",
            "content": "The answer is 4.",
            "refusal": None,
            "annotations": [],
            "audio": None,
            "function_call": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}],
        },
        "The answer is 4.",
    ),
    "reasoning in a field": (
        {"role": "assistant", "content": "The answer is 4.", "reasoning_content": "2 + 2 = 4", "tool_calls": []},
        THOUGHT,
    ),
    "reasoning in a field of another name": ({"content": "The answer is 4.", "reasoning": "2 + 2 = 4"}, THOUGHT),
    "reasoning that never became a reply": (
        {"content": "", "reasoning_content": "2 + 2 = 4"},
        "<think>\n2 + 2 = 4\n</think>\n",
    ),
    "thinking blocks": (
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "tool_use",
            "usage": {"output_tokens": 7},
            "content": [
                {"type": "thinking", "thinking": "2 + 2 = 4", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "xx"},
                {"type": "text", "text": "The answer is 4.", "citations": None},
                {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 2}},
                {"type": "image_url", "image_url": {"url": "data:"}, "text": 5},
            ],
        },
        THOUGHT,
    ),
    "output blocks": (
        {
            "content": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "2 + 2 = 4"}]},
                {"type": "output_text", "text": "The answer is 4.", "annotations": [], "logprobs": []},
            ]
        },
        THOUGHT,
    ),
    "reasoning before its own summary": (
        {
            "content": [
                {"type": "reasoning", "content": [{"text": "2 + 2 = 4"}], "summary": [{"text": "short"}]},
                {"type": "text", "text": "The answer is 4."},
            ]
        },
        THOUGHT,
    ),
}


@pytest.mark.parametrize(("message", "read"), MESSAGES.values(), ids=MESSAGES.keys())
def test_text_and_reasoning_of_a_message_are_read_and_nothing_else(
    client: TestClient, message: dict[str, object], read: str
) -> None:
    raw = body(trace=message)
    assert client.post("/v1/score", content=raw, headers=JSON).status_code == 200
    assert to_input(ScoreRequest.model_validate_json(raw), NOBODY, 0).trace == read


@pytest.mark.parametrize("message", [message for message, _ in MESSAGES.values()], ids=MESSAGES.keys())
def test_a_message_survives_its_record(message: dict[str, object]) -> None:
    request = ScoreRequest.model_validate_json(body(trace=message))
    again = ScoreRequest.model_validate_json(request.model_dump_json())
    assert again == request
    assert json.loads(request.model_dump_json())["trace"].keys() <= {
        "role",
        "content",
        "reasoning_content",
        "reasoning",
    }


CONVERSATION = [
    {"role": "system", "content": "Be brief. 1 + 1 = 3"},
    {"role": "user", "content": "What is 2 + 2? Is it 5?"},
    {"role": "assistant", "content": None, "reasoning_content": "2 + 2 = 4", "tool_calls": [{"id": "t1"}]},
    {"role": "tool", "content": "4", "tool_call_id": "t1"},
    {"role": "assistant", "content": [{"type": "text", "text": "The answer is 4."}]},
]


def test_of_a_conversation_the_assistants_messages_are_read(client: TestClient) -> None:
    raw = body(trace=CONVERSATION)
    assert client.post("/v1/score", content=raw, headers=JSON).status_code == 200
    request = ScoreRequest.model_validate_json(raw)
    assert to_input(request, NOBODY, 0).trace == "<think>\n2 + 2 = 4\n</think>\n\n\nThe answer is 4."
    assert ScoreRequest.model_validate_json(request.model_dump_json()) == request


def test_a_conversation_in_which_the_assistant_says_nothing_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/score", content=body(trace=CONVERSATION[:2]), headers=JSON)
    assert answer.status_code == 422
    assert "no text of an assistant" in answer.text


def test_a_message_of_an_unknown_role_is_refused(client: TestClient) -> None:
    answer = client.post("/v1/score", content=body(trace=[{"role": "oracle", "content": "4"}]), headers=JSON)
    assert answer.status_code == 422
    assert "role" in answer.text
