"""Stages 1 and 2: one text read into steps, claims and a quantity graph."""

from collections.abc import Sequence
from dataclasses import replace

from rafs.algebra import settle
from rafs.contracts import Algebra
from rafs.quantities import read_graph
from rafs.steps import read_trace
from rafs.types import BlindStep, Reading


def read_text(problem: str, text: str | Sequence[str], stated: str | None) -> Reading:
    """Split a text and read its claims by exact arithmetic; what needs algebra stays unknown."""
    trace = read_trace(problem, text, stated)
    steps = [BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in trace.derivation()]
    return Reading(trace=trace, graph=read_graph(problem, steps))


async def settle_reading(reading: Reading, algebra: Algebra) -> Reading:
    """Ask the algebra worker about the claims that exact arithmetic left open."""
    claims = await settle(reading.graph.claims, algebra)
    return replace(reading, graph=replace(reading.graph, claims=claims))
