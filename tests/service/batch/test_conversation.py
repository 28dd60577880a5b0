from typing import Any

import pytest

from rafs.errors import InputError
from rafs.request import ScoreRequest
from service.batch.conversation import Exchange, read_exchange, read_problem, read_reply

USER = {"role": "user", "content": "What is 2 + 2?"}
REPLY = {"role": "assistant", "content": "2 + 2 = 4"}


def read(asked: object, replied: object = None) -> Exchange:
    return read_exchange(asked, replied, asked_in="messages", replied_in="response")


def text_of(exchange: Exchange) -> str | tuple[str, ...]:
    return ScoreRequest.model_validate({"problem": exchange.problem, "trace": exchange.trace}).trace_text()


def test_the_text_of_a_lone_user_is_the_problem_as_it_is() -> None:
    assert read([USER], REPLY).problem == "What is 2 + 2?"


def test_a_conversation_is_the_problem_with_the_role_before_each_turn() -> None:
    system = {"role": "system", "content": "Be brief."}
    asked = [system, USER, REPLY, {"role": "user", "content": "And 3 + 3?"}]
    expected = "system: Be brief.\n\nuser: What is 2 + 2?\n\nassistant: 2 + 2 = 4\n\nuser: And 3 + 3?"
    assert read(asked, "6").problem == expected


def test_messages_that_end_in_the_reply_hold_both() -> None:
    exchange = read([USER, REPLY])
    assert (exchange.problem, exchange.trace) == ("What is 2 + 2?", "2 + 2 = 4")


def test_calls_between_question_and_reply_are_part_of_the_trace() -> None:
    call = {"role": "assistant", "content": "I compute 2 + 2.", "tool_calls": [{"id": "1"}]}
    exchange = read([USER, call, {"role": "tool", "content": "4", "tool_call_id": "1"}], REPLY)
    assert text_of(exchange) == "I compute 2 + 2.\n\n2 + 2 = 4"


@pytest.mark.parametrize(
    "replied",
    [
        pytest.param("2 + 2 = 4", id="text"),
        pytest.param(REPLY, id="a message"),
        pytest.param([REPLY], id="messages"),
        pytest.param({"message": REPLY}, id="an object with a message"),
        pytest.param({"choices": [{"index": 0, "message": REPLY, "finish_reason": "stop"}]}, id="a chat completion"),
        pytest.param({"choices": [{"text": "2 + 2 = 4"}]}, id="a completion"),
        pytest.param([{"message": REPLY}], id="choices alone"),
        pytest.param({"output": [{"type": "message", **REPLY}]}, id="a response"),
        pytest.param({"content": [{"type": "text", "text": "2 + 2 = 4"}]}, id="content blocks"),
        pytest.param({"completion": "2 + 2 = 4"}, id="an object with a completion"),
        pytest.param('{"role": "assistant", "content": "2 + 2 = 4"}', id="a message as text"),
        pytest.param({"role": "ai", "content": "2 + 2 = 4"}, id="another name of the role"),
    ],
)
def test_a_reply_is_read_in_every_shape(replied: object) -> None:
    assert text_of(read([USER], replied)) == "2 + 2 = 4"


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("What is 2 + 2?", id="text"),
        pytest.param({"messages": [USER]}, id="an object with messages"),
        pytest.param({"input": "What is 2 + 2?"}, id="an object with an input"),
        pytest.param({"prompt": "What is 2 + 2?"}, id="an object with a prompt"),
        pytest.param('[{"role": "user", "content": "What is 2 + 2?"}]', id="messages as text"),
        pytest.param([{"role": "user", "content": [{"type": "input_text", "text": "What is 2 + 2?"}]}], id="parts"),
        pytest.param([{"role": "human", "content": "What is 2 + 2?"}], id="another name of the role"),
    ],
)
def test_a_question_is_read_in_every_shape(asked: object) -> None:
    assert read(asked, "4").problem == "What is 2 + 2?"


def test_reasoning_beside_a_reply_stays_in_the_trace() -> None:
    reply = {"role": "assistant", "content": "4", "reasoning_content": "2 + 2 = 4"}
    assert text_of(read([USER], {"choices": [{"message": reply}]})) == "<think>\n2 + 2 = 4\n</think>\n4"


def test_reasoning_items_of_a_response_stay_in_the_trace() -> None:
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "2 + 2 = 4"}]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}
    assert "2 + 2 = 4" in text_of(read("What is 2 + 2?", {"output": [thought, said]}))


def test_further_choices_are_samples() -> None:
    others = [{"message": {"role": "assistant", "content": "5"}, "finish_reason": "stop"}]
    exchange = read([USER], {"choices": [{"message": REPLY}, *others]})
    request = ScoreRequest.model_validate(
        {"problem": exchange.problem, "trace": exchange.trace, "samples": list(exchange.samples)}
    )
    assert [sample.text for sample in request.sampled()] == ["5"]


@pytest.mark.parametrize(
    ("asked", "replied", "allowed"),
    [
        pytest.param([USER], None, "the reply of an assistant", id="no reply"),
        pytest.param([REPLY], None, "messages with one of a user", id="no question"),
        pytest.param([{"role": "user", "content": [{"type": "image_url"}]}], "4", "a question with text", id="images"),
        pytest.param(12, "4", "text, messages", id="a number"),
        pytest.param([USER], {"status": "failed"}, "text, a message", id="an object without text"),
    ],
)
def test_what_is_missing_is_named(asked: object, replied: object, allowed: str) -> None:
    with pytest.raises(InputError, match=allowed):
        read(asked, replied)


def test_a_list_of_texts_are_the_steps_of_a_trace() -> None:
    assert read_reply(["2 + 2 = 4", "So 4."], "steps") == (["2 + 2 = 4", "So 4."], ())


@pytest.mark.parametrize("value", [None, "", 5, [], {}])
def test_a_question_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="field `q`"):
        read_problem(value, "q")
