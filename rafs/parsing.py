"""A precedence parser over tokens; it reads the longest expression at a place and says where it ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from rafs.lexing import Token
from rafs.signs import Kind
from rafs.terms import Binary, Call, Expression, Number, Unary, Variable
from rafs.types import Span

MAX_DEPTH = 40
"""Nested groups; each costs a handful of Python frames out of the interpreter's 1000."""
MAX_NODES = 300
"""Nodes of one expression; a left-deep tree of that many is still walked by plain recursion."""
MAX_UNIT_WORDS = 6
"""Words that may stand after a number as its unit: `8 slices of the large pizza`."""

FUNCTIONS = frozenset(
    "sqrt abs gcd lcm binom binomial choose floor ceil min max mean log ln sin cos tan C root factorial".split()
)
_FUNCTION_NAMES = {"binomial": "binom", "choose": "binom", "C": "binom", "GCD": "gcd", "LCM": "lcm", "gcf": "gcd"}
NOT_UNITS = frozenset(
    "and or so then because since if is are was were be equals equal gives give makes make get gets which that but "
    "plus minus times than when where while thus therefore hence to into leaves leaving means yields remainder mod "
    "r let has have had he she they it we i".split()
)
"""Words that end an operand: a unit never reads across them."""
OPAQUE = frozenset("fghFGHPQ")
"""Letters that before a bracket name a function: `f(2)` is not a product."""
MAX_REMARK = 12
"""Tokens of a remark in brackets that is stepped over."""
KNOWN_UNITS = frozenset("km kg cm mm m g l ml mg lb lbs oz ft in hr hrs h min mins s sec secs mph mi yd pt".split())


