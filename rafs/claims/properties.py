"""Facts about whole numbers told in words: `30 is divisible by 4`, `7 divides 28`, `91 is prime`, `5 goes into 20`."""

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from types import MappingProxyType

from rafs.claims.left_sides import find_left
from rafs.claims.relations import Link
from rafs.claims.right_sides import is_steered, span_of
from rafs.grammar.expressions import evaluate
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.terms import Binary, Call, Expression, variables
from rafs.grammar.tokens import Kind, Token
from rafs.immutable import immutable
from rafs.types import Span

MAX_TESTED = 10**18
"""Numbers above are not tested; the bases of the prime test below suffice to 3.3e24."""
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_IS = frozenset(["is", "are", "was", "isn't", "aren't"])
_FILLERS = frozenset("a an the also indeed clearly exactly itself evenly both all".split())
_TAIL = frozenset(
    "number numbers because since so and but as which while hence therefore thus then too however or if for whereas "
    "integer integers value we it he she there that too by".split()
)
"""Words that may follow a property without making another one of it, as `3 is a prime factor of 12` does."""
_GOVERNING = frozenset("of for by in with between from to than at per".split())
"""Words before a number of which something else is told."""
_MAX_FILLERS = 3
MAX_LISTED = 20
"""Numbers of one list of which something is said."""


def is_prime(number: int) -> bool:
    """Say whether a number is prime: Miller and Rabin's test with bases that decide every number up to 3.3e24."""
    if number < 2 or any(number % base == 0 for base in _WITNESSES):
        return number in _WITNESSES
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _WITNESSES:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _is_power(number: int, degree: int) -> bool:
    root = isqrt(abs(number)) if degree == 2 else round(abs(number) ** (1 / 3))
    return number >= 0 and any(near**degree == number for near in (root - 1, root, root + 1))


_OF_ONE: Mapping[tuple[str, ...], Callable[[int], bool]] = MappingProxyType(
    {
        ("prime",): is_prime,
        ("composite",): lambda number: number > 3 and not is_prime(number),
        ("even",): lambda number: number % 2 == 0,
        ("odd",): lambda number: number % 2 == 1,
        ("perfect", "square"): lambda number: _is_power(number, 2),
        ("square", "number"): lambda number: _is_power(number, 2),
        ("perfect", "cube"): lambda number: _is_power(number, 3),
    }
)
_OF_TWO: Mapping[tuple[str, ...], bool] = MappingProxyType(
    {
        ("divisible", "by"): True,
        ("evenly", "divisible", "by"): True,
        ("multiple", "of"): True,
        ("factor", "of"): False,
        ("divisor", "of"): False,
        ("prime", "factor", "of"): False,
    }
)
"""Properties of a pair; True where the left side is the multiple."""
_DIVIDES: Mapping[tuple[str, ...], bool] = MappingProxyType(
    {
        ("divides",): True,
        ("evenly", "divides"): True,
        ("does", "not", "divide"): False,
        ("doesn't", "divide"): False,
    }
)
_NOUNS = frozenset(words[0] for words in (*_OF_ONE, *_OF_TWO))
DIVIDING_SIGNS: Mapping[str, bool] = MappingProxyType({"\\mid": True, "∣": True, "\\nmid": False, "∤": False})
"""Signs between a divisor and its multiple; False where they deny it."""
PROPERTY_WORDS = _IS | {words[0] for words in _DIVIDES} | set(DIVIDING_SIGNS) | {"goes"}
"""Words and signs with which a fact is told."""


