"""Reads the longest expression at a place in the tokens, by precedence: sums, products, powers."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.grammar.brackets import opens
from rafs.grammar.calculus import BINDERS, at_ellipsis, read_ellipsis
from rafs.grammar.commands import COMMANDS
from rafs.grammar.counted import is_known_letter, starts_operand
from rafs.grammar.cursor import ENDING, Cursor, Unreadable, deepen
from rafs.grammar.functions import starts_call
from rafs.grammar.phrase_words import take_words, word_at
from rafs.grammar.phrases import ADDING, MULTIPLYING, is_tight_slash, join, past_article, raised
from rafs.grammar.plain_runs import read_run
from rafs.grammar.primaries import PLAIN_LETTERS, may_begin, read_factor
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary
from rafs.grammar.tokens import FUNCTION, NUMBER, OPEN, OPERATOR, WORD, Token
from rafs.grammar.units import conversion
from rafs.immutable import placed

_UNIONS = frozenset("∪∖△")
_INFIX = {"∩": "∩", "mod": "mod", "%": "mod"}


@placed
class Parsed:
    """An expression, its first token, the one after it, and why a contradiction with it would not be certain."""

    expression: Expression
    start: int
    end: int
    doubts: frozenset[str]


def parse_at(
    tokens: Sequence[Token],
    position: int,
    names: frozenset[str] = frozenset(),
    *,
    spaced_product: bool = True,
) -> Parsed | None:
    """Read the longest expression that starts at a token.

    Args:
        tokens: Tokens of a text.
        position: Index of the first token to read.
        names: Words of several letters that are variables here.
        spaced_product: Whether `3 (4)` multiplies; in running text it is more often a remark in brackets.

    Returns:
        The expression and the index of the token after it (units included), or None.
    """
    first = tokens[position] if position < len(tokens) else None
    if first is None:
        return None
    kind = first.kind
    if kind in ENDING or (kind is WORD and not may_begin(tokens, position, names)):
        return None
    if kind is NUMBER and (run := read_run(tokens, position)) is not None:
        expression, end, mixed = run
        return Parsed(expression, position, end, _MIXED if mixed else _NO_DOUBTS)
    cursor = Cursor(tokens, names, spaced_product, position, _LEVELS)
    try:
        expression = _sum(cursor)
    except Unreadable:
        return None
    return Parsed(expression, position, cursor.position, frozenset(cursor.doubts))


_NO_DOUBTS: frozenset[str] = frozenset()
_MIXED = frozenset(["percent"])


def _sum(cursor: Cursor) -> Expression:
    deepen(cursor)
    left = _product(cursor)
    while (token := cursor.going_on()) is not None:
        symbol = cursor.symbol()
        if symbol in ("+", "-") and token.kind is OPERATOR and starts_operand(cursor, 1):
            cursor.take()
            right = _product(cursor)
            if _is_percent(right) != _is_percent(left) and not _is_one(left):
                cursor.doubts.add("percent")
            left = Binary(symbol, left, right)
        elif symbol == "+" and at_ellipsis(cursor):
            left = read_ellipsis(cursor, left)
        elif symbol in _UNIONS and starts_operand(cursor, 1):
            cursor.take()
            left = Binary(symbol, left, _product(cursor))
        elif token.kind is WORD and (joined := join(cursor, left, ADDING)) is not None:
            left = joined
        else:
            break
    cursor.depth -= 1
    return left


def _is_percent(expression: Expression) -> bool:
    match expression:
        case Number():
            return expression.percent
        case Unary():
            return _is_percent(expression.operand)
        case Binary():
            return expression.op in "+-" and _is_percent(expression.right)
    return False


def _is_one(expression: Expression) -> bool:
    """Say whether it is the 1 of `1 + 20%`, which is 1.2 by either reading."""
    return isinstance(expression, Number) and expression.value == 1


def _product(cursor: Cursor) -> Expression:
    left = _signed(cursor)
    divided = False
    while (token := cursor.going_on()) is not None:
        symbol, kind = cursor.symbol(), token.kind
        if kind is OPERATOR and symbol in ("+", "-"):
            break
        if kind is OPERATOR and symbol in ("*", "/", ":") and starts_operand(cursor, 1):
            if divided and symbol == "*" and _is_power_of_ten(cursor):
                cursor.doubts.add("scientific notation")
            divided = symbol != "*"
            left = _ratio(cursor, left) if symbol == ":" else _times(cursor, left)
        elif symbol == "*" and at_ellipsis(cursor):
            left = read_ellipsis(cursor, left)
        elif symbol in _INFIX and starts_operand(cursor, 1):
            cursor.take()
            left = Binary(_INFIX[symbol], left, _signed(cursor))
        elif kind is WORD and (joined := _joined_by_word(cursor, left)) is not None:
            left = joined
        elif kind is NUMBER and _goes_on(cursor, left):
            left = Call(name="compound", args=(left, read_factor(cursor)))
        elif token.text == "and" and _goes_on(cursor, left, 1) and not cursor.at_relation(3):
            cursor.take()
            left = Call(name="compound", args=(left, read_factor(cursor)))
        elif _starts_implicit(cursor):
            right = _power(cursor)
            product = Binary("*", left, right)
            left = Call(name="ambiguous", args=(product,)) if divided else product
        else:
            break
    return left


def _is_power_of_ten(cursor: Cursor) -> bool:
    """Say whether `* 10^4` stands here, which behind `6 * 10^8 / 3` may belong to the 3."""
    ten = cursor.peek(1)
    return ten is not None and ten.kind is NUMBER and ten.value == 10 and cursor.symbol(2) == "^"


def _times(cursor: Cursor, left: Expression) -> Expression:
    sign = cursor.take()
    product = Binary(sign.text, left, _signed(cursor))
    behind = cursor.peek()
    if sign.text == "/" and sign.spaced and cursor.at(OPERATOR, "/") and behind and not behind.spaced:
        return Call(name="ambiguous", args=(product,))  # `6 / 3/4` is 8 to most who write it so
    return product


def _joined_by_word(cursor: Cursor, left: Expression) -> Expression | None:
    """Multiply by what a word joins to `left`: the `of` of a share, `times`; None where no such word stands."""
    if word_at(cursor, 0) == "of" and starts_operand(cursor, of_whole := past_article(cursor, 1)) and _is_share(left):
        take_words(cursor, of_whole)
        return Binary("*", left, _signed(cursor))
    return join(cursor, left, MULTIPLYING)


def _ratio(cursor: Cursor, first: Expression) -> Expression:
    """Read `6 : 8` as a quotient, and `1 : 2 : 3` as a ratio of three."""
    terms = [first]
    while cursor.at(OPERATOR, ":") and starts_operand(cursor, 1):
        terms.append(_ratio_term(cursor, loose=cursor.take().spaced))
    return Binary("/", first, terms[1]) if len(terms) == 2 else Call(name="ratio", args=tuple(terms))


def _ratio_term(cursor: Cursor, *, loose: bool) -> Expression:
    """Read a term of a ratio, which is a fraction in `1/2 : 1/3`, where only the colon has blanks around it."""
    term = _signed(cursor)
    if not loose or not is_tight_slash(cursor):
        return term
    cursor.doubts.add("ratio")  # `6 : 3/2` may be 1 too
    return Binary(cursor.take().text, term, _signed(cursor))


def _goes_on(cursor: Cursor, left: Expression, ahead: int = 0) -> bool:
    """Say whether a smaller unit follows, as in `2 hours 15 minutes`, `6 ft 2 in`."""
    number, word = cursor.peek(ahead), cursor.peek(ahead + 1)
    if number is None or number.kind is not NUMBER or word is None or word.kind is not WORD:
        return False
    last = left.args[-1] if isinstance(left, Call) and left.name == "compound" else left
    if not isinstance(last, Number) or not last.unit or last.percent:
        return False
    return last.unit.rstrip("s.") != word.text.lower().rstrip("s.") and conversion(last.unit, word.text) is not None


def _is_share(expression: Expression) -> bool:
    """Say whether `of` multiplies after it: a percentage, a fraction, or a number word such as `half`."""
    match expression:
        case Number():
            return expression.percent or expression.value.denominator > 1
        case Binary(op="*"):
            return _is_share(expression.left) and _is_share(expression.right)
        case Binary():
            return expression.op == "/"
    return False


def _signed(cursor: Cursor) -> Expression:
    token = cursor.peek()
    if token is None or token.kind is not OPERATOR or token.text not in ("-", "+"):
        return _power(cursor) if token is None else _alone(cursor, token) or _power(cursor)
    sign = cursor.take().text
    operand = _signed_again(cursor)
    return Unary("-", operand) if sign == "-" else operand


def _alone(cursor: Cursor, token: Token) -> Expression | None:
    """Read a number or a letter that has nothing behind it which could belong to it, as most have; else None."""
    is_number = token.kind is NUMBER
    if not is_number and (token.kind is not WORD or token.text not in PLAIN_LETTERS):
        return None
    following = cursor.peek(1)
    if following is not None and following.kind not in ENDING:
        if following.kind is not OPERATOR or following.text not in _BETWEEN:
            return None
        if is_number and following.text in _MAY_JOIN:
            behind = cursor.peek(2)
            if behind is not None and behind.kind is not NUMBER:
                return None
    return cursor.number() if is_number else cursor.name()


_BETWEEN, _MAY_JOIN = frozenset("+-*/"), frozenset("-/")
"""Signs behind an operand, and those that may join a unit to a number: `24-hour`, `60/tire`."""


def _signed_again(cursor: Cursor) -> Expression:
    deepen(cursor)
    operand = _signed(cursor)
    cursor.depth -= 1
    return operand


def _power(cursor: Cursor) -> Expression:
    base, token = read_factor(cursor), cursor.peek()
    if token is None or token.kind in ENDING:
        return base
    if token.kind is WORD:
        base = raised(cursor, base)
    if cursor.symbol() != "^":
        return base
    if unit := _degree_sign(cursor):
        degree = Number(value=Fraction(1), unit=unit)
        return replace(base, unit=unit) if isinstance(base, Number) else Binary("*", base, degree)
    cursor.take()
    return Binary("^", base, _signed_again(cursor))


def _degree_sign(cursor: Cursor) -> str:
    r"""Step over `^\\circ`, `^{\\circ}`, `^\\circ C`, and return the unit that it is; "" where none stands."""
    following = cursor.symbol(1)
    if following == "°":
        take_words(cursor, 2)
    elif following == "{" and cursor.symbol(2) == "°" and cursor.symbol(3) == "}":
        take_words(cursor, 4)
    else:
        return ""
    scale = cursor.take().text if cursor.at(WORD, "C", "F") else ""
    cursor.unit_end = cursor.position
    return f"°{scale}"


_LEVELS = (_sum, _product, _power)


def _starts_implicit(cursor: Cursor) -> bool:
    r"""Say whether the next token multiplies without a sign: `2x`, `2(3 + 4)`, `2\\sqrt{3}`."""
    token, symbol = cursor.peek(), cursor.symbol()
    if token is None or (cursor.position == cursor.unit_end and (token.spaced or not starts_call(cursor, 0))):
        return False
    if token.kind is OPEN:
        touches = (
            cursor.spaced_product
            or not token.spaced
            or token.text.startswith("begin ")
            or cursor.tokens[cursor.position - 1].text in ("pi", "}")
        )
        return (token.text in "([{⌊⌈⟨" or token.text.startswith("begin ")) and touches
    if token.kind is FUNCTION or symbol in COMMANDS or symbol in BINDERS:
        return token.text != "pmod"
    if token.kind is NUMBER:
        return cursor.tokens[cursor.position - 1].text == "!" and cursor.symbol(1) == "!"  # `4!\\,3!`
    if token.kind is not WORD:
        return not token.spaced and opens(cursor)
    if token.spaced and not is_known_letter(cursor, token) and not starts_call(cursor, 0):
        return False
    return starts_operand(cursor, 0)
