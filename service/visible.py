"""What a caller sent, made safe to show."""

from rafs.visible import MAX_SHOWN, show_text

__all__ = ["MAX_SHOWN", "show_text", "show_value"]

MAX_SHOWN_BITS = 256
"""A longer integer is not written out."""


def show_value(value: object) -> str:
    """Return what a JSON value is, for the sentence "got ..."."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            size = f" ({len(value)} characters)" if len(value) > MAX_SHOWN else ""
            return f"'{show_text(value)}'{size}" if value else "an empty text"
        case int() if value.bit_length() > MAX_SHOWN_BITS:
            return "a huge integer"
        case int() | float():
            return f"the number {value}"
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return f"an object with {len(value)} keys"
        case _:
            return f"a value of type {type(value).__name__}"