@immutable
class _Place:
    """A place in a text from which a property is read."""

    tokens: Sequence[Token]
    names: frozenset[str]
    index: int

    def words(self, start: int, n_words: int) -> tuple[str, ...]:
        return tuple([token.text.lower() for token in self.tokens[start : start + n_words]])

    def left(self) -> Parsed | None:
        """Return the number before, where nothing puts the reading in doubt."""
        found = find_left(self.tokens, self.index, self.names, across_breaks=False)
        if found is None or variables(found.parsed.expression):
            return None
        start = found.parsed.start
        if found.doubts and not (found.doubts == {"label"} and self.words(start - 1, 1) == ("and",)):
            return None
        return None if start and self.tokens[start - 1].kind in (Kind.RELATION, Kind.JUNK) else found.parsed

    def listed(self) -> list[Parsed]:
        """Return the numbers of a list before: `7, 11 and 13 are prime`."""
        found: list[Parsed] = []
        at = self.index
        while at and self.tokens[at - 1].kind is Kind.NUMBER and len(found) < MAX_LISTED:
            parsed = parse_at(self.tokens, at - 1, self.names, spaced_product=False)
            if parsed is None:
                return []
            found.insert(0, parsed)
            at -= 1
            while at and (self.tokens[at - 1].kind is Kind.COMMA or self.tokens[at - 1].text.lower() == "and"):
                at -= 1
        return found if len(found) > 1 else []

    def is_object(self, start: int) -> bool:
        """Say whether a number is no subject: `the exponents of both 5 and 7`; nor is `one` that means a thing."""
        before = start - 1 - (self.words(start - 1, 1) == ("both",) if start else 0)
        word = self.words(before, 1)[:1] if before >= 0 else ()
        alone = self.tokens[start].spelled and self.tokens[start].value == 1
        return alone or (bool(word) and word[0] in _GOVERNING)

    def rights(self, start: int) -> list[Parsed]:
        """Return the numbers of a list behind a verb, `7 and 11`; one number most of the time."""
        found: list[Parsed] = []
        while len(found) < MAX_LISTED and (right := self.right(start)) is not None:
            found.append(right)
            start = right.end + 1
            joined = self.words(right.end, 1) in (("and",), ("or",)) and start < len(self.tokens)
            if not joined or self.tokens[start].kind is not Kind.NUMBER or self._begins(start):
                break
        return found

    def _begins(self, start: int) -> bool:
        """Say whether a number is the subject of something new: the 9 of `6 divides 12 and 9 divides 18`."""
        token = self.tokens[start + 1] if start + 1 < len(self.tokens) else None
        return token is not None and (
            token.kind in (Kind.RELATION, Kind.OPERATOR) or token.text.lower() in PROPERTY_WORDS
        )

    def right(self, start: int) -> Parsed | None:
        parsed = parse_at(self.tokens, start, self.names, spaced_product=False) if start < len(self.tokens) else None
        if parsed is None or parsed.doubts or variables(parsed.expression) or is_steered(self.tokens, parsed.end):
            return None
        return parsed


def property_at(tokens: Sequence[Token], index: int, names: frozenset[str]) -> Link | None:
    """Return the fact whose verb stands at a token; None where none does, or a number is too large to test."""
    word = tokens[index].text.lower()
    if word not in PROPERTY_WORDS:
        return None
    following = tokens[index + 1 : index + _MAX_FILLERS + 3]
    if word in _IS and _NOUNS.isdisjoint([token.text.lower() for token in following]):
        return None  # most of them
    place = _Place(tokens=tokens, names=names, index=index)
    if word in _IS:
        return _being(place)
    if word in DIVIDING_SIGNS:
        return _dividing(place, index + 1, holds_if=DIVIDING_SIGNS[word])
    if word == "goes":
        return _goes_into(place)
    for words, holds_if in _DIVIDES.items():
        if place.words(index, len(words)) == words:
            return _dividing(place, index + len(words), holds_if=holds_if)
    return None


