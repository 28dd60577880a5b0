r"""What only names a value: the left side of `x = 3`, `f(2) = 11`, `\angle ABC = 40°`, `Total cost = 12`."""

import re

from rafs.answers.answer_maths import is_product
from rafs.answers.answer_text import GREEK

_LETTER = rf"(?:[A-Za-z{GREEK}]|\\ell(?![a-z]))"
_SYMBOL = rf"{_LETTER}(?:_(?:\{{[^{{}}]{{1,20}}\}}|\w))?'{{0,2}}"
_DRAWN = r"(?:m\s?)?\\(?:angle|triangle|overline|vec|hat|bar|widehat|overrightarrow|widetilde)\s?\{?[A-Za-z]{1,4}\}?"
_APPLIED = rf"(?:[A-Z{GREEK}]|[fghpquvr]|(?:sin|cos|tan|gcd|lcm|max|min|deg|det|Var|Cov))"
"""What stands before an argument; the others are factors: `x(x - 1)`, `a(b + 1)`."""
_ARGUMENT = r"(?:\([^()=]{1,30}(?:\([^()=]{1,12}\))?[^()=]{0,12}\)|\[[A-Z]{1,3}\])"
_NAMES = re.compile(
    rf"{_SYMBOL}|{_DRAWN}|\|?[A-Z]{{2,4}}\|?|\|[A-Z]\||\[[A-Z]{{3,6}}\]"
    rf"|{_APPLIED}(?:_\{{?\w\}}?)?'{{0,2}}(?:\^\{{?-1\}}?)?\s?{_ARGUMENT}|\\(?:lim|max|min|sup|inf)(?![a-z]).{{0,60}}"
    rf"|\\?(?:sin|cos|tan|cot|sec|csc)\s?\(?(?:\\angle\s?)?(?:{_SYMBOL}|[A-Z]{{1,3}})\)?"
    r"|\\frac\{[A-Za-z]{1,2}\}\{[A-Za-z]{1,2}\}|[A-Za-z]{1,2}\s?[/:]\s?[A-Za-z]{1,2}"
    rf"|[A-Za-z]\s?\([A-Za-z](?:,\s?[A-Za-z]){{0,3}}\)"
)
_WORDS = re.compile(r"[A-Za-z]{2,}(?:[ '-]{1,2}[A-Za-z0-9]{1,20}){0,7}")
_TUPLE = re.compile(r"\(\s?[A-Za-z](?:_\d)?\s?(?:,\s?[A-Za-z](?:_\d)?\s?){1,5}\)")


def is_label(text: str) -> bool:
    """Say whether a text only names what an equation gives the value of; `2x` and `xy` are no names."""
    words = _WORDS.fullmatch(text) is not None and not is_product(text)
    return words or (_NAMES.fullmatch(text) is not None and not is_product(text))


def is_tuple_label(text: str) -> bool:
    """Say whether a text is `(x, y)`, which names the parts of a tuple in turn."""
    return _TUPLE.fullmatch(text) is not None
