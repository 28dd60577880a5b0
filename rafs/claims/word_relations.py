"""Relations in words: `equals`, `is greater than`, `comes to`, and the words around them that carry nothing."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rafs.grammar.tokens import Kind, Token
from rafs.immutable import immutable


@immutable
class WordRelation:
    """What words between two sides say of them."""

    relation: str
    at: int
    """Token with which the relation begins."""
    start: int
    """Token after the left side."""
    end: int
    """First token of the right side."""
    total_end: int
    """The same behind `a total of`."""
    of_remainder: bool
    """The right side is the remainder of the division on the left: `leaves a remainder of`."""
    explicit: bool
    """The words leave no doubt that two values are related; `is` and `makes` have other uses."""


def _spelled(meanings: Mapping[str, str]) -> Mapping[tuple[str, ...], str]:
    return {tuple(words.split()): relation for phrases, relation in meanings.items() for words in phrases.split(" | ")}


_MORE, _LESS = "greater more larger bigger higher".split(), "less smaller fewer lower".split()
_IS = ("is", "are", "was")
_COMPARISONS = {
    **{f"{verb} {word} than": ">" for verb in _IS for word in _MORE},
    **{f"{verb} {word} than": "<" for verb in _IS for word in _LESS},
    **{f"{verb} {word} than or equal to": ">=" for verb in _IS for word in _MORE},
    **{f"{verb} {word} than or equal to": "<=" for verb in _IS for word in _LESS},
    **{f"{verb} not {word} than": "<=" for verb in _IS for word in _MORE},
    **{f"{verb} not {word} than": ">=" for verb in _IS for word in _LESS},
    **{f"{verb} {words}": ">=" for verb in _IS for words in ("at least", "no less than", "no fewer than")},
    **{f"{verb} {words}": "<=" for verb in _IS for words in ("at most", "no more than", "no greater than")},
    "exceeds | exceed": ">",
}
_INEQUALITIES = {
    f"{verb} {words}": "!="
    for verb in _IS
    for words in ("not", "not equal to", "not the same as", "different from", "unequal to")
} | {"isn't | aren't | doesn't equal | does not equal | do not equal | isn't equal to | differs from": "!="}
_EQUALITIES = {
    **{
        f"{verb} {words}": "="
        for verb in _IS
        for words in ("equal to", "the same as", "equivalent to", "exactly", "also equal to", "then equal to")
    },
    "equals | equal | equaling | comes to | comes out to | come to | amounts to | adds up to | sums to": "=",
    "add up to": "=",
    "evaluates to | works out to | simplifies to | simplify to | reduces to | results in | resulting in | totals": "=",
    "simplified is | can be simplified to | can be reduced to | converts to": "=",
}
_LOOSE = {
    "is | are | was | were | gives | give | gave | giving | makes | make | making | made | yields | yielding": "=",
    "has | have | leave | leaves | leaving | becomes | get | gets | got | obtain | produces": "=",
    "equates to | returns | turns into": "=",
}
_APPROXIMATE = {
    **{
        f"{verb} {word}": "≈"
        for verb in (*_IS, "equals", "gives")
        for word in ("approximately", "roughly", "about", "around", "nearly", "close to", "almost")
    },
    "rounds to | rounds up to | rounds down to | is approximately equal to": "≈",
}
_EXPLICIT = _spelled({**_COMPARISONS, **_INEQUALITIES, **_EQUALITIES, **_APPROXIMATE})
_RELATIONS: Mapping[tuple[str, ...], str] = MappingProxyType({**_spelled(_LOOSE), **_EXPLICIT})
_LONGEST = max(map(len, _RELATIONS))
FIRST_WORDS = frozenset(words[0] for words in _RELATIONS)
"""Words with which a relation begins."""
_LATER_WORDS = frozenset(word for words in _RELATIONS for word in words[1:])
_BEFORE = frozenset("which that this to we you will would he she they it us one also then can".split())
_AFTER = frozenset("to us him her them equal left about you exactly only just also then simply indeed still".split())
_TOTALS = frozenset(["total", "result", "value", "sum", "quotient", "product", "difference", "answer"])
_REMAINDERS = frozenset(
    [("a", "remainder", "of"), ("the", "remainder", "of"), ("remainder", "of"), ("a", "remainder"), ("remainder",)]
)
_REMAINDER_STARTS = frozenset(words[0] for words in _REMAINDERS)
MAX_BEFORE = 3
"""Words such as `which`, `we` that may stand between the left side and its relation."""


def relation_at(tokens: Sequence[Token], index: int) -> WordRelation | None:
    """Return the relation in words that begins at a token; None where none does."""
    if tokens[index].text.lower() not in FIRST_WORDS:
        return None
    words: tuple[str, ...] = ()
    longest: tuple[str, ...] = ()
    for token in tokens[index : index + _LONGEST]:
        word = token.text.lower()
        if token.kind is not Kind.WORD or (words and word not in _LATER_WORDS):
            break
        words = (*words, word)
        longest = words if words in _RELATIONS else longest
    if not longest:
        return None
    return _between(tokens, index, index + len(longest), _RELATIONS[longest], explicit=longest in _EXPLICIT)


def _between(tokens: Sequence[Token], index: int, end: int, relation: str, *, explicit: bool) -> WordRelation:
    """Step over the words around a relation that change nothing."""
    start, first_end = index, end
    while start > max(0, index - MAX_BEFORE):
        token = tokens[start - 1]
        if token.kind is not Kind.COMMA and token.text.lower() not in _BEFORE:
            break
        start -= 1
    last = min(first_end + 3, len(tokens))
    while end < last and (word := tokens[end].text.lower()) in _AFTER:
        if word == "about":
            relation = "≈"
        end += 1
    words = [token.text.lower() for token in tokens[end : end + 3]]
    n_remainder = 0
    if words and words[0] in _REMAINDER_STARTS:
        n_remainder = next((n for n in (3, 2, 1) if tuple(words[:n]) in _REMAINDERS), 0)
    totals = len(words) > 2 and words[0] in ("a", "the") and words[1] in _TOTALS and words[2] == "of"
    return WordRelation(
        relation=relation,
        at=index,
        start=start,
        end=end + n_remainder,
        total_end=end + (3 if totals else n_remainder),
        of_remainder=n_remainder > 0,
        explicit=explicit,
    )
