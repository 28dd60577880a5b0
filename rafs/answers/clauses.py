"""Which number a sentence comes to: what its verbs say of the numbers, and which of them stand only in an aside."""

import bisect
import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

_BEFORE_NUMBER = (
    r"(?::?\s(?:at least|at most|only|exactly|approximately|about|still|now|then|thus|hence|therefore))?"
    r":?\s{0,3}(?:\\?[(\[$*]){0,4}\s{0,3}$"
)
_COPULA = re.compile(rf"\b(?:is|are|was|were|be|equals|equal to){_BEFORE_NUMBER}")
_VERB = re.compile(
    r"(?:\b(?:is|are|was|were|be|has|have|gets?|total of|equals|needs?|of|left with|costs?|takes?|took|makes?|made"
    rf"|pays?|paid|earns?|earned|saves?|saved|spends?|spent|weighs?|sells?|sold|uses?|buys?|bought)|=){_BEFORE_NUMBER}"
)
_RESULT = re.compile(
    r"(?:\b(?:which|that|this|it|and|[a-z]{3,12}ing\s(?:[a-z]{2,5}\s){0,2}\$?[\d.,]{1,12})\s(?:then\s|only\s|just\s|still\s)?"
    r"(?:makes|gives|leaves|yields|totals|equals|becomes|comes\sto|amounts\sto|adds\sup\sto|results\sin)"
    r"|\b(?:making|giving|leaving|yielding|totall?ing|becoming|resulting\sin|for\sa\stotal\sof)"
    r"|,\sa\s(?:total|difference|sum|change|profit|loss)\sof"
    r"|\b(?:we|you|I)\s(?:then\s|finally\s|now\s)?(?:get|obtain|find|reach)|\bleft\swith|\bto\s(?:get|obtain|reach))"
    rf"{_BEFORE_NUMBER}",
    re.IGNORECASE,
)
"""What a sentence comes to: `which makes 42 chairs`, `leaving 5`, `we get 8`."""
_IN_WAYS = re.compile(r"in\s\d[\d,]{0,20}\s(?:\w{1,12}\s)?ways\b")
_AT_LAST = re.compile(rf"(?::|→|⇒|->){_BEFORE_NUMBER}")
"""The same of the last number alone: `doubled: 7`."""
_COMPARED = r"\s(?:\w+\s)?(?:more|less|fewer|\w{2,8}er)\sthan\b"
_OPERATED = re.compile(
    r"(?:(?!\s(?:if|when|unless|since|because|where|at|for)\s)[\w{} ]){0,30}?\s?"
    r"(?:[-+*/=^×÷<>]\s?(?:[\d$(\\]|[A-Za-z](?![A-Za-z]))|\\(?:times|cdot|div))"
    rf"|{_COMPARED}"
)
"""What goes on from a number: a calculation, or a comparison (`5 more than`)."""
_VERB_GAP = 40  # characters before a number in which its verb is looked for
_ASIDE = re.compile(
    r"(?<![,;:])(?<!and|but)(?<!or|so)(?<!only|have|need|want|able|eeds|ants)(?<!had|has|ing)"
    r"\s(?:if|unless|(?P<until_and>when|once|after|before|(?:at|for|with)(?=\s(?:\\\(|\$)?\s?[a-z]\s?=))"
    r"|(?P<purpose>to)(?=\s(?!get|obtain|reach|find|make|give|have|be|total|finish|end|equal|form|leave|the|its|his|her"
    r"|their|about|only|at)[a-z]{3,12}\b))\b"
    r"|,?\swhich\s(?:is|are|was|were)\b(?=\s(?:[$\d]\S{0,9}\s)?(?:\w+\s){0,2}(?:\w+er|more|less|half|twice|double"
    r"|\w+\stimes)\s)"
    rf"|,(?=\s[$\d]\S{{0,9}}{_COMPARED})|,?\sas(?=\s(?:there|each|every|he|she|it|they|we)\b)"
    r"|,?\s(?:because|since|instead\sof|rather\sthan|compared\s(?:to|with)|as\sopposed\sto|out\sof|not(?=\s[$\d]))\b"
    r"|\s(?P<bracket>\()(?=(?:[a-z\d$.]+\s){1,3}[a-z]{3})(?!so\b|that\sis|i\.e|which)"
)
"""Where a sentence leaves its main clause; `and` ends some asides, but not `if he works 3 days and rests 2`."""
_ASIDE_END = re.compile(r"[,;:](?=\s)|\s(?:so|then|thus|hence|therefore|but)\b")
_MAX_ASIDE = 160
"""Characters of an aside."""
_AND = re.compile(r"\sand\b")

Span = tuple[int, int]
_Place = TypeVar("_Place", Span, tuple[int, bool])


def comes_to(text: str, begin: int, number: int) -> bool:
    """Say whether the words around a number say that something comes to it: `is`, `a total of`, `in 6 ways`."""
    return (
        _VERB.search(text, max(begin, number - _VERB_GAP), number) is not None
        or _IN_WAYS.match(text, max(begin, number - len("in "))) is not None
    )


def is_stated(text: str, begin: int, start: int, end: int, *, last: bool) -> bool:
    """Say whether the number text[start:end] is what a sentence states, and nothing goes on from it.

    It stands behind `is` or `which makes`; the last number of a sentence also behind a colon or an arrow.
    """
    reach = max(begin, start - _VERB_GAP)
    marks = (_COPULA, _RESULT, _AT_LAST) if last else (_COPULA, _RESULT)
    return any(mark.search(text, reach, start) for mark in marks) and _OPERATED.match(text, end) is None


def find_asides(text: str, numbers: Sequence[Span], end: int) -> list[Span]:
    """Return where the sentence that ends at `end` says something beside its main clause, sorted and disjoint.

    An aside is a condition, a time, a reason, a purpose, a comparison or a bracket behind the first number: `$90 if he
    works 3 days`, `17, not 12`, `7, which is 2 more than before`.
    """
    found: list[Span] = []
    cursor = numbers[0][1] if numbers else end
    while opener := _ASIDE.search(text, cursor, end):
        cursor = _aside_end(text, opener, end)
        if not (opener["purpose"] and "=" in text[opener.end() : cursor]):
            found.append((opener.start(), cursor))
    return found


def outside(spans: Sequence[_Place], asides: Sequence[Span]) -> Iterator[_Place]:
    """Yield the spans that begin in none of the sorted, disjoint asides."""
    for span in spans:
        before = bisect.bisect_right(asides, span[0], key=lambda aside: aside[0])
        if before == 0 or span[0] >= asides[before - 1][1]:
            yield span


def _aside_end(text: str, opener: re.Match[str], end: int) -> int:
    limit = min(end, opener.end() + _MAX_ASIDE)
    if opener["bracket"]:
        closed = text.find(")", opener.end(), limit)
        return closed + 1 if closed >= 0 else limit
    stops = [_ASIDE_END.search(text, opener.end(), limit), _AND.search(text, opener.end(), limit)]
    return min((stop.start() for stop in stops[: 1 + bool(opener["until_and"])] if stop), default=limit)