class _Unreadable(Exception):
    """The tokens at this place are no expression of the grammar, or a cap was hit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """An expression, its first token and the one after it, and why a contradiction found with it would not be certain."""

    expression: Expression
    start: int
    end: int
    doubts: frozenset[str]


@dataclass(slots=True)
class _Parser:
    tokens: Sequence[Token]
    names: frozenset[str]
    spaced_product: bool
    position: int
    depth: int = 0
    nodes: int = 0
    doubts: set[str] = field(default_factory=set)
    unit_end: int = -1
    """Where the last unit ended; nothing multiplies a unit without a sign."""

    def peek(self, ahead: int = 0) -> Token | None:
        index = self.position + ahead
        return self.tokens[index] if index < len(self.tokens) else None

    def at(self, kind: Kind, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind is kind and (not texts or token.text in texts)

    def take(self) -> Token:
        token = self.tokens[self.position]
        self.position += 1
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Unreadable
        return token


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
    parser = _Parser(tokens=tokens, names=names, spaced_product=spaced_product, position=position)
    try:
        expression = _sum(parser)
    except _Unreadable:
        return None
    return Parsed(expression=expression, start=position, end=parser.position, doubts=frozenset(parser.doubts))


def _sum(parser: _Parser) -> Expression:
    parser.depth += 1
    if parser.depth > MAX_DEPTH:
        raise _Unreadable
    left = _product(parser)
    while parser.at(Kind.OPERATOR, "+", "-") and _starts_operand(parser, 1):
        op = parser.take().text
        right = _product(parser)
        if _is_percent(right) != _is_percent(left):
            parser.doubts.add("percent")
        left = Binary(op=op, left=left, right=right)
    parser.depth -= 1
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


def _product(parser: _Parser) -> Expression:
    left = _signed(parser)
    divided = False
    while True:
        if parser.at(Kind.OPERATOR, "*", "/") and _starts_operand(parser, 1):
            op = parser.take().text
            left = Binary(op=op, left=left, right=_signed(parser))
            divided = op == "/"
        elif parser.at(Kind.WORD, "mod") and _starts_operand(parser, 1):
            parser.take()
            left = Binary(op="mod", left=left, right=_signed(parser))
        elif parser.at(Kind.WORD, "of") and _starts_operand(parser, 1) and _is_share(left):
            parser.take()
            left = Binary(op="*", left=left, right=_signed(parser))
        elif _starts_implicit(parser):
            right = _power(parser)
            product = Binary(op="*", left=left, right=right)
            left = Call(name="ambiguous", args=(product,)) if divided else product
        else:
            return left


def _is_share(expression: Expression) -> bool:
    """Say whether `of` multiplies after it: a percentage, a fraction, or a number word such as `half`."""
    match expression:
        case Number():
            return expression.percent or expression.value.denominator > 1
        case Binary():
            return expression.op == "/"
    return False


def _signed(parser: _Parser) -> Expression:
    if parser.at(Kind.OPERATOR, "-"):
        parser.take()
        return Unary(op="-", operand=_signed_again(parser))
    if parser.at(Kind.OPERATOR, "+"):
        parser.take()
        return _signed_again(parser)
    return _power(parser)


def _signed_again(parser: _Parser) -> Expression:
    parser.depth += 1
    if parser.depth > MAX_DEPTH:
        raise _Unreadable
    operand = _signed(parser)
    parser.depth -= 1
    return operand


def _power(parser: _Parser) -> Expression:
    base = _postfix(parser)
    if not parser.at(Kind.OPERATOR, "^"):
        return base
    parser.take()
    return Binary(op="^", left=base, right=_signed_again(parser))


def _postfix(parser: _Parser) -> Expression:
    operand = _primary(parser)
    while True:
        if parser.at(Kind.OPERATOR, "!", "!!"):
            operand = Unary(op=parser.take().text, operand=operand)
        elif parser.at(Kind.OPERATOR, "%"):
            parser.take()
            operand = Binary(op="/", left=operand, right=Number(value=Fraction(100)))
            parser.doubts.add("percent")
        elif not _skip_remark(parser):
            return _with_unit(parser, operand)


def _primary(parser: _Parser) -> Expression:
    token = parser.peek()
    if token is None:
        raise _Unreadable
    match token.kind:
        case Kind.NUMBER:
            return _number(parser)
        case Kind.OPEN:
            parser.take()
            inner = _sum(parser)
            if not parser.at(Kind.CLOSE):
                raise _Unreadable
            parser.take()
            return inner
        case Kind.FUNCTION:
            return _latex_call(parser)
        case Kind.WORD:
            return _name(parser)
    raise _Unreadable


def _number(parser: _Parser) -> Expression:
    token = parser.take()
    span = Span(start=token.start, end=token.end)
    number = Number(
        value=token.value, percent=token.percent, unit=token.currency, decimals=token.decimals,
        spelled=token.spelled, span=span,
    )  # fmt: skip
    if parser.at(Kind.FUNCTION, "frac") and token.value.denominator == 1 and not token.decimals:
        part = _latex_call(parser)
        if isinstance(part, Binary) and isinstance(part.left, Number) and isinstance(part.right, Number):
            if part.left.value < part.right.value:
                return Binary(op="+", left=number, right=part)
            raise _Unreadable
        return Binary(op="*", left=number, right=part)
    return number


def _argument(parser: _Parser) -> Expression:
    """Read one argument of a LaTeX command: a braced group, a digit or a letter."""
    if parser.at(Kind.NUMBER) or parser.at(Kind.WORD):
        return _number(parser) if parser.at(Kind.NUMBER) else _name(parser)
    if not parser.at(Kind.OPEN):
        raise _Unreadable
    return _primary(parser)


def _latex_call(parser: _Parser) -> Expression:
    name = parser.take().text
    if name == "sqrt" and parser.at(Kind.OPEN, "["):
        return _root(parser)
    if name == "sqrt":
        return Call(name="sqrt", args=(_argument(parser),))
    if name not in ("frac", "binom"):
        raise _Unreadable
    _check_depth(parser)
    top, bottom = _argument(parser), _argument(parser)
    parser.depth -= 1
    return Binary(op="/", left=top, right=bottom) if name == "frac" else Call(name="binom", args=(top, bottom))


def _check_depth(parser: _Parser) -> None:
    parser.depth += 1
    if parser.depth > MAX_DEPTH:
        raise _Unreadable


def _root(parser: _Parser) -> Expression:
    degree = _primary(parser)
    return Call(name="root", args=(_argument(parser), degree))


def _name(parser: _Parser) -> Expression:
    token, following = parser.take(), parser.peek()
    opens = following is not None and following.kind is Kind.OPEN and not following.spaced
    name = _FUNCTION_NAMES.get(token.text, token.text)
    if name in FUNCTIONS and opens:
        return Call(name=name, args=_call_args(parser))
    if not _is_variable(parser, token, following) or (opens and name in OPAQUE):
        raise _Unreadable
    return Variable(name=name, span=Span(start=token.start, end=token.end))


def _call_args(parser: _Parser) -> tuple[Expression, ...]:
    parser.take()
    _check_depth(parser)
    args = [_sum(parser)]
    while parser.at(Kind.COMMA):
        parser.take()
        args.append(_sum(parser))
    if not parser.at(Kind.CLOSE):
        raise _Unreadable
    parser.take()
    parser.depth -= 1
    return tuple(args)


def _is_variable(parser: _Parser, token: Token, following: Token | None) -> bool:
    """Say whether a word is a name in the expression rather than a word of the sentence."""
    if token.text in parser.names or token.text in ("pi", "lambda", "theta", "alpha", "beta"):
        return True
    if len(token.text) > 1 and token.text[1] != "_":
        return False
    before_word = following is not None and following.kind is Kind.WORD and following.spaced
    return not (token.text in "aAI" and before_word)


def _starts_operand(parser: _Parser, ahead: int) -> bool:
    token, following = parser.peek(ahead), parser.peek(ahead + 1)
    if token is None:
        return False
    match token.kind:
        case Kind.NUMBER | Kind.OPEN:
            return True
        case Kind.FUNCTION:
            return token.text != "pmod"
        case Kind.OPERATOR:
            return token.text in "+-" and not token.spaced
        case Kind.WORD:
            named = _FUNCTION_NAMES.get(token.text, token.text) in FUNCTIONS
            return _is_variable(parser, token, following) or (
                named and following is not None and following.kind is Kind.OPEN
            )
    return False


def _starts_implicit(parser: _Parser) -> bool:
    """Say whether the next token multiplies without a sign: `2x`, `2(3 + 4)`, `2\\sqrt{3}`."""
    token = parser.peek()
    if token is None or parser.position == parser.unit_end:
        return False
    if token.kind is Kind.OPEN:
        return token.text in "([{" and (parser.spaced_product or not token.spaced)
    if token.kind is Kind.FUNCTION:
        return token.text != "pmod"
    if token.kind is not Kind.WORD or (token.spaced and not _is_known_letter(parser, token)):
        return False
    return _starts_operand(parser, 0)


def _is_known_letter(parser: _Parser, token: Token) -> bool:
    return token.text == "pi" or (len(token.text) == 1 and token.text in parser.names)


def _skip_remark(parser: _Parser) -> bool:
    """Step over a bracket that holds words only: `8 pounds (math and science)`."""
    if not parser.at(Kind.OPEN, "("):
        return False
    for ahead in range(1, MAX_REMARK):
        token = parser.peek(ahead)
        if token is None or token.kind not in (Kind.WORD, Kind.CLOSE, Kind.COMMA):
            return False
        if token.kind is Kind.CLOSE:
            parser.position += ahead + 1
            return True
        if len(token.text) == 1 and token.kind is Kind.WORD and token.text != "a":
            return False
    return False


def _with_unit(parser: _Parser, operand: Expression) -> Expression:
    """Step over the words that say what is counted, and keep the first as the number's unit."""
    last = parser.tokens[parser.position - 1]
    if last.kind not in (Kind.NUMBER, Kind.CLOSE):
        return operand
    unit = ""
    for _ in range(MAX_UNIT_WORDS):
        token = parser.peek()
        if token is not None and token.kind is Kind.OPERATOR and token.text in "/-" and _unit_follows(parser):
            parser.position += 1
        elif token is None or token.kind is not Kind.WORD or not _is_unit(parser, token):
            break
        token = parser.tokens[parser.position]
        unit = unit or token.text.lower()
        parser.position += 1
        if len(token.text) == 1 and token.text != "°":
            parser.doubts.add("letter")
        _skip_unit_power(parser)
        _skip_remark(parser)
        parser.unit_end = parser.position
    return replace(operand, unit=operand.unit or unit) if unit and isinstance(operand, Number) else operand


