"""Named values: `the product of 6 and 7`, `the square root of 49`, `the remainder when 17 is divided by 5`."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from rafs.grammar.cursor import Cursor, Unreadable
from rafs.grammar.phrase_words import change, find_words, list_items, read_operand, take_words, word_at
from rafs.grammar.terms import Binary, Call, Expression, Number
from rafs.grammar.tokens import Kind

_SIZES = ("least", "lowest", "smallest")
_LISTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["sum", "total", "combined total", "grand total"], "+"),
        "product": "*",
        **{f"{kind} mean": f"{kind} mean" for kind in ("geometric", "harmonic")},
        **dict.fromkeys(["average", "mean", "arithmetic mean", "average value", "mean value"], "mean"),
        "difference": "ordered -",
        **dict.fromkeys(["positive difference", "absolute difference"], "-"),
        **dict.fromkeys(["quotient", "ratio"], "/"),
        **{name: name for name in ("median", "mode", "range", "gcd", "lcm")},
        **dict.fromkeys(["gcf", "hcf"], "gcd"),
        **{
            f"{size} common {name}": "gcd"
            for size in ("greatest", "highest", "largest")
            for name in ("divisor", "factor", "measure")
        },
        **{f"{size} common {name}": "lcm" for size in _SIZES for name in ("multiple", "denominator")},
        **dict.fromkeys(["maximum", "max", "largest", "greatest"], "max"),
        **dict.fromkeys(["minimum", "min", "smallest"], "min"),
    }
)
"""Names of what is made of a list."""
_SINGLE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["square root", "positive square root", "principal square root"], "sqrt"),
        **{name: name for name in ("square", "cube", "cube root", "factorial")},
        **dict.fromkeys(["reciprocal", "multiplicative inverse"], "reciprocal"),
        **dict.fromkeys(["negative reciprocal", "opposite reciprocal"], "negative reciprocal"),
        **dict.fromkeys(["opposite", "additive inverse", "negation"], "opposite"),
        "absolute value": "abs",
    }
)
"""Names of what is made of one operand."""
_RISES, _FALLS = ("increase", "rise", "gain", "growth"), ("decrease", "drop", "fall", "loss", "reduction")
_CHANGES: Mapping[str, str] = MappingProxyType(
    {
        f"{share} {name}": kind
        for share in ("percent", "percentage", "%", "relative", "per cent")
        for kind, names in (("increase", _RISES), ("decrease", _FALLS), ("either", ("change", "difference")))
        for name in names
    }
)
_NAMES: Mapping[str, str] = MappingProxyType({**_LISTS, **_SINGLE, **_CHANGES, "remainder": "remainder"})
_QUALIFYING = frozenset(
    "weighted quadratic logarithmic trimmed interquartile digit digital alternating squared common golden cross dot "
    "symmetric standard partial".split()
)
"""Words before a name that make another value of it, which is not read: `the weighted average of`."""
_JOINING = frozenset(["plus", "minus", "times", "multiplied", "divided"])
_LINKS = frozenset(["of", "between", "from", "when", "on", "upon", "for"])
_LONGEST = 4
_LOGARITHMS = frozenset(["log", "logarithm"])
FIRST_WORDS = frozenset(name.split()[0] for name in _NAMES) | _LOGARITHMS
"""Words with which a named value begins."""


def starts_named(cursor: Cursor, ahead: int) -> bool:
    """Say whether a named value stands that many places ahead."""
    if word_at(cursor, ahead) not in FIRST_WORDS and cursor.symbol(ahead) != "%":
        return False
    if word_at(cursor, ahead) in _LOGARITHMS:
        return word_at(cursor, ahead + 1) == "base" or (word_at(cursor, ahead), word_at(cursor, ahead + 1)) == _OF_BASE
    if word_at(cursor, ahead - 1) in _QUALIFYING and cursor.position + ahead > 0:
        return False
    name, n_words = find_words(cursor, ahead, _NAMES, _LONGEST)
    return bool(name) and word_at(cursor, ahead + n_words) in _LINKS


def read_named(cursor: Cursor) -> Expression:
    """Read the named value that stands here.

    Raises:
        Unreadable: Its operands are none that this grammar reads.
    """
    if word_at(cursor, 0) in _LOGARITHMS:
        return _logarithm(cursor)
    _, n_words = find_words(cursor, 0, _NAMES, _LONGEST)
    written = " ".join(word_at(cursor, ahead) or "%" for ahead in range(n_words))
    take_words(cursor, n_words)
    link = cursor.take().text.lower()
    if written in _CHANGES:
        return _change(cursor, _CHANGES[written], link)
    if link == "from":
        raise Unreadable
    if written == "remainder":
        return _remainder(cursor, link)
    if written in _SINGLE:
        return _of_one(cursor, _SINGLE[written])
    if written == "quotient" and link == "when":
        return _divided(cursor, cursor.power())
    if written == "ratio" and (ratio := _written_ratio(cursor)) is not None:
        return ratio
    return _of_list(_LISTS[written], list_items(cursor))


_OF_BASE = ("logarithm", "of")


def _logarithm(cursor: Cursor) -> Expression:
    """Read `log base 2 of 16`, `logarithm of 16 to the base 2`."""
    cursor.take()
    if cursor.take().text == "base":
        base = cursor.power()
        if word_at(cursor, 0) == "of":
            cursor.take()
        return Call(name="log", args=(base, read_operand(cursor)))
    value = read_operand(cursor)
    n_words = 3 if word_at(cursor, 1) == "the" else 2
    if word_at(cursor, 0) not in ("to", "in") or word_at(cursor, n_words - 1) != "base":
        raise Unreadable
    take_words(cursor, n_words)
    return Call(name="log", args=(cursor.power(), value))


def _written_ratio(cursor: Cursor) -> Expression | None:
    """Read the `14 : 21` of `a ratio of 14 : 21`; None, and the cursor where it was, before `14 to 21`."""
    start = cursor.position
    item = cursor.product()
    if (isinstance(item, Binary) and item.op == "/") or (isinstance(item, Call) and item.name == "ratio"):
        return item
    cursor.position = start
    return None


def _of_list(name: str, items: list[Expression]) -> Expression:
    if name in "+*":
        result = items[0]
        for item in items[1:]:
            result = Binary(op=name, left=result, right=item)
        return result
    if name in ("-", "ordered -", "/"):
        if len(items) != 2:
            raise Unreadable
        result = Binary(op=name[-1], left=items[0], right=items[1], spoken=name == "ordered -")
        return result if name == "/" else Call(name="abs", args=(result,))
    if name in ("geometric mean", "harmonic mean"):
        return _mean(name, items)
    return Call(name=name, args=tuple(items))


def _mean(name: str, items: list[Expression]) -> Expression:
    """Return the root of the product of n items, or n divided by the sum of what 1 divided by each of them is."""
    count, one = Number(value=Fraction(len(items))), Number(value=Fraction(1))
    if name == "geometric mean":
        return Call(name="root", args=(_of_list("*", items), count))
    return Binary(op="/", left=count, right=_of_list("+", [Binary(op="/", left=one, right=item) for item in items]))


def _of_one(cursor: Cursor, name: str) -> Expression:
    operand = read_operand(cursor)
    bracketed = cursor.tokens[cursor.position - 1].kind is Kind.CLOSE
    if not bracketed and (cursor.at(Kind.OPERATOR, "+", "-", "*", "/") or word_at(cursor, 0) in _JOINING):
        cursor.doubts.add("joined")
    match name:
        case "square" | "cube":
            return Binary(op="^", left=operand, right=Number(value=Fraction(2 if name == "square" else 3)))
        case "reciprocal" | "negative reciprocal":
            if word_at(cursor, 0) in ("mod", "modulo") or word_at(cursor, 1) in ("mod", "modulo"):
                raise Unreadable
            sign = 1 if name == "reciprocal" else -1
            return Binary(op="/", left=Number(value=Fraction(sign)), right=operand)
        case "opposite":
            return Binary(op="-", left=Number(value=Fraction(0)), right=operand)
        case "cube root":
            return Call(name="root", args=(operand, Number(value=Fraction(3))))
    return Call(name=name, args=(operand,))


def _remainder(cursor: Cursor, link: str) -> Expression:
    """Read `when 17 is divided by 5`, `of 17 / 5`, `when dividing 17 by 5`, `of 17 divided by 5`."""
    dividing = False
    while word_at(cursor, 0) in ("we", "you", "dividing", "divide"):
        dividing = cursor.take().text.lower().startswith("divid")
    top = cursor.product() if link == "of" else cursor.power()
    if dividing:
        if word_at(cursor, 0) != "by":
            raise Unreadable
        cursor.take()
        return Binary(op="mod", left=top, right=read_operand(cursor))
    division = top if isinstance(top, Binary) and top.op == "/" else _divided(cursor, top)
    return Binary(op="mod", left=division.left, right=division.right)


def _divided(cursor: Cursor, top: Expression) -> Binary:
    """Read `is divided by 5` behind a dividend."""
    if word_at(cursor, 0) in ("is", "was", "gets"):
        cursor.take()
    if word_at(cursor, 0) == "divided" and word_at(cursor, 1) == "by":
        take_words(cursor, 2)
    elif cursor.at(Kind.OPERATOR, "/"):
        cursor.take()
    else:
        raise Unreadable
    return Binary(op="/", left=top, right=read_operand(cursor))


def _change(cursor: Cursor, kind: str, link: str) -> Expression:
    """Read `from 40 to 50` behind `percent increase`."""
    if link != "from":
        raise Unreadable
    before = cursor.product()
    if word_at(cursor, 0) != "to":
        raise Unreadable
    cursor.take()
    return change(kind, before, cursor.product())
