"""Reading the value behind an answer's marker: where it begins, where it ends, what it says."""

import bisect
import re
from collections.abc import Iterator, Sequence

from rafs.answers.answer_maths import is_product
from rafs.answers.clauses import comes_to, find_asides
from rafs.answers.maths_values import MAX_LISTED, maths_value
from rafs.answers.value_shapes import MATHS_WORD, StatedValue, read_shape
from rafs.answers.value_words import ARTICLES, NOT_A_THING, NOT_AN_ANSWER, SENTENCE_WORDS

MAX_VALUE_CHARS = 300
"""Characters looked at behind a marker; a stated answer is shorter."""


_PLAIN = (
    r"(?:\d{1,3}(?:(?:,(?:\\!)?|\{,\})\d{3})+(?!\d)|\d{1,3}(?:[ '’\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
)
_LATEX = (
    r"\\[dt]?frac\s?(?:\{[^{}]{1,60}\}|\d)\s?(?:\{[^{}]{1,60}\}|\d)|\\sqrt\s?(?:\{[^{}]{1,60}\}|\d)|\\pi|\\infty"
    r"|[√∛]\s?(?:\d{1,12}(?:\.\d{1,12})?|\([^()]{1,40}\)|[a-z](?![a-z]))|π(?!\w)|∞"
)
_RAISED = r"⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}"
_GLUED = (
    rf"{_RAISED}|\s?[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]|[⁄∕]\d{{1,12}}|[₀-₉]{{1,3}}|\s(?:[Rr]|remainder)\s?\d{{1,12}}(?!\w)"
    rf"|\s?[×·]\s?10{_RAISED}|['’]\d{{1,2}}(?!\d)(?:[\"”″]|['’]{{2}})?"
)
"""What goes on from a numeral in plain text: a power, a vulgar fraction, a base, a remainder, inches behind feet."""
_HALF_DAY = (
    r"(?:(?:[ap]m|[AP]M)\b|(?:[ap]\.\s?m|[AP]\.\s?M)\b(?:\.(?=\s+(?:[a-z\d]|[A-Z]{3}\b|[A-Z][a-z]{2,5}day\b)))?)"
)
"""The full stop behind `p.m` is left to the sentence that it ends."""
_NUMBER = re.compile(
    rf"(?:(?<![A-Za-z\d_)\]}}%])(?:[-−+±]\s?|–|(?:negative\s)))?(?:\\?[$€£¥₹]\s?)?(?:(?<![A-Za-z\d_)\]}}%])[-−]\s?)?(?<![A-Za-z\d])(?<![^_\s]_)"
    rf"(?:{_LATEX}|(?:{_PLAIN})"
    rf"(?:\s?(?:{_LATEX})|{_GLUED}|/\d{{1,12}}(?:/\d{{1,4}})?|\s\d{{1,6}}/\d{{1,6}}(?![\d/])|(?::\d{{1,4}}){{1,3}}(?:\s?{_HALF_DAY})?|\s?{_HALF_DAY}"
    rf"|\s?(?:\\times|\\cdot|×|\*|x)\s?10\s?\^\s?\{{?[-−]?\d{{1,4}}\}}?|[eE][-+]?\d{{1,4}}(?![\w])|\^\{{?\d{{1,4}}\}}?)?"
    rf"(?:\s?\\?%|\s?\^?\s?\\circ|\s?[°€£¢‰])?)"
)
_UNIT = (
    r"(?:\s?\\(?:text|mathrm|mbox)\{[^{}]{0,40}\}(?:\^\d)?|\s(?!(?:because|since|which|who|that|so|as|and|but|or|if"
    r"|when|where|rather|instead|then|not|is|are|was|were|(?:did|do|does|had|has|have|could|would|should)(?:n['’]t)?|cannot"
    r"|all|by|to|than|from)\b)[A-Za-z²³/]{1,20}(?![A-Za-z=(]))"
)
_QUANTITY = re.compile(rf"(?:{_NUMBER.pattern}){_UNIT}{{0,4}}")
_CUT_LIST = re.compile(r"\d,\d(?!\d\d)")
_MINUS = re.compile(r"minus\s", re.IGNORECASE)
_RANGE_GAP = re.compile(
    r"\s(?::|to|±)\s(?=[-−$]?[\d.])(?!\d{1,2}\s(?:d\.?p|s\.?f|(?:decimal|significant|more|places?|digits?)\b))"
)
"""Between the parts of a ratio or the ends of a range, which are one value: `3 : 5`, `2 to 1`, `5 ± 2`."""
_ROOT = re.compile(r"(?:the\s)?(?:(?:positive|negative)\s)?(?:square|cube)\sroot\sof\s[\w.]{1,12}\Z", re.IGNORECASE)
_FORMED = re.compile(
    r"(?:the|a|an)\s(?:\w+\s)?(?:multiple|factor|divisor|power|sum|product|difference|quotient)\s(?:of|between)\b"
    r"(?!.{0,80}\b(?:is|are|equals|makes|gives|comes\sto)\b)"
    r"|(?:obtained|found|given|calculated|computed|determined)\s(?:by|from|as|using)\b",
    re.IGNORECASE,
)
"""A clause that says how its numbers form the answer, and not what they come to."""
_LIST_GAP = re.compile(r"\s?(?:[,;]\s?(?:and\s|or\s)?|\sand\s|\sor\s|\\text\{\s?(?:and|or)\s?\})\s?(?=[-−$\\\d.])")
_LEAD = re.compile(
    r"(?:[\s:：=]|(?<==)>|>(?!\s?[<>\[\](){}]|[\s.\"'”]{0,4}\Z)|(?:Rs\.?|R(?=\$))\s?(?=[\d$])"
    r"|(?:la|l['’]|die|an?|o|as?)\s?(?:opción|option|opção|alternativa|opzione|lettre|letra|réponse)\s(?=[(*]{0,3}[A-Z]\b)"
    r"|\*{1,3}|__|[\"'“`]|\\[,;! ]|(?:therefore|thus|then|now|indeed|hence|simply"
    r"|exactly|approximately|about|around|roughly|also|option|choice|still)\b[:,]?"
    r"|(?:option|choice)_|(?:final\s)?answer\s?:|equal to\b"
    r"|(?:not|neither)\s[^.!?;:\n]{1,40}?,?\s(?:but(?:\srather)?|rather|it\sis|it['’]s)\b){0,20}",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[<>\[\](){}](?:\s?[<>\[\](){}]){0,99}(?=[\s.\"'”]{0,4}\Z)")
"""Brackets and nothing else, as what closes a row of others."""
_CLAUSE_END = re.compile(
    r"[.!?。！？](?=[\s*_\"'”)\]$]|$)|[。！？\n\r;]|(?<!\w)\*\*|\*\*(?![\w(-])"
    r"|\s(?:because|since|rather than|instead of|where|which)\b"
    r"|,\s(?:because|since|which|as|so|but|where|rather|not|all)\b"
    r"|\s[(（](?=[A-Za-z]{3})|<(?=[/|!A-Za-z])|\s?-->|#{2}"
)
_BOLD_NUMBER, _WORDS = re.compile(r"\*\*(?=[-−$€£]?\d)"), re.compile(r"[A-Za-z]{2,}\s[A-Za-z]")
"""What a sentence sets off, and its words before that: `She has to rest for **215 minutes**`."""
_OPTION = re.compile(
    r"\$?\(?(?P<letter>[A-Z])(?:\$|(?P<mark>[).:]))?(?=[\s.,:;)*!\u3002\u3040-\u30ff\uac00-\ud7af]|$)"
    r"(?!\s?[-+*/^=]\s?[\w(\\])"
)
_NAMED = re.compile(r"(?:option|choice)[_\s][*(]{0,3}\Z", re.IGNORECASE)
_NAMED_OPTION = re.compile(
    r"(?P<letter>[A-J])(?=[\s.,;:)*!]|$)(?![*)]{0,3}\s?(?:[/,&]|and\b|or\b)\s?\(?(?:(?i:option|choice)[_\s])?[A-J]\b)"
)
"""The letter behind `Choice_` or `option`, whatever stands behind it: `Choice_C -8/3` subtracts nothing."""
_REJECTED = re.compile(
    r"\s(?:is|are|was|can\sbe)\s(?:wrong|incorrect|out|false|impossible|eliminated|excluded|too|not|ruled)\b|\s(?:fails|is(?:n['’]t))\b"
)
"""Behind an option: another one is the answer."""
_PRONOUN = re.compile(r"I(?:['’]m|\s(?:don['’]t|do|am|cannot|can['’]t|have|could|would|was|think|got|get|guess))\b")
_ARTICLE = re.compile(r"A\s(?!because|since|rather|as|and|or|not|with|is)[a-z]{2,}")
_MATHS_SIGN = re.compile(
    r"[-+*/^=×÷·()\[\]{}\\_<>≤≥√∛π±∞∈∪⁄²³₀-₉]|\d[A-Za-z]|\b(?:ln|log|exp|sin|cos|tan|sqrt)\s?(?=[\w(])"
)
_GLUED_LETTERS = re.compile(r"(?<=[\d)])[a-z]{2,3}(?![A-Za-z])")
_TIMES = r"\\(?:times|cdot|div)(?![a-z])"
_OPERATOR_AFTER = re.compile(
    rf"\s?{_TIMES}|(?P<gap>\s?)(?:[-−+*/×÷·⋅]|\^)(?P<behind>\s?)\\?[($]{{0,3}}(?:\d|[A-Za-z](?![A-Za-z])|\\(?:frac|sqrt))"
)
_OPERATOR_BEFORE = re.compile(
    rf"(?:{_TIMES}|(?:[\d)\]}}%!$]|(?<![A-Za-z])[A-Za-z])(?P<gap>\s?)(?:[-−+*/×÷·⋅^])(?P<behind>\s?))\s?\\?[({{$]{{0,2}}\Z"
)
_DIGIT_COMMA_AFTER, _DIGIT_COMMA_BEFORE = re.compile(r",\d"), re.compile(r"\d,\Z")
_EQUALS = re.compile(r"(?<![<>!])=\s*|\b(?:equals|is equal to)\s+")
_OPERATOR_GAP = 40  # characters before a number in which its operator is looked for
_TEXT_END = re.compile(r"[\s.!\"'”*_]{0,20}\Z")
_MAX_NAMED = 3  # words of a thing with an article inside a sentence: `the red box`
_MAX_WORDS = {True: 8, False: 5}  # longest wordy answer behind a label (True) and inside a sentence (False)


def number_spans(text: str, begin: int, end: int, *, reach: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the [start, end) of every number that begins in text[begin:end]: signs, currency, fractions, dates.

    Args:
        text: The text.
        begin: Where to begin.
        end: Numbers beginning here or later are left out.
        reach: Characters behind `end` that a number may extend into.
    """
    for number in _NUMBER.finditer(text, begin, min(len(text), end + reach)):
        if number.start() >= end:
            return
        if any(char.isdigit() for char in number.group()):
            yield number.span()


def is_operand(text: str, start: int, end: int) -> bool:
    """Say whether the number text[start:end] is a part of something: the 7 of `6 * 7`, the 3 of `3,4`."""
    if _DIGIT_COMMA_AFTER.match(text, end) or _DIGIT_COMMA_BEFORE.search(text, max(0, start - 2), start):
        return True
    after = _OPERATOR_AFTER.match(text, end)
    if after is not None and (after["gap"] is None or bool(after["gap"]) == bool(after["behind"])):
        return True
    return _is_second_operand(text, start + len(text[start:end]) - len(text[start:end].lstrip("-−+± ")))


def _is_second_operand(text: str, digits: int) -> bool:
    before = _OPERATOR_BEFORE.search(text, max(0, digits - _OPERATOR_GAP), digits)
    return before is not None and (before["gap"] is None or bool(before["gap"]) == bool(before["behind"]))


def read_value(
    text: str, position: int, *, label: bool, maths: Sequence[tuple[int, int]], same_line: bool = False
) -> StatedValue | None:
    """Read the value stated behind a marker that ends at `position`.

    The value is, in this order: the result of a maths span; an option letter; a number, quantity or list; an
    expression; the number a clause comes to; a few words (`no solution`). None where there is no value.

    Args:
        text: The text.
        position: Where the marker ends.
        label: True behind `Answer:`, which may be followed by a line break and by a longer wording.
        maths: Sorted atomic spans of the text.
        same_line: True where the value must stand on the marker's line.
    """
    lead = _LEAD.match(text, position, min(len(text), position + MAX_VALUE_CHARS))
    start = lead.end() if lead else position
    skipped = text[position:start]
    if (
        _NAMED.search(skipped)
        and (option := _NAMED_OPTION.match(text, start))
        and not _REJECTED.match(text, option.end())
    ):
        return StatedValue(start=start, end=_clause_end(text, start)[0], text=option["letter"], numeric=False)
    if brackets := _BRACKETS.match(text, start):
        return StatedValue(start=start, end=brackets.end(), text=brackets.group(), numeric=False)
    if "\n" not in skipped:
        return _value_at(text, start, label, maths)
    if same_line or not (label or text.startswith(("\\[", "$$"), start)):
        return None
    value = _value_at(text, start, label, maths)
    if value is None:
        return None
    line_end = text.find("\n", value.end)
    rest = text[value.end : line_end if line_end >= 0 else len(text)]
    fills_line = value.start == start and not any(char.isalnum() for char in rest)
    return value if fills_line or not text[value.end + len(rest) :].strip() else None


def _value_at(text: str, start: int, label: bool, maths: Sequence[tuple[int, int]]) -> StatedValue | None:
    """Read the value that begins at `start`, its marker and lead left behind."""
    at = bisect.bisect_left(maths, (start, start))
    if at < len(maths) and maths[at][0] == start and text[start] in "$\\":
        return maths_value(text, maths[at : at + MAX_LISTED])
    if text[start : start + 6].lower() == "answer":  # a row of labels: each reads its own value
        return None
    if _PRONOUN.match(text, start):
        return None
    shaped = read_shape(text, start, min(len(text), start + MAX_VALUE_CHARS))
    if shaped is not None:
        return shaped
    end, stop = _clause_end(text, start)
    if "\\boxed" in text[start:end] or "\\fbox" in text[start:end]:
        return None
    if stop is not None and _BOLD_NUMBER.match(text, stop.start()) and _WORDS.match(text, start, end):
        return _value_at(text, stop.end(), label, maths)
    return _plain_value(text, start, end, label) if start < end else None


def _clause_end(text: str, start: int) -> tuple[int, re.Match[str] | None]:
    """Return where the clause at `start` ends, blanks and decoration left out, and what ends it."""
    limit = min(len(text), start + MAX_VALUE_CHARS)
    stop = _CLAUSE_END.search(text, start, limit)
    end = stop.start() if stop else limit
    while end > start and text[end - 1] in " \t,*_:\"'”`":
        end -= 1
    return end, stop


def _plain_value(text: str, start: int, end: int, label: bool) -> StatedValue | None:
    """Read a value that is not in maths mode out of the clause text[start:end]."""
    asides = find_asides(text, list(number_spans(text, start, end)), end)
    end = asides[0][0] if asides else end
    equals = [sign for sign in _EQUALS.finditer(text, start, end) if sign.start() > start]
    start = equals[-1].end() if equals else start
    clause = text[start:end]
    option = _OPTION.match(clause)
    if option and _REJECTED.match(clause, option.end()):
        return None
    if option and not _ARTICLE.match(clause):
        stop = end if option["mark"] else start + option.end()
        return StatedValue(start=start, end=stop, text=option["letter"], numeric=False)
    if is_maths(clause):
        return StatedValue(start=start, end=end, text=clause, numeric=True)
    minus = _MINUS.match(text, start, end)
    if _QUANTITY.match(text, minus.end() if minus else start, end):
        stop = _list_end(text, minus.end() if minus else start, end)
        return StatedValue(start=start, end=stop, text=text[start:stop], numeric=True)
    return _worded_value(text, start, end, label)


def _list_end(text: str, start: int, end: int) -> int:
    """Return the end of the quantities that are listed from `start` on: `2, 3 and 5 cm`."""
    stop = start
    while item := _QUANTITY.match(text, start, end):
        stop = item.end()
        gap = _LIST_GAP.match(text, stop, end) or _RANGE_GAP.match(text, stop, end)
        if gap is None:
            break
        start = gap.end()
    return stop


def is_list(text: str) -> bool:
    """Say whether a text is several quantities and nothing else: `2 and 5`, `3 : 5`, `1, 2 and 4 cm`."""
    first = _QUANTITY.match(text)
    if _CUT_LIST.search(text):
        return False
    return first is not None and first.end() < len(text) and _list_end(text, 0, len(text)) == len(text)


def _worded_value(text: str, start: int, end: int, label: bool) -> StatedValue | None:
    """Read a clause that begins with a word: the number it comes to, else a few words as they are."""
    words = text[start:end].lower().replace(",", " ").split()
    if not words or (words[0] == "not" and words[1:2] != ["possible"]):
        return None
    numbers = list(number_spans(text, start, end))
    if _ROOT.match(text, start, end):
        return StatedValue(start=start, end=end, text=text[start:end], numeric=True)
    if numbers and _FORMED.match(text, start, end):
        return None
    if numbers:
        came_to = [span for span in numbers if comes_to(text, start, span[0])]
        first, stop = (came_to or numbers)[-1]
        return StatedValue(start=first, end=stop, text=text[first:stop], numeric=True)
    named = len(words) > 1 and words[0] in ARTICLES and words[1] not in NOT_AN_ANSWER | NOT_A_THING
    if named and (label or len(words) <= _MAX_NAMED):
        return StatedValue(start=start, end=end, text=text[start:end], numeric=False)
    if words[0] in NOT_AN_ANSWER and words[0] != "not":
        return None
    if len(words) > _MAX_WORDS[label] and not (SENTENCE_WORDS.isdisjoint(words) and _TEXT_END.match(text, end)):
        return None
    return StatedValue(start=start, end=end, text=text[start:end], numeric=False)


def is_maths(clause: str) -> bool:
    """Say whether a clause is mathematics throughout: signs and brackets, no words."""
    plain = re.sub(r"\\[A-Za-z]{1,12}(?:\{[A-Za-z ]{0,30}\})?", "", clause)
    plain = _GLUED_LETTERS.sub(lambda run: "" if is_product(run.group()) else run.group(), plain)
    return (
        _MATHS_SIGN.search(clause.lstrip("-−$")) is not None
        and MATHS_WORD.search(plain) is None
        and clause.count("(") + clause.count("[") == clause.count(")") + clause.count("]")
    )
