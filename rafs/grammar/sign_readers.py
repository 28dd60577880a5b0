"""Reads the pieces of a text that are signs or LaTeX commands."""

import re
from fractions import Fraction

from rafs.grammar.clocks import shows_ratio
from rafs.grammar.lexer import Lexer
from rafs.grammar.literals import MAX_DIGITS, read_vulgar
from rafs.grammar.markup_readers import (
    COMMENT_SIGNS,
    read_comment,
    read_entity,
    read_environment,
    read_layout,
    read_less,
    read_quotation,
    starts_line,
)
from rafs.grammar.signs import (
    BASED_FUNCTIONS,
    COMMANDS,
    CURRENCIES,
    CURRENCY_SIGNS,
    INVISIBLE,
    PAIRS,
    SIGNS,
    SUPERSCRIPTS,
    TIGHT,
)
from rafs.grammar.terms import NUMBER_SETS
from rafs.grammar.tokens import DIGIT_COMMA, Kind
from rafs.grammar.unit_words import MEASURE_SIGNS
from rafs.grammar.word_readers import LABELS
from rafs.types import ANSWER_PLACEHOLDER

_SUBSCRIPT = re.compile(r"_(?:\{(?:\\(?:text|mathrm)\s?\{[^{}]{1,40}\}|[^{}]{1,40})\}|\w)")
_REFERENCE = re.compile(r"#\d{1,4}")
_TEXT_COMMANDS = frozenset(
    f"\\{name}"
    for name in "text mathrm textbf textit mathbf mbox operatorname boldsymbol mathit textrm emph textsc texttt".split()
)
_MATRIX = re.compile(r"\s?\{((?:[pbvBV]|small)?matrix)\}")
_NUMBER_SET = re.compile(r"\s?\{?\s?([NZQRC])(?:\s?\}|(?![\w{}]))")
_OPEN = re.compile(r"\s?\{")
_DIGIT_COMMA = re.compile(r",\d")
_SINGLE_DIGIT = re.compile(r"\s?(\d)")
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]+")
_FACTORIAL_AHEAD = re.compile(r"\s?(?:\d{1,4}!|[-+*/^=<>)\]}×·÷,≈]|\\)")
_MARKS = frozenset("\u200b\ufeff\u20e3\ufe0f")
"""Signs that only change how their neighbour looks."""
_TEMPLATE = re.compile(r"\{%[^{}%\n]{0,80}%\}|(?<![\\\w{}^_])\{\{ ?[A-Za-z_][\w.|]{0,40} ?\}\}(?!\})")
"""Marks of a template language: `{% endfor %}`, `{{ name }}`."""
_PRINTED = re.compile(r"%(?:\(\w{1,30}\))?[sdif](?![\w.])")
"""A place where a value is to be printed: `%s`."""
_TEN = "\N{KEYCAP TEN}"


def read_command(lexer: Lexer, name: str) -> None:
    """Read a LaTeX command, with the single digits that are its arguments."""
    end = lexer.position + len(name)
    if name in ("\\begin", "\\end") and (matrix := _MATRIX.match(lexer.text, end)) is not None:
        lexer.matrices = max(0, lexer.matrices + (1 if name == "\\begin" else -1))
        lexer.emit(Kind.OPEN if name == "\\begin" else Kind.CLOSE, f"{name[1:]} {matrix.group(1)}", matrix.end())
    elif name in ("\\begin", "\\end") and read_environment(lexer):
        return
    elif lexer.matrices and name == "\\\\":
        lexer.emit(Kind.COMMA, name, end)
    elif name in INVISIBLE:
        lexer.skip(end, name not in TIGHT)
    elif name in _TEXT_COMMANDS and (opened := _OPEN.match(lexer.text, end)) is not None:
        lexer.braces.append(True)
        lexer.skip(opened.end(), True)
    elif name == "\\mathbb" and (number_set := _NUMBER_SET.match(lexer.text, end)) is not None:
        lexer.emit(Kind.WORD, NUMBER_SETS["NZQRC".index(number_set[1])], number_set.end())
    elif name == "\\$":
        lexer.skip(end, False)
        lexer.currency, lexer.currency_end = "$", end
    elif name in COMMANDS:
        kind, canonical = COMMANDS[name]
        lexer.emit(kind, canonical, end)
        for _ in range({"sqrt": 1, "frac": 2, "binom": 2}.get(canonical, 0)):
            _read_single_digit(lexer)
    elif not read_layout(lexer, name):
        lexer.emit(Kind.JUNK, name, end)


