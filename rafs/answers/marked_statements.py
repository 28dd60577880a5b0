"""Finding where a text marks its final answer: boxes, `####` lines, labels, phrases, JSON, tags, picked options."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rafs.answers.markers import (
    BETWEEN_BOXES,
    BOX,
    BOX_GAP,
    CORRECTION,
    FOREIGN,
    FOREIGN_CHOICE,
    HASH,
    HASH_HEADING,
    HEADED,
    JSON,
    LABEL,
    PHRASE,
    PICKED,
    QUOTED,
    ROW,
    SHORT_LABEL,
    SUPPOSED,
    TAGGED,
)
from rafs.answers.stated_values import is_maths, number_spans, read_value
from rafs.answers.value_shapes import MATHS_WORD, StatedValue
from rafs.splitting.markup import atomic_spans, brace_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One place where the final answer is stated."""

    start: int
    end: int
    """[start, end): the characters a verifier must not see; the whole of a box, the value alone otherwise."""
    text: str
    """The answer alone."""
    source: str
    """As `Answer.source`, without `field`."""
    quoted: bool = False
    """Stands in quotation marks or in a comment, so that it may be somebody else's."""


_SHORT_ANSWER = re.compile(r"\(?[A-Za-z]\)?|[a-z]{2,9}")
"""An option letter or a single word, such as `seven`."""
_CALCULATION = re.compile(r"\d\s?=|=\s?[$€£]?\d")
_CALCULATED = re.compile(
    r"(?=[^=]*\d)(?:[^=<>A-Za-z\\]|\\(?:times|cdot|div|[dt]?frac)(?![a-z])|\\text\{[^{}=]{0,30}\}|\\[$%,!;: ]){1,80}="
    r"\s?(?P<result>(?:[-−]\s?)?(?:\\?\$)?\d[\d,.]{0,20}(?:/\d{1,12})?(?:\s?\\?%|\s?\\text\{[^{}=]{0,30}\}(?:\^\d)?)?)"
)
"""A calculation in numbers alone, and what it comes to."""
_UNCLOSED_END = re.compile(r"[\n$]|\.(?:\s|$)|\\[)\]]")
_BLANK = re.compile(r"(?:[\s{}~_.?…]|\\(?:text|quad|qquad|ldots|dots|square|phantom\{[^{}]*\}|[ ,;!]|$))*")
"""What a box holds that is still to be filled in."""
_SUPPOSED_REACH = 80
_QUOTE_REACH = 20
"""Characters before a mark in which its opening quotation mark stands."""
_MARKS = ((LABEL, "label"), (HEADED, "label"), (ROW, "label"), (SHORT_LABEL, "label"), (PHRASE, "phrase"))


def find_statements(text: str, *, english: bool = False) -> list[Statement]:
    r"""Return every marked statement of an answer in order, disjoint; linear in the text.

    Marked means boxed, behind `####`, behind a label (`Answer:`, `A:` in the last line), in a phrase (`the answer is`),
    in a JSON field or tag of that name, or an option picked in so many words. Where two forms overlap (`the answer is
    \boxed{4}`) the box counts. Behind a label of another language a comma is a decimal point, unless the text is in
    `english` notation already.
    """
    maths = atomic_spans(text)
    found = _boxes(text) + _hashes(text) + list(_fields(text)) + list(_picked(text))
    for pattern, source in _MARKS:
        reached = 0
        for marker in pattern.finditer(text):
            value = None
            if marker.start() >= reached:
                value = read_value(text, marker.end(), label=source == "label", maths=maths)
            if value is None or (source == "label" and _opens_a_solution(text, marker.end(), value)):
                continue
            if source == "phrase" and _is_supposed(text, marker.start()):
                continue
            stated = value.text if english or not FOREIGN.search(marker.group()) else _decimal_point(value.text)
            quoted = QUOTED.search(text, max(0, marker.start() - _QUOTE_REACH), marker.start()) is not None
            found.append(Statement(start=value.start, end=value.end, text=stated, source=source, quoted=quoted))
            reached = value.end
    return _disjoint(found + list(_corrections(text, found, maths)))


def _is_supposed(text: str, start: int) -> bool:
    return SUPPOSED.search(text, max(0, start - _SUPPOSED_REACH), start) is not None


def _opens_a_solution(text: str, begin: int, value: StatedValue) -> bool:
    """Say whether a label heads a whole solution: a worded calculation, with others behind it."""
    before = text[begin : value.start]
    worded = MATHS_WORD.search(before) is not None and _CALCULATION.search(text, begin, value.end) is not None
    return worded and _CALCULATION.search(text, value.end) is not None


