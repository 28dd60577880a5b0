"""What the sentence of the answer makes of the number that the calculations end in: `with 9 gone, 13 are left`."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind, Token
from rafs.quantities.closing import SENTENCE_ENDS
from rafs.quantities.mentions import is_numbering
from rafs.quantities.prose import compute
from rafs.types import ANSWER_PLACEHOLDER, Implied, Operand, QuantityGraph, SourceKind, Span, Trace


def read_told_answer(trace: Trace, graph: QuantityGraph, value: Fraction) -> Implied | None:
    """Return how the sentence of the answer makes it out of the derived number; None where it does not say so.

    One plain operation joins the derived number with a known one that stands in that sentence, or in the answer as it
    is written (`33/100`), or takes its size.
    The sentence is no part of the blind derivation, so the graph knows nothing of it.

    Args:
        trace: The trace.
        graph: Its quantity graph, which ends in another number than the answer.
        value: The stated answer.
    """
    step = next((one for one in reversed(trace.steps) if ANSWER_PLACEHOLDER in one.blind_text), None)
    if step is None or graph.derived is None:
        return None
    tokens = lex(step.blind_text)
    place = next((at for at, token in enumerate(tokens) if token.kind is Kind.PLACEHOLDER), None)
    if place is None:
        return None
    span = Span(start=tokens[place].start, end=tokens[place].end)
    derived = Operand(
        text="",
        value=graph.derived,
        span=span,
        source=SourceKind.RESULT,
        claim=graph.derived_claim if graph.derived_implied is None else None,
        implied=graph.derived_implied,
    )
    if value == -graph.derived:
        return Implied(step=step.index, span=span, value=value, op="abs", operands=(derived,)) if value > 0 else None
    for token in _sentence_numbers(tokens, place):
        if token.value != value and (known := _known(token, graph)) is not None:
            for op, operands in _joined(derived, known):
                if compute(op, [one.value for one in operands]) == value:
                    return Implied(step=step.index, span=span, value=value, op=op, operands=operands)
    parts = [_known(token, graph) or derived for token in _fraction(trace, graph.derived)]
    if len(parts) != 2 or compute("/", [one.value for one in parts]) != value:
        return None
    return Implied(step=step.index, span=span, value=value, op="/", operands=tuple(parts))


def _fraction(trace: Trace, derived: Fraction) -> Sequence[Token]:
    """Return the numbers of an answer that is written as a fraction of the derived number and another one: `33/100`."""
    tokens = [] if trace.answer is None else lex(trace.answer.text)
    numbers = [token for token in tokens if token.kind is Kind.NUMBER]
    return numbers if [token.value == derived for token in numbers].count(True) == 1 else []


def _sentence_numbers(tokens: Sequence[Token], place: int) -> Iterator[Token]:
    """Yield the numbers in the sentence around a place; none of a formula."""
    start = next((at for at in range(place, 0, -1) if tokens[at - 1].text in SENTENCE_ENDS), 0)
    end = next((at for at in range(place, len(tokens)) if tokens[at].text in SENTENCE_ENDS), len(tokens))
    if any(token.kind in (Kind.RELATION, Kind.FUNCTION) for token in tokens[start:end]):
        return
    for at in range(start, end):
        if tokens[at].kind is Kind.NUMBER and not is_numbering(tokens, at):
            yield tokens[at]


def _known(token: Token, graph: QuantityGraph) -> Operand | None:
    """Return a number that the problem gives, or that is a result; None for any other, and for the derived one."""
    if token.value == graph.derived:
        return None
    claim = next((at for at, one in reversed([*enumerate(graph.claims)]) if one.result == token.value), None)
    if claim is None and token.value not in graph.problem_values:
        return None
    source = SourceKind.PROBLEM if claim is None else SourceKind.RESULT
    return Operand(text="", value=token.value, span=Span(start=token.start, end=token.end), source=source, claim=claim)


def _joined(first: Operand, second: Operand) -> Iterator[tuple[str, tuple[Operand, Operand]]]:
    for op in "+-*/":
        yield op, (first, second)
    for op in "-/":
        yield op, (second, first)
