"""The sentences after the last calculation of a derivation, and the numbers in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rafs.grammar.tokens import Kind, Token
from rafs.quantities.grounding import Ground
from rafs.quantities.mentions import concludes, is_numbering
from rafs.quantities.restating import Restating
from rafs.types import Claim

SENTENCE_ENDS = (".", "?", "\n", ";")
_COPULA = frozenset("is are was were be equals becomes".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A number of a sentence after the last claim."""

    token: Token
    step: int
    concluded: bool
    """A word before it announces a result."""
    after_copula: bool
    restates: bool
    """It tells what the result before it is made of."""


def sentences_after(
    tokens: Mapping[int, Sequence[Token]], claim: Claim | None
) -> Iterator[tuple[int, Sequence[Token]]]:
    """Yield (step, tokens) of the sentences behind a claim that do not state the final answer."""
    for step, pieces in tokens.items():
        if claim is not None and step < claim.step:
            continue
        start, end = 0, 0
        if claim is not None and step == claim.step:
            end = max(claim.span.end, claim.result_span.end if claim.result_span else 0)
            start = next((at for at, token in enumerate(pieces) if token.start >= end), len(pieces))
        for at in [at for at, token in enumerate(pieces) if token.text in SENTENCE_ENDS and at >= start]:
            yield from _unless_answer(step, pieces[start : at + 1]) if pieces[at].text != "?" else ()
            start = at + 1
        yield from _unless_answer(step, pieces[start:])


def _unless_answer(step: int, sentence: Sequence[Token]) -> Iterator[tuple[int, Sequence[Token]]]:
    if sentence and Kind.PLACEHOLDER not in [token.kind for token in sentence]:
        yield step, sentence


def mentions_in(sentence: Sequence[Token], step: int, *, in_latex: bool, behind_claim: bool) -> Iterator[Mention]:
    """Yield the numbers of a sentence that say something alone; in LaTeX no word beside one makes it a result.

    Args:
        sentence: Its tokens.
        step: Index of its step.
        in_latex: The step is written in LaTeX.
        behind_claim: It is what is left of a sentence behind a claim, whose result it goes on about.
    """
    restating = Restating(tokens=sentence, has_result=behind_claim)
    for position, token in enumerate(sentence):
        if token.kind is Kind.NUMBER and not is_numbering(sentence, position) and not _is_divided(sentence, position):
            before = sentence[position - 1].text.lower() if position else ""
            yield Mention(
                token=token,
                step=step,
                concluded=not in_latex and concludes(sentence, position),
                after_copula=before in _COPULA,
                restates=restating.restates(position),
            )


def ends_in_fraction(sentence: Sequence[Token]) -> bool:
    """Say whether the last number of a sentence is part of a fraction or a date, so that it says nothing alone."""
    if any(token.kind is Kind.FUNCTION and token.text.endswith("frac") for token in sentence):
        return True
    last = next((at for at in range(len(sentence) - 1, -1, -1) if sentence[at].kind is Kind.NUMBER), None)
    return last is not None and _is_divided(sentence, last)


def _is_divided(sentence: Sequence[Token], position: int) -> bool:
    return "/" in [token.text for token in sentence[max(0, position - 1) : position + 2]]


def is_new(mention: Mention, given: Ground) -> bool:
    """Say whether the problem does not state a number; a bare 1 is no number of its own: `5 more in 1 hour`."""
    return mention.token.value != 1 and not given.states(mention.token.value)