def _being(place: _Place) -> Link | None:
    """Read what follows `is`, `is not`, `is a`."""
    start = place.index + 1
    expected = not place.tokens[place.index].text.lower().endswith("n't")
    if place.words(start, 1) == ("not",):
        start, expected = start + 1, False
    if _NOUNS.isdisjoint(place.words(start, _MAX_FILLERS + 1)):
        return None
    for words, is_multiple in _OF_TWO.items():
        for skipped in range(_MAX_FILLERS):
            if place.words(start + skipped, len(words)) == words:
                return _pair(place, start + skipped + len(words), left_is_multiple=is_multiple, expected=expected)
            if place.words(start + skipped, 1)[:1] not in {(filler,) for filler in _FILLERS}:
                break
    while start < place.index + 1 + _MAX_FILLERS and place.words(start, 1) and place.words(start, 1)[0] in _FILLERS:
        start += 1
    for words, test in _OF_ONE.items():
        if place.words(start, len(words)) == words:
            return _single(place, start + len(words), test, expected=expected)
    return None


def _single(place: _Place, end: int, test: Callable[[int], bool], *, expected: bool) -> Link | None:
    following = place.tokens[end] if end < len(place.tokens) else None
    if following is not None and following.kind is Kind.WORD and following.text.lower() not in _TAIL:
        return None
    listed = place.listed() if place.tokens[place.index].text.lower() in ("are", "aren't") else []
    lefts = listed or [left for left in [place.left()] if left is not None]
    if lefts and place.is_object(lefts[0].start):
        return None
    numbers = [_whole(left.expression) for left in lefts]
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None
    return _fact(place, lefts[0], None, end, holds=all(test(number) is expected for number in known))


def _dividing(place: _Place, start: int, *, holds_if: bool) -> Link | None:
    right = place.right(start)
    following = place.tokens[right.end] if right is not None and right.end < len(place.tokens) else None
    if right is None or place.tokens[right.end - 1].kind is Kind.WORD:
        return None
    if following is not None and following.kind is Kind.WORD and following.text.lower() not in _TAIL | _FILLERS:
        return None
    return _pair(place, start, left_is_multiple=False, expected=holds_if)


def _pair(place: _Place, start: int, *, left_is_multiple: bool, expected: bool) -> Link | None:
    start += place.words(start, 1) in (("both",), ("either",))
    left, rights = place.left(), place.rights(start)
    if left is None or not rights:
        return None
    one, others = _whole(left.expression), [_whole(right.expression) for right in rights]
    known = [other for other in others if other is not None]
    if one is None or len(known) < len(others):
        return None
    pairs = [(one, other) if left_is_multiple else (other, one) for other in known]
    divides = [multiple % divisor == 0 if divisor else multiple == 0 for multiple, divisor in pairs]
    return _fact(place, left, rights[-1], rights[-1].end, holds=all(each is expected for each in divides))


def _goes_into(place: _Place) -> Link | None:
    """Read `5 goes into 22 four times`: the whole part of the quotient."""
    if place.words(place.index, 2) != ("goes", "into"):
        return None
    left, dividend = place.left(), place.right(place.index + 2)
    if left is None or dividend is None:
        return None
    start = dividend.end
    while place.words(start, 1) in (("exactly",), ("evenly",)):
        start += 1
    times = place.tokens[start] if start < len(place.tokens) else None
    if times is None or times.kind is not Kind.NUMBER or place.words(start + 1, 1) != ("times",):
        return None
    quotient = Binary(op="/", left=dividend.expression, right=left.expression)
    whole = evaluate(Call(name="floor", args=(quotient,)))
    return None if whole is None else _fact(place, left, dividend, start + 1, holds=whole == times.value)


def _whole(expression: Expression) -> int | None:
    value = evaluate(expression)
    return int(value) if value is not None and value.denominator == 1 and abs(value) <= MAX_TESTED else None


def _fact(place: _Place, left: Parsed, right: Parsed | None, end: int, *, holds: bool) -> Link:
    left_span = span_of(place.tokens, left)
    last = place.tokens[end - 1].end
    right_span = Span(start=last, end=last) if right is None else span_of(place.tokens, right)
    return Link(
        relation=place.tokens[place.index].text.lower(),
        left=left.expression,
        right=None if right is None else right.expression,
        left_span=left_span,
        right_span=Span(start=right_span.start, end=max(last, right_span.end)),
        doubts=frozenset(),
        in_words=True,
        holds=holds,
    )
