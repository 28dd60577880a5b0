"""Finding where a text states its final answer: boxes, `####` lines, labels, phrases, closing conclusions."""

import re
from dataclasses import dataclass

from rafs.splitting.markup import atomic_spans, brace_pairs, thinking_spans
from rafs.grammar.notation import read_notation
from rafs.splitting.segments import STEP_MARK, split_spans
from rafs.answers.stated_values import comes_to, is_operand, is_stated, number_spans, read_value


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


_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,3}")
_BETWEEN_BOXES = re.compile(
    r"[\s$,;]*(?:\\[()]|\\text\{\s*(?:and|or)\s*\}|and|or|\\quad|\\,)?[\s$,;]*(?:\\[()])?[\s$]*"
)
_BOX_GAP = 30  # two boxes further apart than this are two statements, not the parts of one answer
_HASH = re.compile(r"(?:^|(?<=[\s>]))####(?!#)[ \t]{0,20}", re.MULTILINE)
_SHORT_ANSWER = re.compile(r"\(?[A-Za-z]\)?|[a-z]{2,9}")
"""An option letter or a single word, such as `seven`."""
_HASH_HEADING = re.compile(r"(?:step|part|case|\d{1,2}[.)]\s+[A-Z])", re.IGNORECASE)
_LABEL = re.compile(
    r"(?<![\w'-])(?P<label>(?:(?:final|correct|my|the|our)\s{1,3}){0,3}(?:answer|ans)(?:\(s\)|s)?"
    r"|(?:endg\w{1,10}\s{1,3})?antwort|réponse(?:\s{1,3}finale)?|respuesta(?:\s{1,3}final)?|risposta|resposta|ответ"
    r"|solution(?=:\s?(?:choice|option)\b|:\s?(?:choice|option)_)|(?:最终)?答案)(?:\s?[*_]{1,3})?\s?(?:[:：](?!:)|=(?!=))",
    re.IGNORECASE,
)
_HEADED = re.compile(
    r"^[\s#*_>-]{0,12}(?:the\s)?(?:final answer|answer)[*_]{0,3}"
    r"(?:\s{1,2}[-–—]\s|[ \t]{0,8}[*_]{0,3}[ \t]{0,8}(?=[\r\n]))",
    re.IGNORECASE | re.MULTILINE,
)
_SHORT_LABEL = re.compile(
    r"^[ \t]{0,8}[*_]{0,3}A[*_]{0,3}:[*_]{0,3}[ \t]{0,8}(?=[^\r\n]{1,60}\s{0,20}\Z)", re.MULTILINE
)
_PHRASE = re.compile(
    r"(?<![\w'-])(?:(?:answer|(?:correct|right|best)\s(?:choice|option))(?:\s{1,3}to\s(?:the|this)\s(?:whole\s|original\s)?(?:question|problem))?\s{1,3}"
    r"(?:is|are|would\sbe|will\sbe|must\sbe|should\sbe|equals|comes\s(?:out\s)?to)(?!n't|\w)"
    r"|(?P<foreign>(?:antwort\s(?:ist|lautet)|réponse\sest|respuesta\ses|risposta\sè|resposta\sé)\b)"
    r"|答案是|答案为|答案為|答えは)",
    re.IGNORECASE,
)
_FOREIGN = re.compile(r"antwort|réponse|respuesta|risposta|resposta|ответ", re.IGNORECASE)
_CLOSING_SENTENCES = 3  # an unmarked answer may be followed by a remark or two (`I hope this helps.`)
_EQUALS = re.compile(r"(?P<name>(?<![\w\\])[A-Za-z]\s?)?(?<![<>!])=")
CONCLUSION_WORDS = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|in total|altogether|in conclusion|finally|accordingly|as a result"
    r"|also|donc|por lo tanto|daher)\b|因此|所以",
    re.IGNORECASE,
)
"""Words that announce a closing conclusion; `also` is the German word."""


def find_statements(text: str, *, english: bool = False) -> list[Statement]:
    r"""Return every marked statement of an answer in order, disjoint; linear in the text.

    Marked means boxed, behind `####`, behind a label (`Answer:`, `A:` in the last line) or in a phrase
    (`the answer is`). Where two forms overlap (`the answer is \boxed{4}`) the box counts. Behind a label of another
    language a comma is a decimal point, unless the text is in `english` notation already.
    """
    boxes = _boxes(text)
    found = boxes + _hashes(text)
    maths = atomic_spans(text)
    for pattern, source in ((_LABEL, "label"), (_HEADED, "label"), (_SHORT_LABEL, "label"), (_PHRASE, "phrase")):
        reached = 0
        for marker in pattern.finditer(text):
            value = None
            if marker.start() >= reached:
                value = read_value(text, marker.end(), label=source == "label", maths=maths)
            if value is not None:
                stated = value.text if english or not _FOREIGN.search(marker.group()) else _decimal_point(value.text)
                found.append(Statement(start=value.start, end=value.end, text=stated, source=source))
                reached = value.end
    return _disjoint(found)


