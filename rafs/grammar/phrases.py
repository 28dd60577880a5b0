"""Values in words: `half of 10`, `3 more than 5`, `the median of 4, 1 and 9`, `50 increased by 20 %`.

A phrase begins with words (`starts_phrase`, `read_phrase`) or joins what stands before it to what follows (`join`,
`raised`). Where English leaves the grouping open, as in `the sum of 3 and 4 times 2`, the reading is doubted.
"""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from rafs.grammar.actions import ACTIONS, read_action, starts_action
from rafs.grammar.cursor import Cursor, deepen
from rafs.grammar.named_values import FIRST_WORDS, read_named, starts_named
from rafs.grammar.phrase_words import (
    ARTICLES,
    SHARES,
    find_words,
    is_share,
    number_follows,
    read_operand,
    scaled,
    skip_article,
    take_words,
    word_at,
)
from rafs.grammar.terms import Binary, Expression, Number, Unary
from rafs.grammar.tokens import Kind
from rafs.types import Span

_TIMES: Mapping[str, int] = MappingProxyType(
    {"twice": 2, "double": 2, "thrice": 3, "triple": 3, "treble": 3, "quadruple": 4, "quintuple": 5}
)
SIGN_WORDS = frozenset(["negative", "minus"])
"""Words that are the sign of a number behind them."""
PHRASE_WORDS = FIRST_WORDS | ACTIONS | frozenset(_TIMES)
"""Words with which a phrase may begin."""
_MUCH = frozenset("many much large big great long tall high old heavy far fast wide deep expensive".split())
_JOINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["more than", "greater than", "larger than", "bigger than", "higher than", "above"], "more"),
        **dict.fromkeys(["less than", "fewer than", "smaller than", "lower than", "below", "cheaper than"], "less"),
        **dict.fromkeys(["added to", "plus"], "plus"),
        **dict.fromkeys(["subtracted from", "taken from", "taken away from", "deducted from"], "from"),
        **dict.fromkeys(["decreased by", "reduced by", "diminished by", "lowered by", "discounted by"], "down"),
        **dict.fromkeys(["increased by", "raised by"], "up"),
        **dict.fromkeys(["minus", "less", "take away"], "minus"),
        **dict.fromkeys(["multiplied by", "times"], "times"),
        **dict.fromkeys(["divided by", "out of", "per"], "divided"),
        **dict.fromkeys(["off", "off of"], "off"),
        **dict.fromkeys(["raised to the power of", "raised to the power", "to the power of", "to the power"], "power"),
    }
)
"""Words between two operands."""
_LONGEST_JOINT = 5
_JOINT_WORDS = frozenset(words.split()[0] for words in _JOINTS)
ADDING = frozenset(["more", "less", "plus", "minus", "from", "up", "down"])
"""Joints that group like `+`."""
MULTIPLYING = frozenset(["times", "times as", "divided", "off"])
"""Joints that group like `*`."""
_ADDED = frozenset("tip tax gratuity surcharge markup fee interest discount commission vat".split())
"""What a percentage of an amount is that is added to it or taken off: `$45 plus a 20 % tip`."""
_OF_SHARES = frozenset(["above", "below", "off", "cheaper"])
"""First words of joints that have other uses, unless a percentage stands before them: `20 % off 50`."""
_POWERS = MappingProxyType({"squared": 2, "cubed": 3})
_VERBS = frozenset("becomes totals exceeds divides isn't aren't doesn't fell rose you also".split())
_VERBS_WITH = MappingProxyType(
    {
        **dict.fromkeys(
            "comes come amounts sums evaluates simplifies simplify reduces converts rounds equates".split(), "to"
        ),
        **{
            "results": "in",
            "resulting": "in",
            "adds": "up",
            "add": "up",
            "works": "out",
            "goes": "into",
            "does": "not",
        },
    }
)
"""Verbs behind a number, which are no unit of it; the words on the right tell `comes to` from what may be counted."""
_ORDINALS = MappingProxyType(
    {
        **{word: n for n, word in enumerate("second third fourth fifth sixth seventh eighth ninth tenth".split(), 2)},
        **{f"{n}{end}": n for n, end in zip(range(2, 21), ["nd", "rd", *["th"] * 17], strict=True)},
    }
)