def _unit_follows(parser: _Parser) -> bool:
    """Say whether `/` or `-` joins a unit: `60/tire`, `5 hours/day`, `24-hour`."""
    sign, word = parser.peek(), parser.peek(1)
    if sign is None or word is None or word.kind is not Kind.WORD or _is_known_letter(parser, word):
        return False
    known = len(word.text) > 2 or word.text in KNOWN_UNITS
    if sign.text == "-":
        return known and not sign.spaced and not word.spaced
    return known and (len(word.text) > 1 or parser.tokens[parser.position - 1].kind is Kind.WORD)


def _is_unit(parser: _Parser, token: Token) -> bool:
    if _is_known_letter(parser, token) or token.text.lower() in NOT_UNITS:
        return False
    if token.text == "of":
        return not _starts_operand(parser, 1)
    if len(token.text) == 1:
        return token.text == "°" or (token.spaced and token.text in KNOWN_UNITS)
    if token.text in FUNCTIONS:
        return False
    return token.spaced or token.text in KNOWN_UNITS or (len(token.text) > 3 and token.text.islower())


def _skip_unit_power(parser: _Parser) -> None:
    power = parser.peek(1)
    if parser.at(Kind.OPERATOR, "^") and power is not None and power.kind is Kind.NUMBER:
        parser.position += 2
