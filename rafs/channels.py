"""The channels a model's reasoning comes in, turned into one text with a `<think>` part."""

from collections.abc import Mapping, Sequence

Block = Mapping[str, object]
"""One content block of a message: `type` names it, the text stands under the key of the same name."""

_REASONING_KEYS = ("thinking", "reasoning", "reasoning_content")
_REPLY_KEYS = ("text", "output_text", "content")


def read_message(content: str | Sequence[Block] | None, reasoning_content: str | None = None) -> str:
    """Return the whole of a message as one text: `<think>`reasoning`</think>` and then the reply.

    Blocks of type `thinking` or `reasoning` are reasoning, blocks of type `text` are the reply, others (images,
    tool calls, redacted reasoning) are left out. Without reasoning the reply comes back as it is.

    Args:
        content: The message's content.
        reasoning_content: Reasoning that the server sent in a field of its own.
    """
    blocks: Sequence[Block] = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    thoughts = [reasoning_content or "", *(_text_under(block, _REASONING_KEYS) for block in blocks)]
    reply = "\n".join(text for block in blocks if (text := _text_under(block, _REPLY_KEYS)))
    reasoning = "\n".join(text for text in thoughts if text.strip())
    return f"<think>\n{reasoning}\n</think>\n{reply}" if reasoning else reply


def _text_under(block: Block, keys: Sequence[str]) -> str:
    """Return a block's text when its type is one of `keys`, else nothing."""
    if block.get("type") not in keys:
        return ""
    found = next((block[key] for key in (*keys, "text") if isinstance(block.get(key), str)), "")
    return found if isinstance(found, str) else ""
