"""The channels a model's reasoning comes in, turned into one text with a `<think>` part."""

from collections.abc import Mapping, Sequence

Block = Mapping[str, object]
"""One content block of a message: `type` names it, the text stands under the key of the same name."""

REASONING_TYPES = ("thinking", "reasoning", "reasoning_content")
REPLY_TYPES = ("text", "output_text", "content")
ENDED = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence"})
"""Why a text may end by itself, as servers call it; any other reason is a cut."""
_OTHER_KEYS = ("text", "content", "summary")
"""Where the text of a block stands otherwise, also as a list of parts; reasoning itself before its summary."""


def read_message(content: str | Sequence[Block] | None, reasoning_content: str | None = None) -> str:
    """Return the whole of a message as one text: `<think>`reasoning`</think>` and then the reply.

    Blocks of type `thinking` or `reasoning` are reasoning, blocks of type `text` are the reply, others (images,
    tool calls, redacted reasoning) are left out. Without reasoning the reply comes back as it is.

    Args:
        content: The message's content.
        reasoning_content: Reasoning that the server sent in a field of its own.
    """
    blocks: Sequence[Block] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    thoughts = [reasoning_content or "", *(_text_under(block, REASONING_TYPES) for block in blocks)]
    reply = "\n".join(text for block in blocks if (text := _text_under(block, REPLY_TYPES)))
    reasoning = "\n".join(text for text in thoughts if text.strip())
    return f"<think>\n{reasoning}\n</think>\n{reply}" if reasoning else reply


def _text_under(block: Block, types: Sequence[str]) -> str:
    """Return a block's text when its type is one of `types`, else nothing."""
    if block.get("type") not in types:
        return ""
    return next((text for key in (*types, *_OTHER_KEYS) if (text := _joined(block.get(key)))), "")


def _joined(value: object) -> str:
    """Return a text, or the texts of a list of parts."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
