"""What of a conversation is the problem, and what of an answer the trace."""

import pytest

from service.gate.chat import ChatMessage
from service.gate.scorable import Asked, NotScorable, read_problem, to_request

ASKED = Asked(problem="What is 2 + 2?", notes=())


def message(role: str, content: object) -> ChatMessage:
    return ChatMessage.model_validate({"role": role, "content": content})


def test_the_problem_is_what_user_and_tools_said_in_order() -> None:
    asked = read_problem(
        [
            message("user", "How warm is it?"),
            message("assistant", None),
            message("tool", "It is 20 degrees."),
            message("user", [{"type": "text", "text": "And twice that?"}, {"type": "input_text", "text": "In words."}]),
        ]
    )
    assert isinstance(asked, Asked)
    assert asked.problem == "How warm is it?\n\nIt is 20 degrees.\n\nAnd twice that?\n\nIn words."
    assert asked.notes == ("earlier_answers_left_out",)


@pytest.mark.parametrize(
    "content", [["text"], [{"type": "text"}], [{"type": "text", "text": 1}], [{"type": "file", "text": "x"}]], ids=str
)
def test_a_part_that_is_no_text_leaves_nothing_to_score(content: list[object]) -> None:
    assert read_problem([message("user", content)]) == NotScorable(why="prompt_is_not_all_text")


def test_a_picture_that_the_operator_sent_does_not_matter() -> None:
    picture = message("system", [{"type": "image_url", "image_url": {"url": "x"}}])
    assert isinstance(read_problem([picture, message("user", "How many?")]), Asked)


@pytest.mark.parametrize("content", [None, "", "   ", []], ids=str)
def test_a_question_without_text_is_none(content: object) -> None:
    assert read_problem([message("user", content)]) == NotScorable(why="no_question")


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ([], "several_choices"),
        ([{"message": "text"}], "no_message"),
        ([{"message": {"content": None}}], "no_text"),
        ([{"message": {"content": 7}}], "unusable_text"),
        ([{"message": {"content": "x", "function_call": {"name": "f"}}}], "function_call"),
        ([{"message": {"content": None, "audio": {"id": "a"}}}], "audio"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_that_is_no_text_is_not_scored(choices: list[dict[str, object]], why: str) -> None:
    assert to_request(ASKED, choices, "gpt-4o") == NotScorable(why=why)