def _read_single_digit(lexer: Lexer) -> None:
    r"""Read one brace-less argument: the 1, then the 2, of `\frac12`."""
    digit = _SINGLE_DIGIT.match(lexer.text, lexer.position)
    if digit:
        lexer.emit(Kind.NUMBER, "", digit.end(), Fraction(int(digit.group(1))))


def read_sign(lexer: Lexer, sign: str) -> None:
    """Read one sign, or a pair of signs that belong together."""
    reader = _SIGN_READERS.get(sign)
    if reader is not None:
        reader(lexer, sign)
        return
    text, position = lexer.text, lexer.position
    pair = text[position : position + 2]
    if text.startswith(ANSWER_PLACEHOLDER, position):
        lexer.emit(Kind.PLACEHOLDER, ANSWER_PLACEHOLDER, position + len(ANSWER_PLACEHOLDER))
    elif pair in PAIRS:
        lexer.emit(*PAIRS[pair], position + 2)
    elif sign in SIGNS:
        lexer.emit(*SIGNS[sign], position + 1)
    elif (run := _SUPERSCRIPT_RUN.match(text, position)) is not None:
        _read_superscript(lexer, run.group().translate(SUPERSCRIPTS))
    elif (vulgar := read_vulgar(text, position)) is not None:
        lexer.emit(Kind.NUMBER, "", position + 1, vulgar)
    elif sign == _TEN:
        lexer.emit(Kind.NUMBER, "", position + 1, Fraction(10))
    else:
        reference = _REFERENCE.match(text, position)
        lexer.emit(Kind.JUNK, sign, reference.end() if reference else position + 1)


def _read_currency(lexer: Lexer, sign: str) -> None:
    lexer.skip(lexer.position + 1, False)
    lexer.currency, lexer.currency_end = CURRENCY_SIGNS.get(sign, sign), lexer.position


def _read_invisible(lexer: Lexer, _: str) -> None:
    lexer.skip(lexer.position + 1, True)


def _read_quote(lexer: Lexer, sign: str) -> None:
    """Read a quotation mark, which is nothing; around digits that are joined to others it makes them letters."""
    is_text = _JOINED_TEXT.match(lexer.text, lexer.position) is not None
    if is_text:
        lexer.emit(Kind.JUNK, sign, lexer.position + 1)
    else:
        lexer.skip(lexer.position + 1, True)


_JOINED_TEXT = re.compile(r'"(?:\s?[+*]|\d{1,20}"\s?\+)')


def _read_comma(lexer: Lexer, _: str) -> None:
    is_decimal = _joins_digits(lexer)
    lexer.emit(*((Kind.JUNK, DIGIT_COMMA) if is_decimal else (Kind.COMMA, ",")), lexer.position + 1)


def _joins_digits(lexer: Lexer) -> bool:
    """Say whether a comma between digits, as in `2,50`, may be a decimal point or part two numbers."""
    plain = lexer.previous() is Kind.NUMBER and not lexer.gap and not lexer.tokens[-1].spelled
    return plain and _DIGIT_COMMA.match(lexer.text, lexer.position) is not None and not lexer.in_call()