def _fields(text: str) -> Iterator[Statement]:
    """Yield the answers in JSON fields and in `<answer>` tags."""
    for field in JSON.finditer(text) if '"' in text or "'" in text else ():
        name = "text" if field["text"] is not None else "bare"
        if field[name].strip():
            yield Statement(start=field.start(name), end=field.end(name), text=field[name].strip(), source="label")
    for tag in TAGGED.finditer(text) if "<" in text else ():
        inner = tag["text"].strip()
        if inner and not BOX.search(inner):
            yield Statement(start=tag.start("text"), end=tag.end("text"), text=inner, source="label")


def _picked(text: str) -> Iterator[Statement]:
    """Yield the options that are chosen in so many words."""
    for picked in (*PICKED.finditer(text), *FOREIGN_CHOICE.finditer(text)):
        if _is_supposed(text, picked.start()):
            continue
        name = picked.lastgroup or "a"
        yield Statement(start=picked.start(name), end=picked.end(name), text=picked[name], source="phrase")


def _corrections(text: str, found: Sequence[Statement], maths: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    """Yield what takes an earlier statement back: `No wait, it should be 8`."""
    first = min((one.end for one in found), default=len(text))
    for mark in CORRECTION.finditer(text, first):
        value = read_value(text, mark.end(), label=False, maths=maths, same_line=True)
        if value is not None:
            yield Statement(start=value.start, end=value.end, text=value.text, source="phrase")


def _boxes(text: str) -> list[Statement]:
    """Return the boxes with something in them; an unclosed box states the mathematics that it begins with, if any."""
    first = BOX.search(text)
    pairs = brace_pairs(text, first.start()) if first is not None else {}
    boxes: list[Statement] = []
    for box in BOX.finditer(text):
        if boxes and box.start() < boxes[-1].end:
            continue
        close = pairs.get(box.end())
        if close is not None:
            inner, end = text[box.end() + 1 : close].strip(), close + 1
        else:
            inner, end = _unclosed(text, box.end() + (text[box.end() : box.end() + 1] == "{"))
        if calculated := _CALCULATED.fullmatch(inner):
            inner = calculated["result"]
        if not _BLANK.fullmatch(inner):
            boxes.append(Statement(start=box.start(), end=end, text=inner, source="boxed"))
    return _joined(text, boxes)


def _unclosed(text: str, opened: int) -> tuple[str, int]:
    """Return what an unclosed box states, and where that ends: all of its line where that is maths, else a number."""
    if BOX.match(text, opened):
        return "", opened
    stop = _UNCLOSED_END.search(text, opened, opened + 100)
    end = stop.start() if stop else min(len(text), opened + 100)
    inner = text[opened:end].rstrip()
    if inner.startswith(("(", "[", "\\")) and is_maths(inner):
        return inner, opened + len(inner)
    value = next(number_spans(text, opened, opened + 1, reach=60), None)
    return (text[value[0] : value[1]], value[1]) if value is not None else ("", opened)


def _joined(text: str, boxes: list[Statement]) -> list[Statement]:
    r"""Give neighbouring boxes (`\boxed{2}$ and $\boxed{3}`) one common answer text, `2, 3`."""
    joined: list[Statement] = []
    run: list[Statement] = []
    for box in [*boxes, None]:
        gap = text[run[-1].end : box.start] if run and box else ""
        near = box is not None and len(gap) <= BOX_GAP and "\n" not in gap and BETWEEN_BOXES.fullmatch(gap)
        if run and not near:
            parts = list(dict.fromkeys(part.text for part in run))
            joined += [Statement(start=b.start, end=b.end, text=", ".join(parts), source="boxed") for b in run]
            run = []
        if box is not None:
            run.append(box)
    return joined


def _hashes(text: str) -> list[Statement]:
    """Return the `####` statements; a heading of the fourth level is not one."""
    found = []
    last_line = len(text.rstrip())
    for mark in HASH.finditer(text):
        line_end = min((at for at in (text.find("\n", mark.end()), len(text)) if at >= 0), default=len(text))
        if HASH_HEADING.match(text, mark.end(), line_end):
            continue
        value = read_value(text, mark.end(), label=True, maths=[], same_line=bool(text[mark.end() : line_end].strip()))
        if value is None or not (value.numeric or _SHORT_ANSWER.fullmatch(value.text) or line_end >= last_line):
            continue
        found.append(Statement(start=value.start, end=value.end, text=value.text, source="hash"))
    return found


def _decimal_point(value: str) -> str:
    """Write the decimal comma of a German, French, ... statement as a point."""
    return re.sub(r"(?<=\d),(?=\d)", ".", re.sub(r"(?<=\d)[.](?=\d{3}(?!\d))", "", value))


def _disjoint(found: list[Statement]) -> list[Statement]:
    """Keep the widest of overlapping statements, in order; on equal ends the box or hash, which came first."""
    kept: list[Statement] = []
    for statement in sorted(found, key=lambda one: (one.start, -one.end)):
        if kept and statement.start < kept[-1].end:
            continue
        kept.append(statement)
    return kept