def starts_phrase(cursor: Cursor, ahead: int = 0) -> bool:
    """Say whether a value in words begins that many places ahead: `the sum of`, `twice`, `adding 5`."""
    word = word_at(cursor, ahead)
    if word in ("the", "a", "an"):
        ahead += 1
        word = word_at(cursor, ahead)
    if word in SIGN_WORDS and number_follows(cursor, ahead + 1):
        return True
    if word and word not in PHRASE_WORDS:
        return False
    if word in _TIMES:
        return _operand_follows(cursor, ahead + 1) or _is_as_much_as(cursor, ahead + 1)
    return starts_named(cursor, ahead) or starts_action(cursor, ahead)


def past_article(cursor: Cursor, ahead: int) -> int:
    """Return the place behind an article before a number, as in `half of the 12`; else the place itself."""
    return ahead + 1 if word_at(cursor, ahead) in ARTICLES and number_follows(cursor, ahead + 1) else ahead


def _operand_follows(cursor: Cursor, ahead: int) -> bool:
    token = cursor.peek(ahead)
    if word_at(cursor, ahead) in ("a", "one") and word_at(cursor, ahead + 1) in SHARES:
        return True
    return past_article(cursor, ahead) > ahead or (
        token is not None and (token.kind in (Kind.NUMBER, Kind.OPEN, Kind.FUNCTION) or starts_phrase(cursor, ahead))
    )


def _is_as_much_as(cursor: Cursor, ahead: int) -> bool:
    return [word_at(cursor, ahead), word_at(cursor, ahead + 2)] == ["as", "as"] and word_at(cursor, ahead + 1) in _MUCH


def read_phrase(cursor: Cursor) -> Expression:
    """Read the value in words that begins here.

    Raises:
        Unreadable: It is none that this grammar reads.
    """
    deepen(cursor)
    skip_article(cursor)
    word = word_at(cursor, 0)
    value: Expression
    if word in _TIMES:
        token = cursor.take()
        factor = Number(value=Fraction(_TIMES[word]), spelled=True, span=Span(start=token.start, end=token.end))
        take_words(cursor, 3 if _is_as_much_as(cursor, 0) else 0)
        value = Binary(op="*", left=factor, right=read_operand(cursor))
    elif word in SIGN_WORDS and number_follows(cursor, 1):
        cursor.take()
        value = Unary(op="-", operand=cursor.power())
    else:
        value = read_action(cursor) if starts_action(cursor, 0) else read_named(cursor)
    cursor.depth -= 1
    return value


def ends_operand(cursor: Cursor) -> bool:
    """Say whether the word here belongs to a phrase rather than to the unit of the number before it."""
    word = word_at(cursor, 0)
    if word == "a" and word_at(cursor, 1) == "dozen":
        return True
    if word in ("by", "from", "to"):
        return _operand_follows(cursor, 1)
    if word in _VERBS or (word in _VERBS_WITH and word_at(cursor, 1) == _VERBS_WITH[word]):
        return True
    if word in _POWERS:
        return cursor.tokens[cursor.position - 1].kind in (Kind.NUMBER, Kind.CLOSE)
    return word in ("times", "rounded", "divided", "percent") or bool(_joint(cursor)[0])


def _joint(cursor: Cursor) -> tuple[str, int]:
    """Return what the words here join two operands to, and their number; ("", 0) where they do not."""
    word = word_at(cursor, 0)
    if word not in _JOINT_WORDS:
        return "", 0
    if word == "times" and _is_as_much_as(cursor, 1):
        return "times as", 4
    kind, n_words = find_words(cursor, 0, _JOINTS, _LONGEST_JOINT)
    return (kind, n_words) if kind and _operand_follows(cursor, n_words) else ("", 0)


