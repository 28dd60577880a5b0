"""Reads the pieces of a text that are words or digits: spelled numbers, words of calculation, literals, names."""

import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction

from rafs.grammar.bases import read_based
from rafs.grammar.clocks import DATE, date_end, read_clock, read_date, shows_ratio
from rafs.grammar.han_numerals import read_han
from rafs.grammar.lexer import Lexer
from rafs.grammar.literals import Place, read_literal, read_percent
from rafs.grammar.number_words import NUMBER_STARTS, read_number_words
from rafs.grammar.signs import CURRENCY_CODES, CURRENCY_SIGNS, DOLLARS
from rafs.grammar.tokens import GOING_ON, Kind

_LETTERS = re.compile(r"[A-Za-z]+")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_INDEX = re.compile("[₀-₉]{1,6}|[ₐ-ₜ](?![₀-₟])")
"""Of a name or a logarithm: `x₁`, `log₂ 8`."""
_TIMES = re.compile(r"[xXхХ](?=\s?(?:[\d$(£€.√-]|\\(?:[dt]?frac|sqrt|left|text|[$({])|(?:sqrt|gcd|lcm|max|min|abs)\())")
_CURRENCY_CODE = re.compile(rf"(?<![\w$\\{{])(?:({'|'.join(DOLLARS)})\$(?=\d)|([A-Z]{{3}}|Rs\.?)\s?(?=\d))")
_CURRENCY_BEHIND = re.compile(r"\s?([€£¥₹￥₽₺₩])(?!\d)")
_DOTS = re.compile(r"(?:\.\.\.|…|\\l?dots\b|\\cdots\b)(?!\s?(?:[-+*/^×·÷=≈]|\\(?:times|cdot|div)))")
LABELS = frozenset(
    "step part day case no number question problem page chapter section figure table grade class room team group line "
    "row column item equation eq exercise example option version level week month stage round".split()
)
"""Words that the number behind them names, so that it is no whole number with a fraction behind it."""
_NOON = re.compile(r"(?:\s|^)(?:1[0-2]|\d):\d\d|\d\s?[ap]\.?m\b|\d\s?o['’]clock", re.IGNORECASE)
_NEAR = 200
"""Characters around `noon` in which another time of day makes it one."""
_NOONS = {"noon": (720, "pm"), "midday": (720, "pm"), "midnight": (0, "am")}
NUMBERINGS = ("no", "nr", "fig", "eq", "ex", "vol", "sec")
"""Words cut short before the number of something."""
_NUMBERING = re.compile(rf"({'|'.join(NUMBERINGS)})\.(?=\s?\d)", re.IGNORECASE)
_LISTED = frozenset("sum product difference quotient average mean median ratio gcd lcm total range between".split())
"""Words of an operation on a list, in which `and` parts two numbers."""
_SEVERAL = re.compile(r"[^.;:\n]{0,60}?\b\w+ and \w+(?: \w+){0,3}? and ", re.IGNORECASE)


def read_number(lexer: Lexer, _: str) -> None:
    """Read digits: a clock time, a date, a number in any notation."""
    text, position = lexer.text, lexer.position
    clock = read_clock(text, position) if position >= lexer.date_end else None
    if clock is not None and not (clock.may_divide and _divides(lexer)):
        lexer.emit(Kind.CLOCK, clock.half, clock.end, Fraction(clock.minutes))
        return
    previous = lexer.previous()
    date = read_date(text, position, after_relation=previous in (Kind.OPERATOR, Kind.RELATION))
    if date is not None:
        lexer.emit(Kind.CLOCK, DATE, date[0], Fraction(date[1]))
        return
    if position >= lexer.date_end and previous not in (Kind.OPERATOR, Kind.RELATION):
        end = date_end(text, position)
        lexer.date_end = end if end > position else lexer.date_end
    is_money = lexer.currency_end == lexer.before
    is_label = previous is Kind.WORD and lexer.tokens[-1].text.lower() in LABELS
    literal = read_literal(text, position, Place(is_label, previous is Kind.RELATION, is_money))
    if literal.unreadable:
        lexer.emit(Kind.JUNK, "digits", literal.end)
    elif literal.ordinal:
        lexer.emit(Kind.WORD, text[position : literal.end], literal.end)
    else:
        behind = None if is_money else _CURRENCY_BEHIND.match(text, literal.end)
        currency = CURRENCY_SIGNS.get(behind[1], behind[1]) if behind else ""
        dots = _DOTS.match(text, literal.end) if literal.decimals > 1 and previous is Kind.RELATION else None
        name, end = (GOING_ON, dots.end()) if dots else ("", literal.end)
        lexer.emit(
            Kind.NUMBER, name, end, literal.value, percent=literal.percent, decimals=literal.decimals, currency=currency
        )


