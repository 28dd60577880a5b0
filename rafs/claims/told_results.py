"""Left sides told in a clause of their own: `When 50 is divided by 8, the remainder`, `a 30 % discount on $90`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rafs.claims.left_sides import LeftSide
from rafs.claims.word_relations import WordRelation
from rafs.grammar.actions import ACTIONS
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.phrase_words import scaled
from rafs.grammar.terms import Binary, Call, Expression, Number, variables
from rafs.grammar.tokens import Kind, Token

_OPENERS = frozenset("when if once after by whenever on upon".split())
_AUXILIARIES = frozenset("is are was were gets get being be".split())
_PARTICIPLES = frozenset(
    "increased decreased reduced raised lowered multiplied divided subtracted added taken deducted discounted squared "
    "cubed doubled tripled halved diminished cut".split()
)
_PRONOUNS = frozenset("we you one i they he she it this that".split())
_RESULTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["result", "answer", "outcome"], ""),
        **{"remainder": "mod", "rest": "mod", "quotient": "/", "product": "*", "sum": "+", "difference": "-"},
    }
)
"""What a result is called, and the operation that it belongs to; "" for any."""
_CHANGED = frozenset("price cost value amount number total wage salary population length area".split())
"""What is called `the new price` after a change."""
_ADJECTIVES = frozenset("new final resulting sale discounted reduced increased whole".split())
_DERIVING = frozenset(
    "get give gives giving gave gets obtain make makes making yield yields yielding leaves leaving resulting".split()
)
_UP = frozenset("increase raise rise markup gain growth surcharge".split())
_DOWN = frozenset("discount decrease reduction markdown drop cut loss fall decline".split())
_PARTS = frozenset("tip tax interest commission fee deposit".split())
_PLACED = frozenset("on of to in off from for".split())
_LEAVING = frozenset(["leave", "leaves", "leaving"])
_ENDS = frozenset([Kind.BREAK, Kind.RELATION, Kind.PLACEHOLDER])
REACH = 40
"""Tokens before a verb in which the clause begins."""
MAX_SUBJECT = 8
"""Tokens of a clause at which its first operand is tried to begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clause:
    """Tokens that tell a calculation: [start, end)."""

    tokens: Sequence[Token]
    names: frozenset[str]
    start: int
    end: int

    def read(self) -> Parsed | None:
        """Read `50 is divided by 8`, `we divide 50 by 8`; None where it is no calculation with numbers alone."""
        for at in range(self.start, min(self.end, self.start + MAX_SUBJECT)):
            if self.tokens[at].kind in (Kind.NUMBER, Kind.OPEN, Kind.FUNCTION, Kind.WORD):
                parsed = self._passive(at) or self._active(at)
                if parsed is not None:
                    return parsed
        return None

    def _passive(self, at: int) -> Parsed | None:
        auxiliary = next((index for index in range(at + 1, self.end - 1) if _is_passive(self.tokens, index)), None)
        subject = None if auxiliary is None else parse_at(self.tokens, at, self.names, spaced_product=False)
        if auxiliary is None or subject is None or subject.end != auxiliary or subject.doubts:
            return None
        opener = replace(self.tokens[at], kind=Kind.OPEN, text="(")
        closer = replace(opener, kind=Kind.CLOSE, text=")")
        told = [opener, *self.tokens[at:auxiliary], closer, *self.tokens[auxiliary + 1 : self.end]]
        return self._whole(told, at)

    def _active(self, at: int) -> Parsed | None:
        first = self.tokens[at].text.lower()
        return self._whole(self.tokens[at : self.end], at) if first in ACTIONS or at == self.start else None

    def _whole(self, told: Sequence[Token], at: int) -> Parsed | None:
        parsed = parse_at(told, 0, self.names, spaced_product=False)
        if parsed is None or parsed.end != len(told) or parsed.doubts or variables(parsed.expression):
            return None
        computed = isinstance(parsed.expression, Binary | Call)
        return replace(parsed, start=at, end=self.end) if computed else None


def _is_passive(tokens: Sequence[Token], index: int) -> bool:
    following = tokens[index + 1]
    return tokens[index].text.lower() in _AUXILIARIES and (
        following.text.lower() in _PARTICIPLES or (following.kind is Kind.OPERATOR and following.text in "*/")
    )


def find_told(tokens: Sequence[Token], said: WordRelation, right: Parsed, names: frozenset[str]) -> LeftSide | None:
    """Return what a clause before a verb tells as its left side; None where none does.

    Args:
        tokens: Tokens of a text.
        said: The verb.
        right: What stands behind it; it tells a change from its size in `a 20 % increase on 50 is 60`.
        names: Words of several letters that are variables here.
    """
    first = said.at
    while first > max(0, said.at - REACH) and tokens[first - 1].kind not in _ENDS:
        first -= 1
    return (
        _interval(tokens, first, said)
        or _statistic(tokens, first, said, names)
        or _change(tokens, first, said, right, names)
        or _result(tokens, first, said, right, names)
        or _derived(tokens, first, said, names)
    )


def _interval(tokens: Sequence[Token], first: int, said: WordRelation) -> LeftSide | None:
    """Read `from 1:10 pm to 3 pm` as the time in between."""
    at = said.start - 4
    if at < first or tokens[at + 1].kind is not Kind.CLOCK or tokens[at + 3].kind is not Kind.CLOCK:
        return None
    if (tokens[at].text.lower(), tokens[at + 2].text) not in (("from", "to"), ("from", "until"), ("between", "and")):
        return None
    ends = [parse_at(tokens, at + place, spaced_product=False) for place in (3, 1)]
    if ends[0] is None or ends[1] is None:
        return None
    length = Binary("-", ends[0].expression, ends[1].expression)
    parsed = Parsed(length, at, said.start, frozenset())
    return LeftSide(parsed, frozenset())


