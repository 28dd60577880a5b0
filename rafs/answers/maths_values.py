"""The value that a span in maths mode states, or several spans that are listed."""

import re
from collections.abc import Sequence

from rafs.answers.value_shapes import StatedValue

_MATHS_GAP = re.compile(r"\s?(?:,|,?\s(?:and|or))\s?")
_LISTED = re.compile(r"\s?[.!]?\s{0,4}(?:\Z|\n|(?<=[.!]\s)[A-Z])")
MAX_LISTED = 10
"""Spans in maths mode that are read as one list."""


def maths_value(text: str, maths: Sequence[tuple[int, int]]) -> StatedValue | None:
    """Read what the first of some neighbouring spans in maths mode states, and those that go on from it.

    Args:
        text: The text.
        maths: The span, and some behind it, at most `MAX_LISTED`.
    """
    return _maths_list(text, maths) or _maths_value(text, *maths[0])


def _maths_list(text: str, maths: Sequence[tuple[int, int]]) -> StatedValue | None:
    """Read several spans that end a sentence as one list: `$2$ and $3$`; None where they are not alone in it."""
    parts = [maths[0]]
    for span in maths[1:]:
        if not _MATHS_GAP.fullmatch(text, parts[-1][1], span[0]):
            break
        parts.append(span)
    signs = [1 + (text[start : start + 2] in ("$$", "\\(", "\\[")) for start, _ in parts]
    values = [text[start + sign : end - sign].strip(" .,") for sign, (start, end) in zip(signs, parts, strict=True)]
    if len(parts) == 1 or not _LISTED.match(text, parts[-1][1]) or any("boxed" in value for value in values):
        return None
    return StatedValue(start=parts[0][0], end=parts[-1][1], text=", ".join(values), numeric=True)


def _maths_value(text: str, start: int, end: int) -> StatedValue | None:
    """Read `$...$` and its like: what stands behind the last `=` of it, or all of it."""
    width = 2 if text.startswith(("$$", "\\(", "\\["), start) else 1
    if text.startswith("\\begin", start):
        return StatedValue(start=start, end=end, text=text[start:end], numeric=True)
    inner = text[start + width : end - width]
    if not inner.strip() or "\\boxed" in inner or "\\fbox" in inner:
        return None
    equals = inner.rfind("=")
    if equals < 0 or inner[equals - 1 : equals] in "<>!\\" or not inner[equals + 1 :].strip(" .,\n"):
        return StatedValue(start=start, end=end, text=inner.strip().rstrip(".,"), numeric=True)
    result = inner[equals + 1 :]
    begin = start + width + equals + 1 + len(result) - len(result.lstrip())
    return StatedValue(
        start=begin,
        end=end - width - len(result) + len(result.rstrip()),
        text=result.strip(" .,\n"),
        numeric=True,
    )