def _read_brace(lexer: Lexer, sign: str) -> None:
    r"""Read a brace inside `\text{...}`; the one that ends it is invisible."""
    end = lexer.position + 1
    template = _TEMPLATE.match(lexer.text, lexer.position) if sign == "{" else None
    if template is not None:
        lexer.emit(Kind.BREAK, "", template.end())
        return
    if sign == "{":
        lexer.braces.append(False)
    elif lexer.braces and lexer.braces.pop():
        lexer.skip(end, lexer.text[end : end + 1] != "(")  # `\operatorname{lcm}(6, 8)` applies a function
        return
    lexer.emit(*SIGNS[sign], end)


def _read_superscript(lexer: Lexer, run: str) -> None:
    end = lexer.position + len(run)
    if run == "n":
        lexer.emit(Kind.OPERATOR, "^", lexer.position)
        lexer.emit(Kind.WORD, "n", end)
    elif not run.lstrip("+-").isdecimal() or len(run) > MAX_DIGITS or "-" in run[1:] or "+" in run[1:]:
        lexer.emit(Kind.JUNK, run, end)
    else:
        lexer.emit(Kind.OPERATOR, "^", lexer.position)
        lexer.emit(Kind.NUMBER, "", end, Fraction(int(run)))


def _read_subscript(lexer: Lexer, sign: str) -> None:
    is_label = lexer.follows_words() and lexer.tokens[-1].text not in BASED_FUNCTIONS
    index = _SUBSCRIPT.match(lexer.text, lexer.position) if is_label else None
    if index is None:
        lexer.emit(Kind.JUNK, sign, lexer.position + 1)
    else:
        lexer.skip(index.end(), False)


def _read_percent(lexer: Lexer, _: str) -> None:
    """Read a percent sign that no number has taken: a remainder where digits stand on both sides."""
    if lexer.gap and (template := _PRINTED.match(lexer.text, lexer.position)) is not None:
        lexer.emit(Kind.BREAK, "", template.end())
        return
    is_modulo = lexer.previous() in (Kind.NUMBER, Kind.CLOSE)
    is_modulo = is_modulo and lexer.text[lexer.position + 1 : lexer.position + 3].lstrip()[:1].isdecimal()
    lexer.emit(*((Kind.WORD, "mod") if is_modulo else (Kind.OPERATOR, "%")), lexer.position + 1)


def _read_dash(lexer: Lexer, sign: str) -> None:
    """Read a minus, a division, or what stands between the digits of a date."""
    pair = lexer.text[lexer.position : lexer.position + 2]
    if pair in COMMENT_SIGNS and read_comment(lexer):
        return
    if lexer.position < lexer.date_end:
        lexer.emit(Kind.JUNK, sign, lexer.position + 1)
    elif pair in PAIRS:
        lexer.emit(*PAIRS[pair], lexer.position + 2)
    elif sign != "/" and _is_bullet(lexer):
        lexer.emit(Kind.BREAK, sign, lexer.position + 1)
    else:
        lexer.emit(*SIGNS[sign], lexer.position + 1)


def _read_star(lexer: Lexer, sign: str) -> None:
    """Read `*`: a product or a bullet; and `**`: a power between operands with even spacing, otherwise emphasis."""
    end = lexer.position + 2
    pair = lexer.text[lexer.position : end]
    if pair in COMMENT_SIGNS and read_comment(lexer):
        return
    if pair != "**":
        lexer.emit(*((Kind.BREAK, sign) if _is_bullet(lexer) else SIGNS[sign]), end - 1)
        return
    following = lexer.text[end : end + 2]
    even = lexer.gap == following[:1].isspace()
    operand = following.lstrip()[:1]
    if lexer.follows_operand() and even and operand and (operand.isalnum() or operand in "(-"):
        lexer.emit(Kind.OPERATOR, "^", end)
    else:
        lexer.skip(end, True)


def _is_bullet(lexer: Lexer) -> bool:
    return starts_line(lexer) and lexer.text[lexer.position + 1 : lexer.position + 2].isspace()


