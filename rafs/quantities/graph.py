"""The quantity graph: where every number of a derivation comes from, what it ends in, and what a change would do."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.claims.reader import Definition, Reader, read_trace
from rafs.grammar.expressions import Binary, Call, Expression, Number, Unary, Variable, evaluate, parse_expression, variables
from rafs.quantities.grounding import Ground, constant_source, read_ground
from rafs.grammar.lexing import lex
from rafs.grammar.notation import as_submitted, in_english
from rafs.quantities.sources import Sources
from rafs.grammar.tokens import Kind, Token
from rafs.types import BlindStep, Claim, QuantityGraph, Truth

_CHECKING = re.compile(r"\b(?:verif\w*|check\w*|confirm\w*|sanity|substitut\w* back|holds true)\b", re.IGNORECASE)
"""Words of a step that tests a value found before; what it computes is not what the derivation ends in."""
_SENTENCE_ENDS = (".", "?", "\n", ";")
_SCALED = ("units converted",)
"""Reasons of claims whose result is their value in another unit: the factor is kept in a replay."""


def read_graph(problem: str, steps: Sequence[BlindStep]) -> QuantityGraph:
    """Read the claims of a derivation, resolve their operands, and find what it ends in.

    Args:
        problem: The problem.
        steps: The derivation's steps, without any statement of the final answer.

    Returns:
        The graph. An operand without any source is UNGROUNDED. `derived` is None wherever the text leaves room for
        doubt about what it ends in. Claims and sources of step t hang on the problem and the steps up to t alone, but
        for the notation of numbers, which all steps share.
    """
    submitted = steps
    problem, steps = in_english(problem, submitted)
    reader = read_trace(steps, problem)
    ground = read_ground(problem)
    texts = {step.index: step.text for step in steps}
    tokens = {step.index: lex(step.text) for step in steps}
    sources = Sources(ground=ground, texts=texts, tokens=tokens, definitions=reader.definitions)
    claims = [sources.add(found) for found in reader.found]
    derived, derived_claim = _derived(claims, reader.definitions, steps, tokens, ground)
    used = {operand.claim for claim in claims for operand in claim.operands if operand.claim is not None}
    return QuantityGraph(
        claims=as_submitted(claims, submitted),
        problem_values=ground.values,
        derived=derived,
        derived_claim=derived_claim,
        unused=tuple(index for index in range(len(claims)) if index not in used and index != derived_claim),
        complete=_is_complete(reader, claims, ground, steps, tokens),
    )


def _tokens_after(
    steps: Sequence[BlindStep], tokens: Mapping[int, Sequence[Token]], claim: Claim
) -> list[tuple[int, Token]]:
    """Return (step, token) of everything that stands after a claim."""
    after: list[tuple[int, Token]] = []
    for step in steps:
        if step.index == claim.step:
            end = max(claim.span.end, claim.result_span.end if claim.result_span else 0)
            after += [(step.index, token) for token in tokens[step.index] if token.start >= end]
        elif step.index > claim.step:
            after += [(step.index, token) for token in tokens[step.index]]
    return after


def _derived(
    claims: Sequence[Claim],
    definitions: Sequence[Definition],
    steps: Sequence[BlindStep],
    tokens: Mapping[int, Sequence[Token]],
    ground: Ground,
) -> tuple[Fraction | None, int | None]:
    """Find what the derivation ends in: the last result, unless what is said after it points elsewhere."""
    ends = [index for index, claim in enumerate(claims) if not claim.right or not _is_beside_answer(claim, tokens)]
    if not ends:
        return None, None
    last = ends[-1]
    claim = claims[last]
    after = _outside_answers(_tokens_after(steps, tokens, claim))
    if any(token.kind is Kind.RELATION for _, token in after):
        return _defined_last(claim, definitions, after)
    if not _is_conclusive(claim, {step.index: step.text for step in steps}):
        return None, None
    assert claim.result is not None
    stated = [token for _, token in after if token.kind is Kind.NUMBER and not ground.gives(token.value)]
    if all(_same(token, claim.result) for token in stated):
        return claim.result, last
    named = {
        other.result
        for other in claims
        for token in stated
        if other.result is not None and other.value is not None and _same(token, other.result)
    }
    if len(named) == 1 and all(_same(token, next(iter(named))) for token in stated):
        index = max(index for index, other in enumerate(claims) if other.result in named)
        return claims[index].result, index
    return None, None


def _is_beside_answer(claim: Claim, tokens: Mapping[int, Sequence[Token]]) -> bool:
    """Say whether a claim about names stands in the sentence of the final answer: it repeats the question."""
    left = parse_expression(claim.left)
    if left is None or not variables(left):
        return False
    for token in tokens[claim.step]:
        if token.start >= claim.span.end:
            if token.kind is Kind.PLACEHOLDER:
                return True
            if token.kind is Kind.BREAK and token.text in _SENTENCE_ENDS:
                return False
    return False


def _is_conclusive(claim: Claim, texts: Mapping[int, str]) -> bool:
    """Say whether a claim computes a number that was read for sure, rather than checking one."""
    if claim.result is None or (
        claim.truth is Truth.UNKNOWN and ("reads otherwise" in claim.reason or claim.value is None)
    ):
        return False
    left, right = parse_expression(claim.left), parse_expression(claim.right) if claim.right else None
    if isinstance(left, Number) or (
        right is not None and not isinstance(right, Number | Unary) and claim.result_span is None
    ):
        return False
    return claim.relation in ("=", "≈") and not _CHECKING.search(texts[claim.step])


def _outside_answers(after: Sequence[tuple[int, Token]]) -> list[tuple[int, Token]]:
    """Return the tokens of sentences that do not state the final answer."""
    kept: list[tuple[int, Token]] = []
    sentence: list[tuple[int, Token]] = []
    for step, token in after:
        if sentence and (step != sentence[-1][0] or sentence[-1][1].text in _SENTENCE_ENDS):
            kept, sentence = kept + _unless_answer(sentence), []
        sentence.append((step, token))
    return kept + _unless_answer(sentence)


def _unless_answer(sentence: list[tuple[int, Token]]) -> list[tuple[int, Token]]:
    return [] if any(token.kind is Kind.PLACEHOLDER for _, token in sentence) else sentence


def _same(token: Token, value: Fraction) -> bool:
    return token.value == value or (token.percent and token.value * 100 == value)


def _defined_last(
    claim: Claim, definitions: Sequence[Definition], after: Sequence[tuple[int, Token]]
) -> tuple[Fraction | None, int | None]:
    """Take the value of a name that is given one after the last claim, where that is the only relation there."""
    relations = [token for _, token in after if token.kind is Kind.RELATION]
    later = [entry for entry in definitions if (entry.step, entry.span.start) > (claim.step, claim.span.end)]
    if len(relations) == len(later) == 1:
        return later[0].value, None
    return None, None


def _is_complete(
    reader: Reader,
    claims: Sequence[Claim],
    ground: Ground,
    steps: Sequence[BlindStep],
    tokens: Mapping[int, Sequence[Token]],
) -> bool:
    """Say whether every relation was read and every number outside the claims is a known one."""
    if reader.unread_steps:
        return False
    results = {claim.result for claim in claims}
    given = {entry.value for entry in reader.definitions}
    for step in steps:
        spans = [claim.span for claim in claims if claim.step == step.index]
        for position, token in enumerate(tokens[step.index]):
            if token.kind is not Kind.NUMBER or any(span.start <= token.start < span.end for span in spans):
                continue
            known = token.value in results or token.value in given or ground.gives(token.value)
            known = known or _is_numbering(tokens[step.index], position)
            if not known and not constant_source(token.value, token.currency, step.text):
                return False
    return True


def _is_numbering(tokens: Sequence[Token], position: int) -> bool:
    """Say whether a number only counts steps or items: `Step 3:`, `2.` at the start of a line."""
    before = tokens[position - 1] if position else None
    if before is None or before.text == "\n":
        return True
    return before.kind is Kind.WORD and before.text.lower() in ("step", "part", "case", "equation", "day", "question")


def replay(graph: QuantityGraph, claim: int, new_result: Fraction) -> dict[int, Fraction]:
    """Recompute everything downstream of one changed result.

    An operand whose source is that result, or a result that changed with it, is replaced in the left side of its
    claim, and the left side is computed again, exactly. Where the old result was its value in another unit, the
    factor is kept. The last link of a chain takes over the new value of the link before it.

    Args:
        graph: A quantity graph.
        claim: Index of the claim whose result is changed.
        new_result: What it is changed to.

    Returns:
        New results by claim index, without `claim` itself; a claim whose new value is undefined or cannot be computed
        is left out, and so is what hangs on it alone.
    """
    changed: dict[int, Fraction | None] = {claim: new_result}
    for index in range(claim + 1, len(graph.claims)):
        if any(operand.claim in changed for operand in graph.claims[index].operands):
            changed[index] = _recomputed(graph, index, changed)
    return {index: value for index, value in changed.items() if value is not None and index != claim}


def _recomputed(graph: QuantityGraph, index: int, changed: Mapping[int, Fraction | None]) -> Fraction | None:
    claim = graph.claims[index]
    values: dict[int, Fraction] = {}
    for operand in claim.operands:
        if operand.claim is None or operand.claim not in changed:
            continue
        new = changed[operand.claim]
        old = graph.claims[operand.claim].result
        if new is None or old is None:
            return None
        scale = operand.value / old if old else Fraction(1)
        if operand.span.start == claim.span.start and len(operand.text) == len(claim.left) and len(claim.operands) == 1:
            return _rescaled(claim, new * scale)
        values[operand.span.start - claim.span.start] = new * scale
    value = _evaluate_with(claim, values)
    return None if value is None else _rescaled(claim, value)


def _rescaled(claim: Claim, value: Fraction) -> Fraction:
    if claim.reason in _SCALED and claim.value and claim.result is not None:
        return value * claim.result / claim.value
    return value


def _evaluate_with(claim: Claim, values: Mapping[int, Fraction]) -> Fraction | None:
    """Compute the left side with new numbers at some offsets; None where the text alone does not give its old value."""
    bindings = {operand.text: operand.value for operand in claim.operands}
    expression = parse_expression(claim.left, frozenset(name for name in bindings if name.isalpha()))
    if expression is None or evaluate(expression, bindings) != claim.value:
        return None
    return evaluate(_substitute(expression, values), bindings)


def _substitute(expression: Expression, values: Mapping[int, Fraction]) -> Expression:
    match expression:
        case Number() | Variable():
            new = values.get(expression.span.start) if expression.span.end else None
            return expression if new is None else Number(value=new)
        case Unary():
            return replace(expression, operand=_substitute(expression.operand, values))
        case Binary():
            return replace(
                expression, left=_substitute(expression.left, values), right=_substitute(expression.right, values)
            )
        case Call():
            return replace(expression, args=tuple(_substitute(arg, values) for arg in expression.args))
