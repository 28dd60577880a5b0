"""Cuts running text, Unicode mathematics and LaTeX into tokens, in one linear pass without rewriting the text.

Every token keeps its character offsets, so that a claim can point at the submitted text.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.grammar.literals import MAX_DIGITS, is_european, read_literal, read_vulgar
from rafs.grammar.number_words import read_number_words
from rafs.grammar.signs import COMMANDS, CURRENCIES, INVISIBLE, PAIRS, SIGNS, SUPERSCRIPTS, TIGHT
from rafs.grammar.tokens import DIGIT_COMMA, Kind, Token
from rafs.types import ANSWER_PLACEHOLDER

_WORD = re.compile(
    r"[^\W\d_]_\{\w{1,12}\}|[^\W\d_]+(?:_\w+)+|[^\W\d_]+(?:['’][^\W\d_]+)*(?:-(?=[^\W\d_]{2})[^\W\d_]+)*\d?"
)
_SUBSCRIPT = re.compile(r"_(?:\{(?:\\(?:text|mathrm)\s?\{[^{}]{1,40}\}|[^{}]{1,40})\}|\w)")
_REFERENCE = re.compile(r"#\d{1,4}")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.DOTALL)
_SPACE = re.compile(r"[^\S\n]+")
_TEXT_OPEN = re.compile(r"\\(?:text|mathrm|textbf|textit|mathbf|mbox|operatorname|boldsymbol|mathit|textrm)\s?\{")
_TIMES = re.compile(r"[xX](?=\s?[\d$(\\£€.-])")
_VARIABLE_X = re.compile(r"\b[xX]\s?[=+^]|[=+(]\s?[xX]\b(?!\s?\d)|\d[xX](?![\w$]|\s?[\d$(])|\bfor x\b")
_WORD_OPERATOR = re.compile(
    r"(?:(plus)|(minus)|(times|multiplied by)|(divided by))\s+(?=[\d$(\\£€-]|(?:one|two|three|four|five|six|seven|"
    r"eight|nine|ten|eleven|twelve|thir|four|fif|twen|for)[a-z]*)",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(r"(?:(twice|double)|(thrice|triple))\s+(?=[\d$£€])", re.IGNORECASE)
_DIGIT_COMMA = re.compile(r",\d")
_SINGLE_DIGIT = re.compile(r"\s?(\d)")
_SUPERSCRIPT_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
_FACTORIAL_AHEAD = re.compile(r"\s?(?:[-+*/^=<>)\]}×·÷,≈]|\\)")


@dataclass(slots=True)
class _Lexer:
    """State of one pass: the text, the position, and what was read so far."""

    text: str
    european: bool
    variable_x: bool
    position: int = 0
    tokens: list[Token] = field(default_factory=list)
    braces: list[bool] = field(default_factory=list)
    """One per open brace: True when `\\text` opened it, so that its end is invisible too."""
    calls: list[bool] = field(default_factory=list)
    """One per open bracket: True when a name stands right before it: its commas part arguments."""
    spaced: bool = True
    currency: str = ""
    """A currency sign stands right before."""

    def emit(
        self, kind: Kind, text: str, end: int, value: Fraction = Fraction(0), *, percent: bool = False,
        decimals: int = 0, spelled: bool = False,
    ) -> None:  # fmt: skip
        if kind is Kind.OPEN:
            self.calls.append(self.previous() is Kind.WORD and not self.spaced)
        elif kind is Kind.CLOSE and self.calls:
            self.calls.pop()
        token = Token(
            kind=kind, text=text, start=self.position, end=end, spaced=self.spaced, value=value, percent=percent,
            currency=self.currency if kind is Kind.NUMBER else "", decimals=decimals, spelled=spelled,
        )  # fmt: skip
        self.tokens.append(token)
        self.position, self.spaced, self.currency = end, False, ""

    def skip(self, end: int, spaced: bool) -> None:
        self.position, self.spaced = end, self.spaced or spaced

    def previous(self) -> Kind | None:
        return self.tokens[-1].kind if self.tokens else None

    def follows_words(self) -> bool:
        return self.previous() is Kind.WORD and len(self.tokens[-1].text) > 1

    def follows_operand(self) -> bool:
        return self.previous() in (Kind.NUMBER, Kind.CLOSE) or (
            self.previous() is Kind.WORD and len(self.tokens[-1].text) == 1
        )


def lex(text: str, *, variable_x: bool | None = None) -> list[Token]:
    """Cut `text` into tokens.

    Args:
        text: Running text, any script.
        variable_x: Whether `x` between numbers is a variable rather than a times sign; None to judge by the text.

    Returns:
        Tokens in order of position; white space, LaTeX spacing and emphasis are not tokens. Never raises. Time is
        linear in the length of the text.
    """
    if not text.isascii():
        text = "".join(_plain_digit(sign) for sign in text)
    if variable_x is None:
        variable_x = _VARIABLE_X.search(text) is not None
    lexer = _Lexer(text=text, european=is_european(text), variable_x=variable_x)
    while lexer.position < len(text):
        sign = text[lexer.position]
        if sign.isdecimal() or (sign == "." and text[lexer.position + 1 : lexer.position + 2].isdecimal()):
            _lex_number(lexer)
        elif sign == "\\":
            _lex_command(lexer)
        elif sign.isalpha():
            _lex_word(lexer)
        else:
            _lex_sign(lexer, sign)
    return lexer.tokens


def _plain_digit(sign: str) -> str:
    """Return the ASCII digit of a decimal digit of any script; every other sign stays (the length must)."""
    digit = unicodedata.decimal(sign, None) if not sign.isascii() else None
    return sign if digit is None else str(digit)


def _lex_number(lexer: _Lexer) -> None:
    after_word = lexer.previous() is Kind.WORD
    literal = read_literal(lexer.text, lexer.position, european=lexer.european, after_word=after_word)
    if literal.unreadable:
        lexer.emit(Kind.JUNK, "digits", literal.end)
    elif literal.ordinal:
        lexer.emit(Kind.WORD, lexer.text[lexer.position : literal.end], literal.end)
    else:
        lexer.emit(Kind.NUMBER, "", literal.end, literal.value, percent=literal.percent, decimals=literal.decimals)


def _lex_command(lexer: _Lexer) -> None:
    text, position = lexer.text, lexer.position
    opened = _TEXT_OPEN.match(text, position)
    if opened:
        lexer.braces.append(True)
        lexer.skip(opened.end(), True)
        return
    found = _COMMAND.match(text, position)
    if found is None:
        lexer.emit(Kind.JUNK, "\\", position + 1)
        return
    name = found.group()
    if name == "\\$":
        lexer.currency = "$"
        lexer.skip(found.end(), False)
    elif name in INVISIBLE:
        lexer.skip(found.end(), name not in TIGHT)
    elif name in COMMANDS:
        kind, canonical = COMMANDS[name]
        lexer.emit(kind, canonical, found.end())
        if kind is Kind.FUNCTION and canonical != "pmod":
            for _ in range(1 if canonical == "sqrt" else 2):
                _lex_single_digit(lexer)
    else:
        lexer.emit(Kind.JUNK, name, found.end())


def _lex_single_digit(lexer: _Lexer) -> None:
    r"""Read one brace-less argument: the 1, then the 2, of `\frac12`."""
    digit = _SINGLE_DIGIT.match(lexer.text, lexer.position)
    if digit:
        lexer.emit(Kind.NUMBER, "", digit.end(), Fraction(int(digit.group(1))))


def _lex_word(lexer: _Lexer) -> None:
    text, position = lexer.text, lexer.position
    vulgar = read_vulgar(text, position)
    times = _TIMES.match(text, position)
    if vulgar is not None:
        lexer.emit(Kind.NUMBER, "", position + 1, vulgar)
    elif times and _is_times_sign(lexer):
        lexer.emit(Kind.OPERATOR, "*", times.end())
    elif text[position] == "π":
        lexer.emit(Kind.WORD, "pi", position + 1)
    elif operator := _WORD_OPERATOR.match(text, position):
        which = operator.lastindex or 1
        lexer.emit(Kind.OPERATOR, "+-*/"[which - 1], operator.end(which))
    elif multiple := _MULTIPLE.match(text, position):
        sign = multiple.lastindex or 1
        lexer.emit(Kind.NUMBER, "", multiple.end(sign), Fraction(1 + sign), spelled=True)
        lexer.emit(Kind.OPERATOR, "*", lexer.position)
    elif (spelled := read_number_words(text, position)) is not None and _ends_word(text, spelled[1]):
        lexer.emit(Kind.NUMBER, "", spelled[1], spelled[0], spelled=True)
    else:
        word = _WORD.match(text, position)
        end = word.end() if word else position + 1
        lexer.emit(Kind.WORD, text[position:end], end)


def _ends_word(text: str, end: int) -> bool:
    following = text[end : end + 2]
    return not following[:1].isalnum() and not (following[:1] == "-" and following[1:].isalpha())


def _is_times_sign(lexer: _Lexer) -> bool:
    """Decide whether an `x` before a number multiplies: it needs an operand before it, and even spacing."""
    if lexer.previous() in (Kind.NUMBER, Kind.CLOSE):
        even = lexer.spaced == lexer.text[lexer.position + 1].isspace()
        return even if not lexer.variable_x else even and lexer.spaced
    if lexer.previous() is not Kind.WORD:
        return False
    is_unit = any(token.kind is Kind.NUMBER for token in lexer.tokens[-4:-1])
    return lexer.spaced and not lexer.variable_x and (is_unit or len(lexer.tokens[-1].text) == 1)


def _lex_sign(lexer: _Lexer, sign: str) -> None:
    text, position = lexer.text, lexer.position
    pair = text[position : position + 2]
    if space := _SPACE.match(text, position):
        lexer.skip(space.end(), True)
    elif text.startswith(ANSWER_PLACEHOLDER, position):
        lexer.emit(Kind.PLACEHOLDER, ANSWER_PLACEHOLDER, position + len(ANSWER_PLACEHOLDER))
    elif run := _SUPERSCRIPT_RUN.match(text, position):
        _lex_superscript(lexer, run.group().translate(SUPERSCRIPTS))
    elif pair in PAIRS and not (pair == "!=" and lexer.follows_operand() and not lexer.spaced):
        lexer.emit(*PAIRS[pair], position + 2)
    elif sign in CURRENCIES or sign in INVISIBLE or sign in "\u200b\ufeff\u20e3\ufe0f":
        lexer.currency = sign if sign in CURRENCIES else lexer.currency
        lexer.skip(position + 1, sign not in CURRENCIES)
    elif sign == "_" and lexer.follows_words() and (index := _SUBSCRIPT.match(text, position)):
        lexer.skip(index.end(), False)
    elif sign in ".:!" or pair == "**" or (sign in "-*•" and _is_bullet(lexer)):
        _lex_point(lexer, sign)
    elif sign in "{}":
        _lex_brace(lexer, sign)
    elif sign == "," and _joins_digits(lexer):
        lexer.emit(Kind.JUNK, DIGIT_COMMA, position + 1)
    elif sign in SIGNS:
        lexer.emit(*SIGNS[sign], position + 1)
    elif (vulgar := read_vulgar(text, position)) is not None:
        lexer.emit(Kind.NUMBER, "", position + 1, vulgar)
    else:
        reference = _REFERENCE.match(text, position)
        lexer.emit(Kind.JUNK, sign, reference.end() if reference else position + 1)


def _joins_digits(lexer: _Lexer) -> bool:
    """Say whether a comma between digits, as in `2,50`, may be a decimal point or part two numbers."""
    plain = lexer.previous() is Kind.NUMBER and not lexer.spaced and not lexer.tokens[-1].spelled
    return plain and _DIGIT_COMMA.match(lexer.text, lexer.position) is not None and not any(lexer.calls[-1:])


def _lex_brace(lexer: _Lexer, sign: str) -> None:
    end = lexer.position + 1
    if sign == "}" and lexer.braces and lexer.braces.pop():
        lexer.skip(end, True)
        return
    lexer.braces += [False] if sign == "{" else []
    lexer.emit(*SIGNS[sign], end)


def _lex_superscript(lexer: _Lexer, run: str) -> None:
    end = lexer.position + len(run)
    if not run.lstrip("+-").isdecimal() or len(run) > MAX_DIGITS or "-" in run[1:] or "+" in run[1:]:
        lexer.emit(Kind.JUNK, run, end)
        return
    lexer.emit(Kind.OPERATOR, "^", lexer.position)
    lexer.emit(Kind.NUMBER, "", end, Fraction(int(run)))


def _lex_stars(lexer: _Lexer) -> None:
    """Read `**`: a power between operands with even spacing, otherwise emphasis."""
    end = lexer.position + 2
    following = lexer.text[end : end + 2]
    even = lexer.spaced == following[:1].isspace()
    if lexer.follows_operand() and even and (following.lstrip()[:1].isalnum() or following.lstrip()[:1] in "(-"):
        lexer.emit(Kind.OPERATOR, "^", end)
    else:
        lexer.skip(end, True)


def _is_bullet(lexer: _Lexer) -> bool:
    at_start = not lexer.tokens or lexer.tokens[-1].kind is Kind.BREAK
    return at_start and lexer.text[lexer.position + 1 : lexer.position + 2].isspace()


def _lex_point(lexer: _Lexer, sign: str) -> None:
    """Read a sign whose meaning hangs on its surroundings: `.`, `:`, `!`, or a bullet."""
    text, end = lexer.text, lexer.position + 1
    following = text[end : end + 1]
    if sign + following == "**":
        _lex_stars(lexer)
    elif sign == ":":
        before, after = text[lexer.position - 1 : lexer.position], text[end : end + 2].lstrip()[:1]
        even = before.isspace() == following.isspace() and (before.isspace() or before.isdecimal())
        labelled = len(lexer.tokens) > 1 and lexer.tokens[-2].kind is Kind.WORD
        ratio = lexer.previous() is Kind.NUMBER and after.isdecimal() and even and not labelled
        lexer.emit(*((Kind.OPERATOR, "/") if ratio else (Kind.BREAK, ":")), end)
    elif sign == "!" and lexer.follows_operand() and not lexer.spaced:
        lexer.emit(Kind.OPERATOR, "!" if _FACTORIAL_AHEAD.match(text, end) else "!?", end)
    elif sign == "!" and following.isalnum():
        lexer.emit(Kind.JUNK, "subfactorial", end)
    elif sign == "." and text.startswith("...", lexer.position):
        lexer.emit(Kind.JUNK, "...", lexer.position + 3)
    elif sign == "." and following.isalpha():
        lexer.skip(end, True)
    else:
        lexer.emit(Kind.BREAK, sign, end)