_COPULAS = frozenset(["is", "are", "to", "as", "equals", "ratio", "than", "of", "was"])
"""Words before a number that no colon makes a label: `the ratio is 3:4`."""


def _read_colon(lexer: Lexer, _: str) -> None:
    text, end = lexer.text, lexer.position + 1
    if text.startswith(":=", lexer.position):
        lexer.emit(*PAIRS[":="], end + 1)
        return
    before, following = text[end - 2 : end - 1], text[end : end + 1]
    if not text[end : end + 2].lstrip()[:1].isdecimal():
        lexer.emit(Kind.BREAK, ":", end)
        return
    even = before.isspace() == following.isspace() and (before.isspace() or before.isdecimal())
    labelled = len(lexer.tokens) > 1 and lexer.tokens[-2].kind is Kind.WORD
    labelled = labelled and not (before.isspace() and lexer.tokens[-2].text.lower() not in LABELS)
    if labelled and lexer.divides is None:
        lexer.divides = shows_ratio(lexer.text)
    labelled = labelled and not (lexer.divides and not before.isspace())
    certain = lexer.divides or not before.isspace()
    labelled = labelled and not (even and certain and lexer.tokens[-2].text.lower() in _COPULAS)
    ratio = lexer.previous() is Kind.NUMBER and even and not labelled
    ratio = ratio or (before.isspace() and even and _follows_measure(lexer))
    ratio = ratio or (text[end - 2 : end] == " :" and lexer.previous() is Kind.CLOSE and even)
    lexer.emit(*((Kind.OPERATOR, ":") if ratio else (Kind.BREAK, ":")), end)


def _follows_measure(lexer: Lexer) -> bool:
    """Say whether a number with its unit stands before: `12 km : 4`."""
    return len(lexer.tokens) > 1 and lexer.tokens[-2].kind is Kind.NUMBER and lexer.tokens[-1].text in MEASURE_SIGNS


def _read_exclamation(lexer: Lexer, sign: str) -> None:
    text, end = lexer.text, lexer.position + 1
    pair = text[lexer.position : end + 1]
    applies = lexer.follows_operand() and not lexer.gap
    if pair in PAIRS and not (pair == "!=" and applies):
        lexer.emit(*PAIRS[pair], end + 1)
    elif applies:
        lexer.emit(Kind.OPERATOR, "!" if _FACTORIAL_AHEAD.match(text, end) else "!?", end)
    elif text[end : end + 1].isalnum():
        lexer.emit(Kind.JUNK, "subfactorial", end)
    else:
        lexer.emit(Kind.BREAK, sign, end)


def _read_point(lexer: Lexer, sign: str) -> None:
    text, end = lexer.text, lexer.position + 1
    if text.startswith("...", lexer.position):
        lexer.emit(Kind.JUNK, "...", end + 2)
    elif text[end : end + 1].isalpha():
        lexer.skip(end, True)
    else:
        multiplies = lexer.gap and lexer.previous() is Kind.NUMBER and text[end : end + 2].lstrip().isdecimal()
        lexer.emit(Kind.JUNK if multiplies else Kind.BREAK, sign, end)


_SIGN_READERS = {
    **dict.fromkeys(CURRENCIES, _read_currency),
    **dict.fromkeys([*(sign for sign in INVISIBLE if len(sign) == 1), *_MARKS], _read_invisible),
    **dict.fromkeys("{}", _read_brace),
    **dict.fromkeys("-–/", _read_dash),
    **{'"': _read_quote, ",": _read_comma, "_": _read_subscript, "%": _read_percent, "*": _read_star, ":": _read_colon},
    **{"&": read_entity, "<": read_less, ">": read_quotation},
    **{"!": _read_exclamation, ".": _read_point},
}
"""Readers of the signs whose meaning hangs on what stands around them, or that are too frequent to ask twice."""
