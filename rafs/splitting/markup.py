"""What must never be cut open in a trace: code, maths, links, calculator notes; and its `<think>` parts."""

import re
from collections.abc import Iterator

_OPENERS = re.compile(r"```|~~~|`|\$\$|\$(?<!\\\$)|\\\[|\\\(|\\begin\{[A-Za-z]{1,20}\*?\}|<<|http://|https://")
"""Each alternative begins with its own sign, without a group, for Python then skips to such signs (4 times as fast)."""
_ON_ONE_LINE = ("`", "\\(", "<<")
_CLOSERS = {"\\[": "\\]", "\\(": "\\)", "<<": ">>"}
_LINK = re.compile(r"[^\s<>\"]*[^\s<>\".,;:!?)\]]")
_CURRENCY_PROSE = re.compile(r"\s*\d.*(?:[.!?;]\s|[A-Za-z]{2,}\s+[A-Za-z]{2,})", re.DOTALL)
_MAX_PRICE_PROSE = 300  # characters behind a dollar that are read to tell two prices from maths
_THINK_TAG = re.compile(r"<\s{0,3}(/?)\s{0,3}(?:think|thinking|reasoning)\s{0,3}>", re.IGNORECASE)


def atomic_spans(text: str) -> list[tuple[int, int]]:
    """Return sorted, disjoint [start, end) ranges of fenced and inline code, maths, environments and links.

    Linear time: a closer that was not found once is not searched for again. A `$` pair is maths by pandoc's
    rule (no space inside the dollars, no digit behind the second) unless it reads like two prices.
    """
    spans: list[tuple[int, int]] = []
    missing: set[str] = set()
    cursor, line_end = 0, -1
    for opener in _OPENERS.finditer(text):
        start = opener.start()
        if start < cursor:
            continue
        if start > line_end:
            found = text.find("\n", start)
            line_end = len(text) if found < 0 else found
        end = _closing(text, opener, line_end, missing)
        if end is not None:
            spans.append((start, end))
            cursor = end
    return spans


def _closing(text: str, opener: re.Match[str], line_end: int, missing: set[str]) -> int | None:
    """Return where the construct opened by `opener` ends, or None where nothing closes it."""
    mark = opener.group()
    if mark.startswith("http"):
        link = _LINK.match(text, opener.end())
        return link.end() if link else None
    if mark == "$":
        return _dollar_end(text, opener.start(), line_end)
    closer = _CLOSERS.get(mark) or mark.replace("\\begin", "\\end")
    if closer in missing:
        return None
    end = text.find(closer, opener.end())
    if end < 0:
        missing.add(closer)
        return None
    if mark in _ON_ONE_LINE and end > line_end:
        return None
    return end + len(closer)


def _dollar_end(text: str, start: int, line_end: int) -> int | None:
    """Return the end of `$...$` opened at `start`, or None where the dollar is a currency sign."""
    close = text.find("$", start + 1, line_end)
    if close <= start + 1 or text[start + 1].isspace() or text[close - 1].isspace() or text[close - 1] == "\\":
        return None
    if text[close + 1 : close + 2].isdigit() or _CURRENCY_PROSE.match(
        text, start + 1, min(close, start + _MAX_PRICE_PROSE)
    ):
        return None
    return close + 1


def thinking_spans(text: str) -> tuple[list[tuple[int, int]], int | None]:
    """Find the reasoning tags of a text.

    Returns:
        The [start, end) ranges of the tags themselves, and where the visible reply begins: after the last
        closing tag, 0 without tags, None where a reasoning part is never closed (there is no reply).
    """
    tags = list(_THINK_TAG.finditer(text))
    if not tags:
        return [], 0
    reply = tags[-1].end() if tags[-1].group(1) else None
    return [tag.span() for tag in tags], reply


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def brace_pairs(text: str, start: int = 0) -> dict[int, int]:
    """Map the offset of every `{` from `start` on to that of its `}`, in one pass; escaped braces do not count."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for brace in _braces(text, start):
        if text[brace] == "{":
            stack.append(brace)
        elif stack:
            pairs[stack.pop()] = brace
    return pairs


def _braces(text: str, start: int) -> Iterator[int]:
    for token in _BRACE.finditer(text, start):
        if len(token.group()) == 1:
            yield token.start()
