"""What a derivation ends in: its last result, or the number that the sentences after it make out of the results."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rafs.claims.reader import Found
from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.terms import Number, Unary, Variable, literal_of, variables
from rafs.grammar.tokens import Kind, Token
from rafs.quantities.closing import SENTENCE_ENDS, Mention, ends_in_fraction, is_new, mentions_in, sentences_after
from rafs.quantities.grounding import Ground
from rafs.quantities.inversion import solve_for_unknown, unsure_place
from rafs.quantities.sources import Sources
from rafs.types import BlindStep, Claim, Implied, Operand, SourceKind, Span, Truth

_CHECKING = GatedPattern(
    r"\b(?:verif\w*|check\w*|confirm\w*|sanity|substitut\w* back|holds true)\b",
    ["verif", "check", "confirm", "sanity", "substitut", "holds true"],
    lead=0,
)
"""Words of a step that tests a value found before; what it computes is not what the derivation ends in."""
_CASE = re.compile(r"\b(?:if|for|when|case|assuming|suppose)\b[^.\n]{0,20}\b[A-Za-z]\W{0,4}=", re.IGNORECASE)
"""One value of a name among several: what follows is one case, not the end."""
_EXCLUDED = re.compile(
    r"\b(?:exclud\w*|undefined|cannot|not|never|approach\w*|except|reject\w*|extraneous|without)\b", re.IGNORECASE
)
_NAMING_NO_NUMBER = (
    "ordered|interval|intercept|coordinate|range of|domain of|in terms of|date|dd/mm|mm/dd|expand|factor|simplify"
).split("|")
_NO_NUMBER = GatedPattern(
    r"ordered (?:pair|triple)|interval notation|\bintercept|coordinates of|range of|domain of|in terms of|"
    r"\bdate\b|DD/MM|MM/DD|\b(?:expand|factor(?:ed|ise|ize)?|simplify)\b.{0,200}"
    r"(?:[\d(+*/^=$-]\s?[a-z](?![A-Za-z])|(?<![A-Za-z\\])[b-hj-z](?![A-Za-z]))",
    _NAMING_NO_NUMBER,
    lead=0,
    flags=re.IGNORECASE | re.DOTALL,
)
"""Words of a problem whose answer is a pair, a set, an expression or a date, so that no single number is it."""
_MANY = re.compile(r"\b(?:all|values|solutions|roots|zeros|maximum|minimum|largest|smallest|sum)\b", re.IGNORECASE)
"""Words of a problem in which one name may have several values, none of which is the end."""
_RATIO = re.compile(r"\s?:\s?(?:\d|\\?pi\b|π|[a-z]\b)")
"""A ratio that goes on behind the number."""
SENTENCE_TOKENS = 200
"""Tokens behind a claim in which the answer of its sentence stands."""
MAX_MENTIONS = 4
"""Numbers of a sentence that can be a conclusion without any calculation before it; more are a list."""
CASE_REACH = 120
"""Characters before a claim in which the condition of its case stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What the derivation ends in."""

    value: Fraction
    claim: int | None = None
    implied: int | None = None
    percent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """All that is known of a derivation once its claims and its prose are read."""

    found: Sequence[Found]
    steps: Sequence[BlindStep]
    sources: Sources

    @property
    def claims(self) -> Sequence[Claim]:
        """Its claims, in the order of `found`."""
        return self.sources.claims

    @property
    def ground(self) -> Ground:
        """What the problem gives."""
        return self.sources.ground

    @property
    def implied(self) -> list[Implied]:
        """The numbers worked out in words."""
        return self.sources.prose.implied


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What a number in prose may be."""

    results: Mapping[Fraction, int]
    """Claims by their result, the latest ones."""
    places: Mapping[tuple[int, int], int]
    """Numbers worked out in words by (step, start)."""


