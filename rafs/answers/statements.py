"""All that a text says of its answer: the marked statements, else what its closing sentences come to."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rafs.answers.clauses import Span, comes_to, find_asides, is_stated, outside
from rafs.answers.marked_statements import Statement, find_statements
from rafs.answers.markers import COMMENT, CONCLUSION_WORDS, NO_SOLUTION, REMARK, RETRACTION
from rafs.answers.stated_values import is_operand, number_spans
from rafs.answers.value_shapes import read_shape
from rafs.answers.whole_values import whole_value
from rafs.grammar.notation import read_notation
from rafs.splitting.markup import atomic_spans, thinking_spans
from rafs.splitting.segments import STEP_MARK, split_spans

__all__ = ["Statement", "Statements", "read_statements"]

_CLOSING_SENTENCES = 3  # an unmarked answer may be followed by a remark or two (`I hope this helps.`)
_GROUPED_NUMBER = re.compile(r"\(-?\d{1,3}(?:,\d{3})+\\?\)")
"""One number in brackets, whose commas group its digits: another answer of its kind would have none."""
_TUPLE_OPENER = re.compile(r"(?:\\left\s?)?[(\[]\s?\Z")
_TUPLE_GAP = 12
"""Characters before a number in which the bracket of its tuple opens."""
_MACRO = re.compile(r"\\text\s?\{[^{}]*\}|\\(?:[A-Za-z]{1,12}|[,;:! ])")
_MORE_THAN_A_NUMBER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])|,\s")
_RELATION = re.compile(r"\\(?:approx|[lg]eq?|neq?|equiv|implies|iff|to|sim|[Rr]ightarrow)(?![a-z])|[<>≤≥≠≈→]")
"""Makes of an expression a claim, which is no value."""
_SCALE = re.compile(r"\s(?:thousand|million|billion|trillion)\b")
_SO = re.compile(r"(?<!is)(?<!are)\s(?:so(?!\s(?:that|many|much|far|long|on)\b)|thus|hence|therefore)\b")
_EQUALS = re.compile(r"(?P<name>(?<![\w\\])[A-Za-z]\s?)?(?<![<>!])=")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """All that a text says of its answer."""

    final: tuple[Statement, ...]
    """Statements in the reply, in order, those in comments first; one guessed statement where none is marked."""
    hidden: tuple[Statement, ...]
    """Every statement that no verifier may see: the final ones, and marked ones inside `<think>`."""
    tags: tuple[tuple[int, int], ...]
    """The reasoning tags' [start, end)."""


def read_statements(text: str, problem: str = "") -> Statements:
    """Find the statements of the answer: the marked ones, else the closing sentence's number.

    The answer is looked for behind the last `</think>`; a text whose reasoning part is never closed has none. Its
    numbers are written in English notation (`7.50` for `7,50`) where the text or the problem shows another one.
    """
    notation = read_notation([problem, text])
    text = notation.in_english(text)
    tags, reply = thinking_spans(text)
    text = _without_tags(text, tags)
    marked = find_statements(text, english=notation.decimal_comma)
    if reply is None:
        return Statements(final=(), hidden=tuple(marked), tags=tuple(tags))
    final = [one for one in marked if one.start >= reply]
    comments = [comment.span() for comment in COMMENT.finditer(text, reply)] if "<!--" in text else []
    unseen = [replace(one, quoted=True) for one in final if _is_inside(one.start, comments)]
    seen = [one for one in final if not _is_inside(one.start, comments)]
    own = [one for one in seen if not one.quoted]
    visible = COMMENT.sub(lambda comment: " " * len(comment.group()), text) if comments else text
    retracted = bool(own) and RETRACTION.search(visible, own[-1].end) is not None
    if not own or retracted:
        closing = _closing_statement(visible, own[-1].end if own else reply)
        if closing and not _overlaps(closing, seen) and (not own or closing.source == "conclusion"):
            own, marked = [*own, closing], [*marked, closing]
    return Statements(final=(*unseen, *(own or seen)), hidden=tuple(marked), tags=tuple(tags))