def _statistic(tokens: Sequence[Token], first: int, said: WordRelation, names: frozenset[str]) -> LeftSide | None:
    """Read `for 2, 2, 3, 7 the mode`."""
    place = said.at - 1
    if place <= first or tokens[place].text.lower() not in _STATISTICS or tokens[first].text.lower() not in _GIVEN:
        return None
    end = place - (tokens[place - 1].text.lower() == "the")
    end -= tokens[end - 1].kind is Kind.COMMA
    told = [tokens[place], replace(tokens[place], text="of"), *tokens[first + 1 : end]]
    parsed = parse_at(told, 0, names, spaced_product=False)
    if parsed is None or parsed.end != len(told) or parsed.doubts or variables(parsed.expression):
        return None
    return LeftSide(replace(parsed, start=first, end=end), frozenset())


_STATISTICS = frozenset("mean average median mode range sum total product gcd lcm gcf hcf maximum minimum".split())
_GIVEN = frozenset("for of in given among with".split())


def _change(
    tokens: Sequence[Token], first: int, said: WordRelation, right: Parsed, names: frozenset[str]
) -> LeftSide | None:
    """Read `a 30 % discount on $90`, `a decrease of 25 % of 40`."""
    for place in range(said.start - 2, max(first, said.start - MAX_SUBJECT), -1):
        if tokens[place].text.lower() not in _PLACED:
            continue
        whole = parse_at(tokens, place + 1, names, spaced_product=False)
        end = place - (tokens[place - 1].text.lower() == "applied")
        named, size = tokens[end - 1], tokens[end - 2] if end > first + 1 else None
        start = end - 2
        if named.kind is Kind.NUMBER and end > first + 2 and size is not None and size.text.lower() == "of":
            named, size, start = tokens[end - 3], named, end - 3
        kind = named.text.lower()
        if whole is None or whole.end != said.start or size is None or size.kind is not Kind.NUMBER or not size.percent:
            continue
        if kind not in _UP | _DOWN | _PARTS or whole.doubts or variables(whole.expression):
            return None
        share = Number(value=size.value, percent=True, decimals=size.decimals)
        left = _meant(kind, share, whole.expression, right, leaves=tokens[said.at].text.lower() in _LEAVING)
        return LeftSide(replace(whole, expression=left, start=start), frozenset())
    return None


def _meant(kind: str, share: Number, whole: Expression, right: Parsed, *, leaves: bool) -> Expression:
    """Return the changed whole, or the size of the change where the right side shows that this is meant."""
    part = Binary("*", share, whole)
    is_part = not leaves and evaluate(right.expression) == evaluate(part)
    return part if is_part else scaled(whole, share, up=kind not in _DOWN)


def _result(
    tokens: Sequence[Token], first: int, said: WordRelation, right: Parsed, names: frozenset[str]
) -> LeftSide | None:
    """Read `When 50 is divided by 8, the remainder`, `if we add 3 to 4, we`."""
    opener = next((at for at in range(first, said.at) if tokens[at].text.lower() in _OPENERS), None)
    name, subject = _name_of_result(tokens, said)
    if opener is None or name is None:
        return None
    end = next((at for at in range(opener + 1, subject) if tokens[at].kind is Kind.COMMA), subject)
    told = _Clause(tokens=tokens, names=names, start=opener + 1, end=end).read()
    if told is None:
        return None
    expression = _named(told.expression, name, right)
    if expression is None:
        return None
    doubts = frozenset(["another total"]) if name == "changed" else frozenset[str]()
    return LeftSide(replace(told, expression=expression, start=opener), doubts)


def _name_of_result(tokens: Sequence[Token], said: WordRelation) -> tuple[str | None, int]:
    """Return what the subject of a verb is called, and where it begins: `the new price`, `we`; None for another."""
    at = said.at
    if at and tokens[at - 1].text.lower() in _PRONOUNS:
        return "", at - 1
    noun = tokens[at - 1].text.lower() if at else ""
    at -= 1
    adjectives = at
    while at and tokens[at - 1].text.lower() in _ADJECTIVES:
        at -= 1
    is_changed = noun in _CHANGED and at < adjectives
    if at and tokens[at - 1].text.lower() in ("the", "a", "this", "its", "your"):
        at -= 1
    return ("changed" if is_changed else _RESULTS.get(noun)), at


def _named(told: Expression, name: str, right: Parsed) -> Expression | None:
    """Return the remainder, quotient, ... of a calculation; None where it has none of that name."""
    if name in ("", "changed"):
        return told
    op = "/" if name == "mod" else name
    if not isinstance(told, Binary) or told.op != op:
        return None
    if name == "mod":
        return replace(told, op="mod")
    whole = Call(name="floor", args=(told,))
    return whole if name == "/" and evaluate(whole) == evaluate(right.expression) else told


def _derived(tokens: Sequence[Token], first: int, said: WordRelation, names: frozenset[str]) -> LeftSide | None:
    """Read `5 is subtracted from 12` before `to get`."""
    if tokens[said.at].text.lower() not in _DERIVING:
        return None
    passive = [at for at in range(first, said.start - 1) if _is_passive(tokens, at)]
    if len(passive) != 1:
        return None
    told = _Clause(tokens=tokens, names=names, start=max(first, passive[0] - MAX_SUBJECT), end=said.start).read()
    return None if told is None else LeftSide(told, frozenset())