def find_end(derivation: Derivation) -> End | None:
    """Find what the derivation ends in; None wherever the text leaves room for doubt."""
    if _NO_NUMBER.search(derivation.ground.text):
        return None
    last = next((i for i in range(len(derivation.claims) - 1, -1, -1) if not _is_beside_answer(derivation, i)), None)
    claim = None if last is None else derivation.claims[last]
    after = list(sentences_after(derivation.sources.tokens, claim))
    if claim is None and (derivation.sources.definitions or any("\\" in step.text for step in derivation.steps)):
        return None
    if any(token.kind is Kind.RELATION for _, sentence in after for token in sentence[:-1]):
        return None if claim is None else _defined_last(claim, derivation, after)
    end: End | None = None
    if claim is not None and last is not None:
        if not _is_conclusive(derivation, last):
            return None
        assert claim.result is not None
        end = End(value=claim.result, claim=last, percent=_is_percent(derivation.found[last]))
    known = _Known(
        results={
            one.result: index
            for index, one in enumerate(derivation.claims)
            if one.value is not None and one.result is not None
        },
        places={(one.step, one.span.start): index for index, one in enumerate(derivation.implied)},
    )
    for step, sentence in after:
        in_latex = "\\" in derivation.sources.texts[step]
        behind_claim = claim is not None and step == claim.step and sentence is after[0][1]
        mentions = list(mentions_in(sentence, step, in_latex=in_latex, behind_claim=behind_claim))
        if ends_in_fraction(sentence):
            end = end if end is not None and _repeats_fraction(derivation, sentence, end.value) else None
        elif mentions:
            end = _after_sentence(derivation, end, mentions, known)
    return end


def _after_sentence(derivation: Derivation, end: End | None, mentions: Sequence[Mention], known: _Known) -> End | None:
    """Return what the derivation ends in once a sentence after its last calculation is read."""
    if end is None and not derivation.claims and len(mentions) > MAX_MENTIONS:
        return None
    given, mentions = derivation.ground, _without_known(derivation, mentions)
    if end is not None:
        again = [at for at, one in enumerate(mentions) if _same(one.token, end.value)]
        later = mentions[again[-1] + 1 :] if again else ()
        if again and not any(one.after_copula or is_new(one, given) for one in later):
            first = [one.token.value for one in mentions[: again[0]] if one.concluded]
            if not all(map(derivation.sources.is_known, first)):
                return None
            return replace(end, percent=end.percent or any(mentions[at].token.percent for at in again))
        if end.value < 0 and any(one.token.value == -end.value for one in mentions):
            return _size_of(derivation, end, mentions)
    new = [one for one in mentions if one.concluded or one.after_copula or is_new(one, given)]
    if not new:
        return end if end is None or end.implied is None else None
    return _concluded(derivation, new, known)


