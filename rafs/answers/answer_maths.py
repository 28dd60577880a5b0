"""Reads the mathematics of an answer: more implicit products than running text may have, since no words are near."""

import re

from rafs.answers.answer_text import GREEK, with_greek_letters
from rafs.grammar.expressions import parse_expression
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable, walk

MAX_MATHS_CHARS = 1000
"""Characters of an answer that is read as mathematics."""
_FUNCTIONS = tuple(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log lg exp sqrt abs gcd lcm min max binom det mod "
    "frac cdot times div infty lfloor rfloor lceil rceil overline dot bar floor ceil root pi".split()
)
_NAMED = re.compile(rf"\\?(?:{'|'.join(sorted(_FUNCTIONS, key=len, reverse=True))})(?![a-z])")
_TOKEN = re.compile(
    rf"(?P<named>{_NAMED.pattern})|(?P<command>\\[A-Za-z]+)|(?P<letters>[A-Za-z]+|[{GREEK}])|(?P<other>.)", re.DOTALL
)
_SCALAR = frozenset(
    "sqrt root abs gcd lcm binom perm floor ceil min max mean log ln lg exp factorial subfactorial sin cos tan cot sec "
    "csc arcsin arccos arctan sinh cosh tanh sum product integral limit ambiguous Re Im arg conj".split()
)
"""Functions whose values are numbers."""
_APPLIED = frozenset("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log lg exp".split())
MAX_RUN = 5
"""Letters that are read as a product, `xyz`; longer ones are a word."""
_SUBSCRIPT = re.compile(r"_(?:\{[^{}]{0,30}\}|\w)")
_POWER_OF_CALL = re.compile(
    r"(?P<name>\\?(?:sin|cos|tan|cot|sec|csc|ln))\s?\^\s?\{?(?P<power>\d)\}?\s?"
    r"\(?(?P<argument>(?<=\()[^()]{1,60}(?=\))|(?<!\()\d{0,6}\s?(?:\\?pi|[a-zα-ω])(?![a-z])°?|\d{1,4}°)\)?"
)
"""`sin^2 t`, to be read as (sin t)^2."""
_WORDY = re.compile(r"[A-Za-z]{2}")
_AFTER_BRACE = re.compile(r"(?<=[)}\]])\s?(?=\d)")
_WORD = frozenset(
    "a i an as at be by do go he if in is it me my no of on or so to up us we and are but for not the".split()
)
_FACTORS = frozenset("abckmnpqrstuvwxyz")
_PRODUCTS = frozenset("ab ac bc abc mn pq st rt uv".split())
_DEGREES = frozenset(["°", "degree", "degrees", "deg"])


def read_maths(text: str) -> Expression | None:
    """Read an expression; None where the text is no mathematics throughout."""
    if len(text) > MAX_MATHS_CHARS or "±" in text or not text:
        return None
    text = with_greek_letters(text, bare=True)
    expression = parse_expression(text)
    if expression is not None and is_plain(expression):
        return expression
    explicit = _explicit(text)
    if explicit is None:
        return None
    rewritten, names = explicit
    expression = parse_expression(rewritten, names)
    return expression if expression is not None and is_plain(expression) else None


def is_plain(expression: Expression) -> bool:
    """Say whether the reader took no word of the text for a unit: units are read by the caller, not skipped."""
    degrees = {
        leaf for call in walk(expression) if isinstance(call, Call) and call.name in _APPLIED
        for leaf in walk(call) if isinstance(leaf, Number) and leaf.unit in _DEGREES
    }  # fmt: skip
    if any(isinstance(node, Call) and node.name not in _SCALAR for node in walk(expression)):
        return False  # sets, tuples and intervals are read by the caller too
    if any(isinstance(node, Variable) and node.name in "∞∅" for node in walk(expression)):
        return False
    return not any(
        isinstance(leaf, Number) and (leaf.unit or leaf.percent) and leaf not in degrees for leaf in walk(expression)
    )


def readings(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression may mean: both, where `1/2x` or `6 / 3/4` leaves open what is divided by what."""
    if not any(isinstance(node, Call) and node.name == "ambiguous" for node in walk(expression)):
        return (expression,)
    return (_settled(expression, far=False), _settled(expression, far=True))


def _settled(node: Expression, *, far: bool) -> Expression:
    match node:
        case Call(name="ambiguous", args=(inner,)):
            return _settled_product(inner, far=far)
        case Call():
            return Call(name=node.name, args=tuple(_settled(arg, far=far) for arg in node.args))
        case Unary():
            return Unary(op=node.op, operand=_settled(node.operand, far=far))
        case Binary():
            return Binary(op=node.op, left=_settled(node.left, far=far), right=_settled(node.right, far=far))
    return node


def _settled_product(inner: Expression, *, far: bool) -> Expression:
    """Read `(a/b) c` as it stands or as `a / (b c)`; and `(a/b) / c` as it stands or as `a / (b/c)`."""
    if not isinstance(inner, Binary):
        return _settled(inner, far=far)
    left, right = _settled(inner.left, far=far), _settled(inner.right, far=far)
    if far and isinstance(left, Binary) and left.op == "/":
        return Binary(op="/", left=left.left, right=Binary(op=inner.op, left=left.right, right=right))
    return Binary(op=inner.op, left=left, right=right)


def _explicit(text: str) -> tuple[str, frozenset[str]] | None:
    """Set runs of letters apart and put a sign before functions; None where words stand in it."""
    if text.replace(" ", "").isalpha() and _WORDY.search(text) and not is_product(text):
        return None
    text = _POWER_OF_CALL.sub(r"(\g<name>(\g<argument>))^\g<power>", text)
    parts: list[str] = []
    names: set[str] = set()
    before = ""  # the last piece that is no space
    for token in _TOKEN.finditer(_AFTER_BRACE.sub("*", text)):
        piece = token.group()
        if token["letters"]:
            is_word = piece.isascii()
            run = _run(piece) if is_word else f" {piece} "
            if run is None or (is_word and before.isalpha() and max(len(before), len(piece)) > 1):
                return None
            names |= set(piece)
            parts.append(run)
        else:
            applied = token["named"] is not None and piece.lstrip("\\") in _APPLIED
            parts.append("*" + piece if applied and _is_operand(before) else piece)
        before = before if piece.isspace() else piece
    return "".join(parts), frozenset(names)


def _is_operand(piece: str) -> bool:
    """Say whether a piece ends an operand, so that what follows without a sign is a factor."""
    named = _NAMED.fullmatch(piece) is not None and piece.lstrip("\\") != "pi"
    return not named and (piece[-1:].isalnum() or piece[-1:] in tuple(")}]!"))


def _run(letters: str) -> str | None:
    """Return `x y z` for `xyz`, and nothing for a word."""
    if len(letters) == 1:
        return letters
    if len(letters) > MAX_RUN or letters.lower() in _WORD:
        return None
    vowels = sum(letter in "aeiouAEIOU" for letter in letters)
    return " ".join(letters) if len(letters) < 4 or not vowels else None


def is_product(letters: str) -> bool:
    """Say whether letters that stand alone are a product: `xy`, but not `is`."""
    return (
        1 < len(letters) <= 3 and set(letters) <= _FACTORS and (bool(set(letters) & set("xyz")) or letters in _PRODUCTS)
    )
