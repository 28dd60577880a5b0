"""Untrusted text made safe to show: cut short, and every character that would not be seen escaped."""

MAX_SHOWN = 80
"""Characters of a caller's text that a message repeats."""


def show_text(text: str, limit: int | None = MAX_SHOWN) -> str:
    """Return `text` on one line of at most `limit` characters, control characters and lone surrogates escaped.

    Args:
        text: Anything.
        limit: None keeps all of it.
    """
    cut = text if limit is None else text[: limit + 1]
    shown = "".join(char if char.isprintable() else _escape(char) for char in cut)
    return shown if limit is None or len(shown) <= limit else f"{shown[: limit - 1]}…"


def _escape(char: str) -> str:
    match char:
        case "\n":
            return "\\n"
        case "\t":
            return "\\t"
        case "\r":
            return "\\r"
        case _:
            code = ord(char)
            return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