def _divides(lexer: Lexer) -> bool:
    if lexer.divides is None:
        lexer.divides = shows_ratio(lexer.text)
    return lexer.divides


def read_other_word(lexer: Lexer, piece: str) -> None:
    """Read a word that is not ASCII letters alone: hyphens, apostrophes, indices, other scripts."""
    text, position = lexer.text, lexer.position
    head = _LETTERS.match(piece)
    reader = WORD_READERS.get(head.group().lower()) if head else None
    if reader is not None and reader(lexer):
        return
    if text.startswith("$", position + len(piece)) and _read_currency_code(lexer):
        return
    if head is None and piece[0] in "хХ" and _read_times(lexer):
        return
    if piece[0] == "π":
        lexer.emit(Kind.WORD, "pi", position + 1)
    elif head is None and _HAN.match(piece):
        _read_han(lexer, piece)
    elif (index := _INDEX.match(text, position + len(piece))) is not None:
        lexer.emit(Kind.WORD, f"{piece}_{unicodedata.normalize('NFKC', index.group())}", index.end())
    elif "_" in text[position : position + len(piece) + 1] and (number := read_based(text, position)) and number[1]:
        lexer.emit(Kind.NUMBER, "", number[0], number[1])
    else:
        lexer.gap = lexer.gap or "가" <= piece[0] <= "힣"  # Korean endings touch the number: `43입니다`
        lexer.emit(Kind.WORD, piece, position + len(piece))


def _read_han(lexer: Lexer, piece: str) -> None:
    """Read a run of Chinese or Japanese letters, in which nothing but meaning parts the words."""
    after_number = lexer.previous() in (Kind.NUMBER, Kind.CLOSE) or (
        lexer.previous() is Kind.WORD and lexer.follows_quantity()
    )
    after_share = after_number and lexer.tokens[-1].value.denominator > 1
    start, end = lexer.position, lexer.position + len(piece)
    for part in read_han(lexer.text, start, end, after_number=after_number, after_share=after_share):
        lexer.gap = True
        lexer.emit(part.kind, part.text, part.end, part.value, percent=part.percent)
    lexer.gap = True


def _read_spelled(lexer: Lexer) -> bool:
    text, position = lexer.text, lexer.position
    spelled = read_number_words(text, position)
    if spelled is not None and _in_list(lexer):
        spelled = read_number_words(text, position, in_list=True)
    if spelled is None or not _ends_word(text, spelled[1]):
        return False
    number = read_percent(text, spelled[1], spelled[0])
    lexer.emit(Kind.NUMBER, "", number.end, number.value, percent=number.percent, spelled=True)
    return True


def _in_list(lexer: Lexer) -> bool:
    """Say whether the number is the first of a list of two: behind `the sum of`, with no second `and` to come."""
    words = [token.text.lower() for token in lexer.tokens[-2:] if token.kind is Kind.WORD]
    if not words or words[-1] not in ("of", "between") or not _LISTED & set(words):
        return False
    return _SEVERAL.match(lexer.text, lexer.position) is None