def _without_tags(text: str, tags: Sequence[tuple[int, int]]) -> str:
    """Put line ends where tags stand: a tag ends the line for what stands beside it."""
    pieces, at = [], 0
    for start, end in tags:
        pieces += [text[at:start], "\n" * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _is_inside(at: int, spans: list[tuple[int, int]]) -> bool:
    """Say whether an offset lies in one of the sorted, disjoint [start, end)."""
    before = bisect.bisect_right(spans, at, key=lambda span: span[0])
    return before > 0 and at < spans[before - 1][1]


def _overlaps(closing: Statement, others: list[Statement]) -> bool:
    return any(one.start < closing.end and closing.start < one.end for one in others)


def _closing_statement(text: str, reply: int) -> Statement | None:
    """Read the answer out of the last sentence with a number, among the last few of the reply.

    An operand (`6 * 7 is easy to find`) is no answer; only a conclusion before it is then. A conclusion also goes
    before a later check or remark (`Check: 17 - 5 = 12`).
    """
    passed, remarked = False, None
    for start, end in reversed(split_spans(text[reply:])[-_CLOSING_SENTENCES:]):
        found = _sentence_statement(text, reply + start, reply + end)
        if found and is_operand(text, found.start, found.end):
            passed = True
        elif found and not passed and REMARK.match(text, reply + start, reply + end):
            remarked = remarked or found
        elif found and (not passed or found.source == "conclusion"):
            return found if found.source == "conclusion" or remarked is None else remarked
        elif not found and not passed and (nothing := NO_SOLUTION.search(text, reply + start, reply + end)):
            name = nothing.lastgroup or "a"
            return Statement(start=nothing.start(name), end=nothing.end(name), text=nothing[name], source="conclusion")
    return remarked


def _sentence_statement(text: str, begin: int, end: int) -> Statement | None:
    """Read the answer out of the unmarked sentence text[begin:end].

    A conclusion (`Therefore, ... 12 km.`: a conclusion word, one number, no equation) has source `conclusion`;
    anything else `last_number`, which is named after its last resort.
    """
    mark = STEP_MARK.match(text, begin, end)
    begin = mark.end() if mark else begin
    numbers = list(number_spans(text, begin, end))
    maths = [(begin + atom, begin + closed) for atom, closed in atomic_spans(text[begin:end])]
    concluded = CONCLUSION_WORDS.search(text, begin, end)
    equations = [(sign.end(), sign["name"] is None) for sign in _EQUALS.finditer(text, begin, end)]
    source = "conclusion" if concluded and len(numbers) == 1 and not equations else "last_number"
    whole = whole_value(text, begin, end, maths)
    if whole is not None and (not numbers or whole.start <= numbers[-1][0]):
        return Statement(start=whole.start, end=whole.end, text=whole.text, source=source)
    if not numbers:
        return None
    clause = max((so.end() for so in _SO.finditer(text, begin, numbers[-1][0])), default=begin)
    ending = [span for span in numbers if span[0] >= clause]
    start, stop = _result(text, clause, end, ending, equations, max(clause, concluded.end()) if concluded else None)
    start, stop = (
        _tuple_around(text, clause, start, end) or _maths_around(text, clause, start, end, maths) or (start, stop)
    )
    if text[start] == "$" and start in {atom for atom, _ in maths}:
        start += 1
    scale = _SCALE.match(text, stop)
    stop = scale.end() if scale else stop
    return Statement(start=start, end=stop, text=text[start:stop], source=source)


def _tuple_around(text: str, begin: int, number: int, end: int) -> Span | None:
    """Return the tuple that is stated as a whole, where the number is its first part: `the point is (3, 4)`."""
    opener = _TUPLE_OPENER.search(text, max(begin, number - _TUPLE_GAP), number)
    if opener is None or text[opener.start() - 1 : opener.start()] == "\\":  # `\(` opens mathematics
        return None
    shape = read_shape(text, opener.start(), end)
    if shape is None or _GROUPED_NUMBER.fullmatch(text, shape.start, shape.end):
        return None
    return (shape.start, shape.end) if shape.numeric and shape.end > number else None


def _maths_around(text: str, begin: int, number: int, end: int, maths: list[Span]) -> Span | None:
    """Return the expression or list, stated at the very end in maths mode, that the number is a part of: `$4n - 3$`."""
    last = maths[-1] if maths and not text[maths[-1][1] : end].strip(" .*\r\n") else (end, end)
    stated = last[0] <= number < last[1] and is_stated(text, begin, *last, last=True)
    if not stated or not text.startswith(("$", "\\(", "\\["), last[0]):
        return None
    width = 1 + (text[last[0] : last[0] + 2] in ("$$", "\\(", "\\["))
    inner = text[last[0] + width : last[1] - width]
    side = inner[inner.rfind("=") + 1 :]
    value = side.strip(" .,\r\n")
    start = last[1] - width - len(side) + side.find(value)
    if start > number or _RELATION.search(value) or not _MORE_THAN_A_NUMBER.search(_MACRO.sub(" ", value)):
        return None
    return start, start + len(value)


def _result(
    text: str,
    begin: int,
    end: int,
    numbers: list[Span],
    equations: list[tuple[int, bool]],
    concluded: int | None,
) -> Span:
    """Choose the number a sentence comes to, by its place in the wording and never by its value.

    What the main clause states goes before what an aside states; where neither does, the number is, in a conclusion,
    the first behind a verb (`needs 7 boxes for 4 weeks`) or the first, else the last of the main clause.
    """
    asides = find_asides(text, numbers, end)
    main = list(outside(numbers, asides))
    found = _stated(text, begin, main, list(outside(equations, asides))) if asides else None
    found = found or _stated(text, begin, numbers, equations)
    if found or concluded is None:
        return found or main[-1]
    behind = [span for span in main if span[0] >= concluded] or main
    return next((span for span in behind if comes_to(text, begin, span[0])), behind[0])


def _stated(text: str, begin: int, numbers: list[Span], equations: list[tuple[int, bool]]) -> Span | None:
    """Return the last number behind `is` or `which makes`, else the first behind the last `=`.

    The `=` goes first where it ends a calculation (`3 * 4 = ...`, not `n = ...`) and stands later.
    """
    calculated = max((at for at, calculation in equations if calculation), default=-1)
    stated = [
        span for span in numbers if span[0] >= calculated and is_stated(text, begin, *span, last=span == numbers[-1])
    ]
    if stated:
        return stated[-1]
    last = calculated if calculated >= 0 else equations[-1][0] if equations else len(text)
    return next((span for span in numbers if span[0] >= last), None)
