"""What an unmarked sentence ends in: a list, tuple, inequality or expression; a number would be only a part of it."""

import re
from collections.abc import Sequence

from rafs.answers.clauses import Span
from rafs.answers.stated_values import MAX_VALUE_CHARS, is_list, is_maths
from rafs.answers.value_shapes import StatedValue, read_shape

_MAX_LEADS = 8
"""Places in a sentence from which on it may be one value."""
_LEAD = re.compile(
    r"(?:(?P<stated>\b(?:is|are|was|were|be|equals|equal\sto|comes\sto)(?=[\s:])|(?<![<>=!])[=≈](?!=))"
    r"|\b(?:therefore|thus|hence|so|then|get|obtain|find|have|has|at|point|coordinates|takes?|took|needs?|spends?|spent"
    r"|lasts?|lasted)\b|∈|\\in(?![a-z])|:(?=\s))[,:]?\s{0,3}(?=[-−√\w(\[{⟨$\\∞])",
    re.IGNORECASE,
)
_DELIMITERS = ("$$", "$", "\\(", "\\[")
_END = " \t\r\n.,*_"
_NAME = r"[A-Za-z](?:_\{?\w\}?)?"
_BOUND = r"[-−]?\s?[√]?\d[\d.,/π√]{0,20}"
_LESS = r"\s?(?:[<>≤≥]|\\[lg]t(?![a-z]))\s?"
_INEQUALITY = re.compile(rf"(?:{_BOUND}{_LESS})?{_NAME}{_LESS}{_BOUND}|{_BOUND}{_LESS}{_NAME}")
_COMPUTED = re.compile(r"[+*^×·÷]|\s[-−]\s|\d[A-Za-z(]")
"""Left of the first `=`: an expression that is rewritten, not a name that is solved for."""
_LEFT_REACH = 40
_LIMIT = re.compile(r"[-−+]?(?:∞|\\infty)")
_CLAIMED = re.compile(
    r"\\(?:approx|[lg]eq?|neq?|equiv|implies|iff|to|sim|[Rr]ightarrow)(?![a-z])|[<>≤≥≠≈→=…]|\\[lc]?dots|\.\.\.|\?"
)
"""Makes of an expression a claim, or leaves it open."""
_OF_NUMBERS = re.compile(r"(?:\\[A-Za-z]{1,12}|[^A-Za-z])*")


def whole_value(text: str, begin: int, end: int, maths: Sequence[Span]) -> StatedValue | None:
    """Read the value that all the rest of the sentence text[begin:end] is, behind a verb, `=` or `so`.

    None where a sentence ends in words, in one plain number, or in a calculation. `The roots are 2 and 5.`, `They meet
    at (2, 5).`, `So x > 5.`, `Thus $x = 2$ or $x = 5$.`

    Args:
        text: The text.
        begin: Where the sentence begins.
        end: Where it ends.
        maths: Its spans in maths mode, sorted; their delimiters are no part of the value.
    """
    end = begin + len(text[begin:end].rstrip(_END))
    reach = max(begin, end - MAX_VALUE_CHARS)
    equals = text.find("=", begin, end)
    computed = equals >= 0 and _COMPUTED.search(text, max(begin, equals - _LEFT_REACH), equals) is not None
    for lead in list(_LEAD.finditer(text, reach, end))[-_MAX_LEADS:]:
        plain = without_delimiters(text, lead.end(), end, maths)
        solved = lead.group()[0] in "=≈"
        if plain and not (solved and computed) and _is_value(plain, stated=lead["stated"] is not None, solved=solved):
            return StatedValue(start=lead.end(), end=end, text=plain, numeric=True)
    return None


def without_delimiters(text: str, start: int, end: int, maths: Sequence[Span]) -> str:
    """Return text[start:end] without the signs that open and close maths mode, and without its last stop."""
    pieces, at = [], start
    for opened, closed in maths:
        width = next((len(sign) for sign in _DELIMITERS if text.startswith(sign, opened)), 0)
        for sign in (opened, closed - width) if width else ():
            if at <= sign < end:
                pieces.append(text[at:sign].rstrip(_END) if sign > opened else text[at:sign])
                at = min(end, sign + width)
    return "".join([*pieces, text[at:end]]).strip(_END)


def _is_value(plain: str, *, stated: bool, solved: bool) -> bool:
    """Say whether a text is one value of several parts; a list counts only behind `is` and `=`."""
    if plain.count("\\begin{") != plain.count("\\end{"):
        return False
    shape = read_shape(plain, 0, len(plain))
    if (shape is not None and shape.numeric and shape.end == len(plain)) or _INEQUALITY.fullmatch(plain):
        return not (solved and _INEQUALITY.fullmatch(plain))
    if stated and (is_list(plain) or _LIMIT.fullmatch(plain)):
        return True
    return stated and is_maths(plain) and not _CLAIMED.search(plain) and not _OF_NUMBERS.fullmatch(plain)
