"""How the stated answer hangs on the derivation: its end, some other result, something else, or nothing readable."""

from dataclasses import dataclass

from rafs.answers.extraction import answer_value
from rafs.answers.equivalence import equivalent
from rafs.grammar.expressions import show
from rafs.outcomes import Unmeasured
from rafs.support import AnswerEntailment
from rafs.types import QuantityGraph, StepKind, Trace, Truth

E_DERIVED = 1.0
"""e where exact arithmetic ends in the stated answer (ours, as are the next three)."""
E_REACHED = 0.8
"""e where the answer is a result of the derivation, but not clearly its end."""
E_ABSENT = 0.1
"""e where every number of the derivation was read and none leads to the answer."""
E_DIFFERENT = 0.02
"""e where the derivation clearly ends in something else; not 0, since a misreading is possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLink:
    """Where the stated answer stands in the quantity graph."""

    matches: bool | None
    """Whether it is the derived answer; None where the derivation has no clear end."""
    target: int | None
    """Claim whose result the answer depends on; None where it is no result of any claim."""
    is_absent: bool
    """Every number of the derivation was read, and the answer is none of its results."""
    entailment: AnswerEntailment | Unmeasured
    """e by the graph alone."""


def link_answer(trace: Trace, graph: QuantityGraph) -> AnswerLink:
    """Find the stated answer in the graph.

    A difference is only claimed for a derivation with one clear end: a last result that builds on earlier ones, or a
    chain that leaves nothing unused. A list of unconnected calculations ends in nothing.
    """
    if trace.answer is None:
        return _unread("no_answer")
    stated = trace.answer.text
    value = answer_value(stated)
    if graph.derived is not None and (value == graph.derived or _same(stated, show(graph.derived), trace.problem)):
        return _link(True, graph.derived_claim, E_DERIVED, f"the derivation ends in {show(graph.derived)}")
    if value is None:
        return _unread("derivation_not_readable")
    if graph.derived is not None and _has_clear_end(graph):
        return _link(False, graph.derived_claim, E_DIFFERENT, f"the derivation ends in {show(graph.derived)}")
    results = [i for i, claim in enumerate(graph.claims) if claim.result_span is not None]
    reached = [i for i in results if graph.claims[i].result == value]
    if reached:
        return _link(None, reached[-1], E_REACHED, f"{show(value)} is a result, though not clearly the last")
    if results and _is_plain_arithmetic(trace, graph):
        return _link(None, None, E_ABSENT, f"no calculation leads to {show(value)}")
    return _unread("derivation_not_readable")


def _is_plain_arithmetic(trace: Trace, graph: QuantityGraph) -> bool:
    """Whether all inference is arithmetic that was read, so that a number which is no result was not derived."""
    with_claims = {claim.step for claim in graph.claims}
    return (
        graph.complete
        and all(claim.relation == "=" and claim.value is not None for claim in graph.claims)
        and all(step.index in with_claims for step in trace.derivation() if step.kind is StepKind.INFERENCE)
    )


def _unread(reason: str) -> AnswerLink:
    return AnswerLink(matches=None, target=None, is_absent=False, entailment=Unmeasured(reason=reason))


def _link(matches: bool | None, target: int | None, p: float, detail: str) -> AnswerLink:
    entailment = AnswerEntailment(p=p, detail=detail)
    return AnswerLink(matches=matches, target=target, is_absent=p == E_ABSENT, entailment=entailment)


def _same(stated: str, derived: str, problem: str) -> bool:
    return equivalent(stated, derived, problem=problem) is Truth.TRUE


def _has_clear_end(graph: QuantityGraph) -> bool:
    return not [i for i in graph.unused if i != graph.derived_claim]
