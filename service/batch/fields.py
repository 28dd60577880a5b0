"""Finding a value in a row by its path, through text that holds JSON, as exports write columns."""

from collections.abc import Mapping

from pydantic_core import from_json

MAX_PATH_PARTS = 16


def unfold(value: object) -> object:
    """Return what a text holds where it is a JSON object or list; anything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return from_json(value, allow_inf_nan=False)
        except ValueError:
            return value
    return value


def find(fields: object, path: str) -> object:
    """Return the value at a dotted path such as `response.choices.0.message`; None where there is none.

    Args:
        fields: The row; a text on the way that holds JSON is read.
        path: Keys and 0-based places in lists; a key with dots in it is found before its parts are.
    """
    value, left = fields, path
    for _ in range(MAX_PATH_PARTS):
        if not left:
            return value
        value = unfold(value)
        if isinstance(value, Mapping) and left in value:
            return value[left]
        part, _, left = left.partition(".")
        match value:
            case Mapping() if part in value:
                value = value[part]
            case list() if part.isdecimal() and len(part) <= 9 and int(part) < len(value):
                value = value[int(part)]
            case _:
                return None
    return None