def _without_known(derivation: Derivation, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Leave out known numbers that only tell what a new one is made of: the 9 of `13 are left after 9 are sold`."""
    sources = derivation.sources
    told = [one for one in mentions if not one.restates or not sources.is_known(one.token.value)]
    is_new = not told or any(one.concluded or not sources.ground.states(one.token.value) for one in told)
    return told if is_new else mentions


def _concluded(derivation: Derivation, new: Sequence[Mention], known: _Known) -> End | None:
    """Return the result that the last number of a sentence is, where the ones before it are the same or its inputs."""
    last = _resolved(derivation, new[-1], known)
    if last is None:
        return None
    inputs: set[Fraction] = set()
    if last.implied is not None:
        operands = derivation.implied[last.implied].operands
        own = {(one.token.start, one.token.value) for one in new}
        if derivation.ground.states(last.value) and (unsure := unsure_place(operands, own)) is not None:
            solved = solve_for_unknown(derivation.implied[last.implied], unsure, own)
            return None if solved is None else _told(derivation, solved)
        inputs = {operand.value for operand in operands}
        inputs |= {one.token.value for one in new if derivation.ground.gives(one.token.value)}
    others = (one for one in new[:-1] if one.token.value not in inputs)
    same = all((found := _resolved(derivation, one, known)) and found.value == last.value for one in others)
    return last if same else None


def _repeats_fraction(derivation: Derivation, sentence: Sequence[Token], value: Fraction) -> bool:
    """Say whether the last two numbers are the value as a fraction, and no unknown number stands before them."""
    numbers = [token.value for token in sentence if token.kind is Kind.NUMBER]
    if not all(derivation.ground.states(number) for number in numbers[:-2]):
        return False
    return len(numbers) > 1 and numbers[-2] == value * numbers[-1]


def _resolved(derivation: Derivation, mention: Mention, known: _Known) -> End | None:
    """Return the result that a number in prose is: an earlier one again, or one worked out in words."""
    token = mention.token
    for value in (token.value, token.value * 100) if token.percent else (token.value,):
        if value in known.results:
            return End(value=value, claim=known.results[value], percent=token.percent)
    implied = known.places.get((mention.step, token.start))
    if implied is None:
        return None
    if known.results:
        operands = derivation.implied[implied].operands
        sure = any(one.claim is not None or one.implied is not None for one in operands)
    else:
        sure = token.value > 1 and (mention.concluded or not derivation.ground.states(token.value))
    return End(value=token.value, implied=implied, percent=token.percent) if sure else None


def _size_of(derivation: Derivation, end: End, mentions: Sequence[Mention]) -> End:
    """Return the size of a negative result that a sentence states: -54 km is `54 km away in the other direction`."""
    token = next(one for one in mentions if one.token.value == -end.value)
    span = Span(start=token.token.start, end=token.token.end)
    source = SourceKind.RESULT
    operand = Operand(text="", value=end.value, span=span, source=source, claim=end.claim, implied=end.implied)
    size = Implied(step=token.step, span=span, value=-end.value, op="abs", operands=(operand,))
    return _told(derivation, size, percent=end.percent)


def _told(derivation: Derivation, implied: Implied, *, percent: bool = False) -> End:
    derivation.implied.append(implied)
    return End(value=implied.value, implied=len(derivation.implied) - 1, percent=percent)


def _is_beside_answer(derivation: Derivation, index: int) -> bool:
    """Say whether a claim about names stands in the sentence of the final answer: it repeats the question."""
    claim = derivation.claims[index]
    if not claim.right or not variables(derivation.found[index].left):
        return False
    tokens = derivation.sources.tokens[claim.step]
    first = bisect_left(tokens, claim.span.end, key=_start_of)
    for token in tokens[first : first + SENTENCE_TOKENS]:
        if token.kind is Kind.PLACEHOLDER:
            return True
        if token.kind is Kind.BREAK and token.text in SENTENCE_ENDS:
            return False
    return False


def _start_of(token: Token) -> int:
    return token.start


def _is_conclusive(derivation: Derivation, index: int) -> bool:
    """Say whether a claim computes a number that was read for sure, rather than checking one or being one case."""
    claim, found = derivation.claims[index], derivation.found[index]
    if claim.result is None or (
        claim.truth is Truth.UNKNOWN and ("reads otherwise" in claim.reason or claim.value is None)
    ):
        return False
    right = found.right
    text = derivation.sources.texts[claim.step]
    following = _following(derivation, claim)
    if following is not None and (following.kind is Kind.OPERATOR or _RATIO.match(text, claim.span.end)):
        return False
    if isinstance(found.left, Number) or (
        right is not None and not isinstance(right, Number | Unary) and claim.result_span is None
    ):
        return False
    if _has_several_values(derivation, found):
        return False
    before = re.split(r"[.\n]\s", text[max(0, claim.span.start - CASE_REACH) : claim.span.start])[-1]
    return claim.relation in ("=", "≈") and not _CHECKING.search(text) and not _CASE.search(before)


def _following(derivation: Derivation, claim: Claim) -> Token | None:
    """Return the token behind the claim."""
    tokens = derivation.sources.tokens[claim.step]
    at = bisect_left(tokens, claim.span.end, key=_start_of)
    return tokens[at] if at < len(tokens) else None


def _has_several_values(derivation: Derivation, found: Found) -> bool:
    """Say whether the solution of a name is one of several that the derivation finds."""
    if not isinstance(found.left, Variable) or not _MANY.search(derivation.ground.text):
        return False
    return len({entry.value for entry in derivation.sources.definitions if entry.name == found.left.name}) > 1


def _is_percent(found: Found) -> bool:
    literal = literal_of(found.right)
    return literal is not None and literal.percent


def _same(token: Token, value: Fraction) -> bool:
    return token.value == value or (token.percent and token.value * 100 == value)


def _defined_last(claim: Claim, derivation: Derivation, after: Sequence[tuple[int, Sequence[Token]]]) -> End | None:
    """Take the value of a name that is given one after the last claim, where that is the only relation there."""
    relations = [token for _, sentence in after for token in sentence if token.kind is Kind.RELATION]
    later = [
        entry
        for entry in derivation.sources.definitions
        if (entry.step, entry.span.start) > (claim.step, claim.span.end)
    ]
    if not len(relations) == len(later) == 1:
        return None
    entry = later[0]
    if any(other.name == entry.name and other.value != entry.value for other in derivation.sources.definitions):
        return None
    words = [token.text for step, sentence in after if step == entry.step for token in sentence]
    return None if _EXCLUDED.search(" ".join(words)) else End(value=entry.value)
