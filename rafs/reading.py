"""Stages 1 and 2: one text read into steps, claims and a quantity graph."""

from collections.abc import Sequence
from dataclasses import replace

from rafs.algebra import settle
from rafs.contracts import Algebra
from rafs.errors import InputError
from rafs.limits import MAX_STEP_CHARS, MAX_STEPS
from rafs.quantities.graph import read_graph
from rafs.steps import read_trace
from rafs.types import BlindStep, Reading, Trace


def read_text(problem: str, text: str | Sequence[str], stated: str | None, field: str = "trace") -> Reading:
    """Split a text and read its claims by exact arithmetic; what needs algebra stays unknown.

    Args:
        problem: The problem.
        text: A chain of thought, or the caller's own steps.
        stated: The answer that the caller sent apart from it.
        field: Where the text stood in the request, for the error.

    Raises:
        InputError: The text falls into too many steps, or one of them is too long.
    """
    trace = read_trace(problem, text, stated)
    _check_size(trace, field)
    steps = [BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in trace.derivation()]
    return Reading(trace=trace, graph=read_graph(problem, steps))


def _check_size(trace: Trace, field: str) -> None:
    if len(trace.steps) > MAX_STEPS:
        raise InputError(
            f"the text falls into {len(trace.steps)} steps, at most {MAX_STEPS} are scored",
            field=field,
            got=f"{len(trace.steps)} steps",
            allowed=f"at most {MAX_STEPS} steps",
        )
    longest = max(trace.steps, key=lambda step: len(step.text), default=None)
    if longest is not None and len(longest.text) > MAX_STEP_CHARS:
        raise InputError(
            f"step {longest.index} has {len(longest.text)} characters, at most {MAX_STEP_CHARS} are scored",
            field=field,
            got=f"a step of {len(longest.text)} characters",
            allowed=f"steps of at most {MAX_STEP_CHARS} characters",
        )


async def settle_reading(reading: Reading, algebra: Algebra) -> Reading:
    """Ask the algebra worker about the claims that exact arithmetic left open."""
    claims = await settle(reading.graph.claims, algebra)
    return replace(reading, graph=replace(reading.graph, claims=claims))