def _boxes(text: str) -> list[Statement]:
    """Return the boxes with something in them; an unclosed box states the number it begins with, if any."""
    pairs = brace_pairs(text) if "\\boxed" in text or "box" in text else {}
    boxes: list[Statement] = []
    for box in _BOX.finditer(text):
        if boxes and box.start() < boxes[-1].end:
            continue
        close = pairs.get(box.end())
        if close is not None:
            inner, end = text[box.end() + 1 : close].strip(), close + 1
        else:
            opened = box.end() + (text[box.end() : box.end() + 1] == "{")
            value = next(number_spans(text, opened, opened + 1, reach=60), None)
            if value is None:
                continue
            inner, end = text[value[0] : value[1]], value[1]
        if inner:
            boxes.append(Statement(start=box.start(), end=end, text=inner, source="boxed"))
    return _joined(text, boxes)


def _joined(text: str, boxes: list[Statement]) -> list[Statement]:
    r"""Give neighbouring boxes (`\boxed{2}$ and $\boxed{3}`) one common answer text, `2, 3`."""
    joined: list[Statement] = []
    run: list[Statement] = []
    for box in [*boxes, None]:
        gap = text[run[-1].end : box.start] if run and box else ""
        near = box is not None and len(gap) <= _BOX_GAP and "\n" not in gap and _BETWEEN_BOXES.fullmatch(gap)
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
    for mark in _HASH.finditer(text):
        line_end = min((at for at in (text.find("\n", mark.end()), len(text)) if at >= 0), default=len(text))
        if _HASH_HEADING.match(text, mark.end(), line_end):
            continue
        value = read_value(text, mark.end(), label=True, maths=[], same_line=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """All that a text says of its answer."""

    final: tuple[Statement, ...]
    """Statements in the visible reply, in order; one guessed statement where none is marked."""
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
    for start, end in tags:  # a tag ends the line for what stands beside it
        text = text[:start] + "\n" * (end - start) + text[end:]
    marked = find_statements(text, english=notation.decimal_comma)
    if reply is None:
        return Statements(final=(), hidden=tuple(marked), tags=tuple(tags))
    final = [one for one in marked if one.start >= reply]
    if not final and (closing := _closing_statement(text, reply)):
        final, marked = [closing], [*marked, closing]
    return Statements(final=tuple(final), hidden=tuple(marked), tags=tuple(tags))


def _closing_statement(text: str, reply: int) -> Statement | None:
    """Read the answer out of the last sentence with a number, among the last few of the reply.

    An operand (`6 * 7 is easy to find`) is no answer; only a conclusion before it is then.
    """
    passed = False
    for start, end in reversed(split_spans(text[reply:])[-_CLOSING_SENTENCES:]):
        found = _sentence_statement(text, reply + start, reply + end)
        if found and is_operand(text, found.start, found.end):
            passed = True
        elif found and (not passed or found.source == "conclusion"):
            return found
    return None


def _sentence_statement(text: str, begin: int, end: int) -> Statement | None:
    """Read the answer out of the unmarked sentence text[begin:end].

    A conclusion (`Therefore, ... 12 km.`: a conclusion word, one number, no equation) has source `conclusion`;
    anything else `last_number`, which is named after its last resort.
    """
    mark = STEP_MARK.match(text, begin, end)
    begin = mark.end() if mark else begin
    numbers = list(number_spans(text, begin, end))
    if not numbers:
        return None
    concluded = CONCLUSION_WORDS.search(text, begin, end)
    equations = [(sign.end(), sign["name"] is None) for sign in _EQUALS.finditer(text, begin, end)]
    start, stop = _result(text, begin, numbers, equations, concluded.end() if concluded else None)
    if text[start] == "$" and (start - begin) in {atom for atom, _ in atomic_spans(text[begin:end])}:
        start += 1
    source = "conclusion" if concluded and len(numbers) == 1 and not equations else "last_number"
    return Statement(start=start, end=stop, text=text[start:stop], source=source)


def _result(
    text: str,
    begin: int,
    numbers: list[tuple[int, int]],
    equations: list[tuple[int, bool]],
    concluded: int | None,
) -> tuple[int, int]:
    """Choose the number a sentence comes to, by its place in the wording and never by its value.

    The last one behind `is`, unless a calculation (`3 * 4 = ...`, not `n = ...`) ends later; else the first behind
    the last `=`; else, in a conclusion, the first behind another verb (`needs 7 boxes for 4 weeks`) or the first;
    else the last.
    """
    calculated = max((at for at, calculation in equations if calculation), default=-1)
    stated = [span for span in numbers if span[0] >= calculated and is_stated(text, begin, *span)]
    if stated:
        return stated[-1]
    last = calculated if calculated >= 0 else equations[-1][0] if equations else len(text)
    behind = [span for span in numbers if span[0] >= last]
    if behind or concluded is None:
        return behind[0] if behind else numbers[-1]
    behind = [span for span in numbers if span[0] >= concluded] or numbers
    return next((span for span in behind if comes_to(text, begin, span[0])), behind[0])