def _ends_word(text: str, end: int) -> bool:
    following = text[end : end + 2]
    return not following[:1].isalnum() and not (following[:1] in ("-", "'", "’") and following[1:].isalpha())


def _read_times(lexer: Lexer) -> bool:
    """Read an `x` before a number that multiplies: it needs an operand before it, and even spacing."""
    found = _TIMES.match(lexer.text, lexer.position)
    if found is None or not _is_times_sign(lexer):
        return False
    lexer.emit(Kind.OPERATOR, "*", found.end())
    return True


def _is_times_sign(lexer: Lexer) -> bool:
    previous = lexer.previous()
    if previous is Kind.NUMBER or previous is Kind.CLOSE:
        even = lexer.gap == lexer.text[lexer.position + 1].isspace()
        return even if not lexer.variable_x else even and lexer.gap
    if previous is not Kind.WORD:
        return False
    return lexer.gap and not lexer.variable_x and (lexer.follows_quantity() or len(lexer.tokens[-1].text) == 1)


def _read_currency_code(lexer: Lexer) -> bool:
    """Read the `US$` of `US$5`, the `USD` of `USD 5`."""
    found = _CURRENCY_CODE.match(lexer.text, lexer.position)
    sign = None if found is None else DOLLARS.get(found[1]) or CURRENCY_CODES.get(found[2])
    if found is None or sign is None or (lexer.previous() is Kind.NUMBER and found[2]):
        return False
    lexer.currency, lexer.currency_end = sign, found.end()
    lexer.position = found.end()
    return True


def _read_noon(lexer: Lexer) -> bool:
    """Read `noon` and `midnight` near other times of day; elsewhere they are words."""
    start = lexer.position
    found = _LETTERS.match(lexer.text, start)
    if found is None or not (
        lexer.previous() is Kind.CLOCK or _NOON.search(lexer.text, max(0, start - _NEAR), start + _NEAR)
    ):
        return False
    minutes, half = _NOONS[found.group().lower()]
    lexer.emit(Kind.CLOCK, half, found.end(), Fraction(minutes))
    return True


def _read_numbering(lexer: Lexer) -> bool:
    """Read the `No.` of `No. 5`, whose point ends no sentence."""
    found = _NUMBERING.match(lexer.text, lexer.position)
    if found is not None:
        lexer.emit(Kind.WORD, found[1], found.end())
    return found is not None


def _read_remainder(lexer: Lexer) -> bool:
    """Read the R of `3 R2` and the `modulo` of `17 modulo 5`, between two numbers."""
    found = _REMAINDER.match(lexer.text, lexer.position) if lexer.previous() is Kind.NUMBER and lexer.gap else None
    if found is not None:
        lexer.emit(Kind.WORD, "mod" if found[1] else "R", found.end())
    return found is not None


_REMAINDER = re.compile(r"(?:(modulo)|R)(?=\s?\d)")


def _read_link(lexer: Lexer) -> bool:
    """Read an address of the web, which no calculation reaches over."""
    found = _LINK.match(lexer.text, lexer.position)
    if found is not None:
        lexer.emit(Kind.BREAK, "", found.end())
    return found is not None


_LINK = re.compile(r"https?://[^\s<>\"()]{1,2000}", re.IGNORECASE)


WORD_READERS: dict[str, Callable[[Lexer], bool]] = {
    **dict.fromkeys(NUMBER_STARTS, _read_spelled),
    **dict.fromkeys((code.rstrip(".").lower() for code in CURRENCY_CODES), _read_currency_code),
    **dict.fromkeys(_NOONS, _read_noon),
    **dict.fromkeys(NUMBERINGS, _read_numbering),
    **dict.fromkeys(["http", "https"], _read_link),
    **dict.fromkeys(["modulo", "r"], _read_remainder),
    "x": _read_times,
}
"""Readers by the word in lower case (or its letters before a hyphen); one that returns False leaves a plain word."""