def raised(cursor: Cursor, base: Expression) -> Expression:
    """Return `base` to the power that is told behind it: `squared`, `cubed`, `to the fourth power`."""
    kind, n_words = _joint(cursor)
    if kind == "power":
        take_words(cursor, n_words)
        return Binary(op="^", left=base, right=read_operand(cursor))
    word = word_at(cursor, 0)
    power, n_words = _POWERS.get(word), 1
    if power is None:
        if word not in ("to", "raised"):
            return base
        start = 1 if word == "raised" else 0
        power, n_words = _ORDINALS.get(word_at(cursor, start + 2)), start + 4
        if [word_at(cursor, start + ahead) for ahead in (0, 1, 3)] != ["to", "the", "power"] or power is None:
            return base
    take_words(cursor, n_words)
    return Binary(op="^", left=base, right=Number(value=Fraction(power), spelled=True))


def join(cursor: Cursor, left: Expression, kinds: frozenset[str]) -> Expression | None:
    """Join `left` to the operand behind words of these kinds; None where no such words stand."""
    if kinds is MULTIPLYING and is_share(left) and [word_at(cursor, 0), word_at(cursor, 1)] == ["a", "dozen"]:
        take_words(cursor, 2)
        return Binary(op="*", left=left, right=Number(value=Fraction(12), spelled=True))
    kind, n_words = _joint(cursor)
    if kind not in kinds or (word_at(cursor, 0) in _OF_SHARES and not is_share(left)):
        return None
    word = word_at(cursor, 0)
    take_words(cursor, n_words)
    if kind in ("up", "down") and word_at(cursor, 0) in ("a", "one"):
        right = read_operand(cursor)
    else:
        skip_article(cursor)
        right = read_operand(cursor) if kind in MULTIPLYING else cursor.product()
    if kind == "divided" and is_tight_slash(cursor):
        cursor.take()
        cursor.doubts.add("joined")
        right = Binary(op="/", left=right, right=read_operand(cursor))
    if (word == "per" and not isinstance(left, Number)) or (word == "out" and cursor.at(Kind.OPERATOR)):
        cursor.doubts.add("joined")  # `24 rows / 4 rows per minute`, `7 draws out of the 6 * 6`
    if kind in ("plus", "minus") and is_share(right) and not is_share(left):
        if isinstance(right, Number) and right.unit in _ADDED:
            return scaled(left, right, up=kind == "plus")
        cursor.doubts.add("percent")
    if kind in ("up", "down") and isinstance(left, Binary) and left.op in "+-":
        cursor.doubts.add("joined")
    return _joined(kind, left, right)


def is_tight_slash(cursor: Cursor) -> bool:
    """Say whether a fraction goes on here: `1 divided by 3/5`."""
    slash, bottom = cursor.peek(), cursor.peek(1)
    return cursor.at(Kind.OPERATOR, "/") and not (slash is None or bottom is None or slash.spaced or bottom.spaced)


def _joined(kind: str, left: Expression, right: Expression) -> Expression:
    match kind:
        case "more" | "less" if is_share(left):
            return scaled(right, left, up=kind == "more")
        case "up" | "down" if is_share(right):
            return scaled(left, right, up=kind == "up")
        case "more" | "plus":
            return _told("+", right, left) if kind == "more" else _told("+", left, right)
        case "less" | "from":
            return _told("-", right, left)
        case "off":
            return scaled(right, left, up=False)
    op = {"up": "+", "down": "-", "minus": "-", "divided": "/"}.get(kind, "*")
    return _told(op, left, right)


def _told(op: str, left: Expression, right: Expression) -> Expression:
    return Binary(op=op, left=left, right=right, spoken=True)
