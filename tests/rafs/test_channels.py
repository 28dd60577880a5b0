"""Messages with reasoning channels become one text."""

from rafs.channels import read_message
from rafs.steps import read_trace


def test_plain_content_comes_back_as_it_is() -> None:
    assert read_message("2 + 2 = 4. The answer is 4.") == "2 + 2 = 4. The answer is 4."


def test_reasoning_content_becomes_a_thinking_part() -> None:
    assert read_message("The answer is 4.", "2 + 2 = 4") == "<think>\n2 + 2 = 4\n</think>\nThe answer is 4."


def test_thinking_and_text_blocks_are_told_apart() -> None:
    blocks = [
        {"type": "thinking", "thinking": "2 + 2 = 4"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "reasoning", "text": "so 4"},
        {"type": "text", "text": "The answer is 4."},
    ]
    assert read_message(blocks) == "<think>\n2 + 2 = 4\nso 4\n</think>\nThe answer is 4."


def test_a_message_without_text_is_empty() -> None:
    assert read_message(None) == ""
    assert read_message([{"type": "image_url", "image_url": {}}]) == ""


def test_the_answer_is_read_from_the_reply_alone() -> None:
    trace = read_trace("p", read_message("The answer is 4.", "Perhaps \\boxed{5}."))
    assert trace.answer is not None
    assert (trace.answer.text, trace.answer.ambiguous) == ("4", False)
