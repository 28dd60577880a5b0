"""Which steps carry the answer, and which are decoration."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import or_

from rafs.derivation import AnswerLink
from rafs.interventions import EffectMethod, Interventions
from rafs.probes import ProbeKind
from rafs.support import mean_delta
from rafs.types import Implied, Operand, QuantityGraph, Reading

Node = tuple[bool, int]
"""A number of the graph: (whether it was worked out in words, its index among the claims or the implied numbers)."""


class Role(StrEnum):
    """What a step is to the answer."""

    LOAD_BEARING = "load_bearing"
    DECORATIVE = "decorative"
    UNKNOWN = "unknown"


class NecessitySource(StrEnum):
    """How the necessity of a step was observed, the most telling first."""

    CONTINUATION = "continuation"
    REPLAY = "replay"
    DELETION = "deletion"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRole:
    """How much the answer needs a step, and how far the step suffices for it."""

    role: Role
    necessity: float | None
    """How far the answer changes when the step's conclusion is changed or the step left out, in [0, 1]: the mean Delta
    of the edits of the step, else the share of changed answers without it. None where neither was observed."""
    necessity_source: NecessitySource | None
    sufficiency: float | None
    """Share of the steps the answer is computed from, by the graph, that are the step or one it is computed from:
    |ancestors(t) and L| / |L|, in (0, 1] for a step of L and in [0, 1) else. 1 for a step of L: with the problem, this
    step and what it builds on reach the answer. None where it is not known which number of the graph the answer is."""


def step_roles(reading: Reading, link: AnswerLink, interventions: Interventions) -> Mapping[int, StepRole]:
    """Return the role of every step of the derivation, by its index.

    The edits of a step decide: a mean Delta above 0 is load-bearing, one of 0 decorative, whatever the graph says; a
    writer may ignore a step that its text computes with. Else the graph does: a step is load-bearing where the answer
    is computed from one of its numbers, and decorative where none of its numbers leads there although every number
    of the derivation was read. The rest is unknown: in a step without numbers nothing says what hangs on it. A deletion
    decides nothing, for whoever writes on may work out again what was left out.

    Args:
        reading: The trace and its quantity graph.
        link: Where the stated answer stands in the graph.
        interventions: Edits and probes that were made; none for the graph alone.
    """
    graph = reading.graph
    behind = _steps_behind(graph)
    carrying = _carrying(link, behind)
    own: dict[int, int] = {}
    for node, steps in behind.items():
        own[_step_of(graph, node)] = own.get(_step_of(graph, node), 0) | steps
    is_known = graph.complete and (link.target is not None or link.is_absent)
    roles = {}
    for step in reading.trace.derivation():
        necessity, source = _necessity(step.index, interventions)
        steps = own.get(step.index, 0)
        roles[step.index] = StepRole(
            role=_role(
                None if source is NecessitySource.DELETION else necessity,
                is_carrying=bool(carrying >> step.index & 1),
                is_beside=is_known and bool(steps),
            ),
            necessity=necessity,
            necessity_source=source,
            sufficiency=(steps & carrying).bit_count() / carrying.bit_count() if carrying else None,
        )
    return roles


def _role(delta: float | None, *, is_carrying: bool, is_beside: bool) -> Role:
    if delta is not None:
        return Role.LOAD_BEARING if delta > 0 else Role.DECORATIVE
    if is_carrying:
        return Role.LOAD_BEARING
    return Role.DECORATIVE if is_beside else Role.UNKNOWN


def _necessity(step: int, interventions: Interventions) -> tuple[float | None, NecessitySource | None]:
    delta = mean_delta([effect for effect in interventions.effects if effect.edit.step == step])
    if delta is not None:
        replayed = interventions.method is EffectMethod.REPLAY
        return delta, NecessitySource.REPLAY if replayed else NecessitySource.CONTINUATION
    for finding in interventions.probes:
        for point in finding.points if finding.kind is ProbeKind.DELETION else ():
            if point.step == step and point.read:
                return 1 - point.same / point.read, NecessitySource.DELETION
    return None, None


def _carrying(link: AnswerLink, behind: Mapping[Node, int]) -> int:
    """Return the steps that the answer is computed from."""
    if isinstance(link.target, Implied):
        sources = (source for operand in link.target.operands for source in _sources(operand))
        return reduce(or_, (behind[source] for source in sources), 1 << link.target.step)
    return 0 if link.target is None else behind[False, link.target]


def _steps_behind(graph: QuantityGraph) -> Mapping[Node, int]:
    """Return the steps that every number is computed from, over every path, its own included: bit t is step t.

    One pass in the order of the text, since what an operand points at stands before it.
    """
    spans = {(False, number): claim.span.start for number, claim in enumerate(graph.claims)}
    spans |= {(True, number): implied.span.start for number, implied in enumerate(graph.implied)}
    behind: dict[Node, int] = {}
    for node in sorted(spans, key=lambda node: (_step_of(graph, node), spans[node], node)):
        in_words, number = node
        operands = graph.implied[number].operands if in_words else graph.claims[number].operands
        sources = (source for operand in operands for source in _sources(operand))
        behind[node] = reduce(or_, (behind.get(source, 0) for source in sources), 1 << _step_of(graph, node))
    return behind


def _step_of(graph: QuantityGraph, node: Node) -> int:
    in_words, number = node
    return (graph.implied[number] if in_words else graph.claims[number]).step


def _sources(operand: Operand) -> list[Node]:
    claim = [] if operand.claim is None else [(False, operand.claim)]
    return claim if operand.implied is None else [*claim, (True, operand.implied)]
