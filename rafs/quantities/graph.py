"""The quantity graph: where every number of a derivation comes from, what it ends in, and what a change would do."""

from collections.abc import Mapping, Sequence

from rafs.claims.reader import Reader, read_trace
from rafs.grammar.lexing import lex
from rafs.grammar.notation import as_submitted, in_english
from rafs.grammar.tokens import Token
from rafs.quantities.byproducts import Byproducts
from rafs.quantities.constants import Constants
from rafs.quantities.ending import Derivation, find_end
from rafs.quantities.grounding import read_ground
from rafs.quantities.introductions import Introductions
from rafs.quantities.mentions import InProse, numbers_in_prose
from rafs.quantities.prose import Prose, given_numbers
from rafs.quantities.sources import Sources
from rafs.types import BlindStep, Claim, QuantityGraph


def read_graph(problem: str, steps: Sequence[BlindStep]) -> QuantityGraph:
    """Read the claims of a derivation, resolve their operands, and find what it ends in.

    Args:
        problem: The problem.
        steps: The derivation's steps, without any statement of the final answer.

    Returns:
        The graph. An operand without any source is UNGROUNDED; one that repeats a result points at the latest earlier
        one, so there are no cycles. `derived` is None wherever the text leaves room for doubt about what it ends in.
        Claims and sources of step t hang on the problem and the steps up to t alone, but for the notation of numbers,
        which all steps share.
    """
    submitted = steps
    problem, steps = in_english(problem, submitted)
    reader = read_trace(steps, problem)
    tokens = {step.index: reader.tokens.get(step.index) or lex(step.text) for step in steps}
    sources = _sources(problem, steps, tokens, reader)
    mentioned = tuple(sources.pending)
    claims = [sources.add(found) for found in reader.found]
    sources.read_to(steps[-1].index + 1 if steps else 0, 0)
    end = find_end(Derivation(found=reader.found, steps=steps, sources=sources))
    derived_claim = end.claim if end is not None else None
    used = {operand.claim for one in claims for operand in one.operands}
    used |= {operand.claim for one in sources.prose.implied for operand in one.operands}
    return QuantityGraph(
        claims=as_submitted(claims, submitted),
        problem_values=sources.ground.values,
        derived=end.value if end is not None else None,
        derived_claim=derived_claim,
        unused=tuple(index for index in range(len(claims)) if index not in used and index != derived_claim),
        complete=not reader.unread_steps and _are_known(sources, claims, mentioned),
        implied=tuple(sources.prose.implied),
        derived_implied=end.implied if end is not None else None,
        derived_percent=end is not None and end.percent,
    )


def _sources(
    problem: str, steps: Sequence[BlindStep], tokens: Mapping[int, Sequence[Token]], reader: Reader
) -> Sources:
    ground, texts = read_ground(problem), {step.index: step.text for step in steps}
    return Sources(
        ground=ground,
        prose=Prose(given=given_numbers(ground.values)),
        texts=texts,
        tokens=tokens,
        definitions=reader.definitions,
        constants=Constants(problem=problem, texts=texts),
        byproducts=Byproducts(problem=problem, stated=ground.values, texts=texts, tokens=tokens),
        introductions=Introductions(tokens=tokens),
        pending=numbers_in_prose(tokens, (found.claim for found in reader.found)),
    )


def _are_known(sources: Sources, claims: Sequence[Claim], mentioned: Sequence[InProse]) -> bool:
    """Say whether every number outside the claims is a result, a given one, or a constant."""
    known = [claim.result for claim in claims if claim.result is not None]
    ratios = {value.as_integer_ratio() for value in (*known, *sources.defined)}
    for step, _, token, _ in mentioned:
        is_known = token.value.as_integer_ratio() in ratios or sources.ground.gives(token.value)
        if not is_known and not sources.constants.knows(token.value, token.currency, step):
            return False
    return True
