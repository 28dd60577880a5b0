"""JSON objects in a model's reply, also those that are nearly JSON: other quotes, comments, trailing commas."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

Pairs = tuple[tuple[str, object], ...]
"""Keys and values as they stand, a key twice if it stands twice; numbers stay text, so that none is rounded."""

MAX_DEPTH = 20
_CLOSING = {'"': '"', "'": "'", "“": "”“", "”": "”", "‘": "’", "`": "`"}
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_SKIPPED = re.compile(r"(?:\s+|(?://|\#)[^\n]{0,500}|/\*.{0,500}?\*/)*+", re.DOTALL)
"""White space and comments; bounded, since it is tried behind every quote."""
_START = re.compile(r"\{(?=\s*(?:\}|//|/\*|\#|[\"'“”‘`]|\w+\s*:))")
"""A brace and what may begin a key; `\\text{No}` is none."""
_BARE = re.compile(r"[^\s{}\[\]:,\"'“”‘’]+")
_DECODER = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str, strict=False)


class _NoObjectError(ValueError):
    """The text cannot be read as an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObject:
    """An object of a reply."""

    start: int
    end: int
    pairs: Pairs | None
    """None where it is cut off or cannot be read; it then reaches to the end of the text."""


def find_objects(text: str) -> Iterator[FoundObject]:
    """Find the outermost objects of a text in order; those inside strings or other objects are not found."""
    at = 0
    while match := _START.search(text, at):
        start = match.start()
        try:
            pairs, at = _read_object(text, start)
        except _NoObjectError:
            yield FoundObject(start=start, end=len(text), pairs=None)
            return
        yield FoundObject(start=start, end=at, pairs=pairs)


def _read_object(text: str, start: int) -> tuple[Pairs, int]:
    try:
        pairs, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _lenient_object(text, start, 0)
    return pairs, end


def _lenient_object(text: str, start: int, depth: int) -> tuple[Pairs, int]:
    """Read an object that json refused; `start` is at its brace."""
    pairs: list[tuple[str, object]] = []
    at = _skip(text, start + 1)
    while _sign(text, at) != "}":
        key, at = _value(text, at, depth)
        at = _skip(text, at)
        if _sign(text, at) != ":" or not isinstance(key, str):
            raise _NoObjectError
        value, at = _value(text, _skip(text, at + 1), depth)
        pairs.append((key, value))
        at = _after_comma(text, at)
    return tuple(pairs), at + 1


def _lenient_list(text: str, start: int, depth: int) -> tuple[list[object], int]:
    values: list[object] = []
    at = _skip(text, start + 1)
    while _sign(text, at) != "]":
        value, at = _value(text, at, depth)
        values.append(value)
        at = _after_comma(text, at)
    return values, at + 1


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    """Read one value; what is neither quoted nor bracketed stays text, except true, false and null."""
    if depth > MAX_DEPTH:
        raise _NoObjectError
    sign = _sign(text, at)
    if sign == "{":
        return _lenient_object(text, at, depth + 1)
    if sign == "[":
        return _lenient_list(text, at, depth + 1)
    if sign in _CLOSING:
        return _string(text, at)
    word = _BARE.match(text, at)
    if word is None:
        raise _NoObjectError
    return _WORDS.get(word[0].lower(), word[0]), word.end()


def _string(text: str, start: int) -> tuple[str, int]:
    """Read a string; a quote inside it is one that no comma, colon or bracket follows."""
    closing = _CLOSING[text[start]]
    at = start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] in closing and _sign(text, _skip(text, at + 1)) in (",", ":", "}", "]"):
            return text[start + 1 : at], at + 1
        else:
            at += 1
    raise _NoObjectError


def _after_comma(text: str, at: int) -> int:
    """Step over a comma; what stands after a value is that or the closing bracket."""
    at = _skip(text, at)
    sign = _sign(text, at)
    if sign not in (",", "}", "]"):
        raise _NoObjectError
    return _skip(text, at + 1) if sign == "," else at


def _skip(text: str, at: int) -> int:
    """Step over white space and comments."""
    match = _SKIPPED.match(text, at)
    return at if match is None else match.end()


def _sign(text: str, at: int) -> str:
    return text[at : at + 1]
