"""Every goal of speed in one table: the goal, what was measured here, and whether it is met.

    python benchmarks/goals.py [--repeats N]    minutes on one core; leave the other core idle

Counts are exact on any machine. Times are processor time of one thread, each the least of interleaved repeats in this
process, and only their ratios mean anything. What needs a model server is measured by `make test-vllm`.
"""

import argparse
import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import decoding, service_overhead, step_probes
from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.observability import configure_logging
from service.settings import load_settings
from service.wiring import build_scorer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

SPEED_UP = {8: 3.5, 16: 6.0, 32: 10.0}
"""Over one prompt a step, by the number of steps."""
REFUTED = ScoreRequest(problem="Ann has 12 pens and buys 9.", trace="12 + 9 = 22.\nThe answer is 22.", preset="gate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One row."""

    what: str
    goal: str
    measured: str
    is_met: bool


def at_most(what: str, bound: float, measured: float, unit: str = "") -> Goal:
    return Goal(what=what, goal=f"<= {bound:g}{unit}", measured=f"{measured:.3g}{unit}", is_met=measured <= bound)


def at_least(what: str, bound: float, measured: float) -> Goal:
    return Goal(what=what, goal=f">= {bound:g} x", measured=f"{measured:.2f} x", is_met=measured >= bound)


def exactly(what: str, ideal: int, measured: int) -> Goal:
    return Goal(what=what, goal=f"{ideal} tokens", measured=f"{measured} tokens", is_met=measured == ideal)


def of_step_probes(model: "PreTrainedModel", repeats: int) -> Iterator[Goal]:
    """The one-pass judge: tokens, exactness, time against the floor and against one prompt a step."""
    costs = [step_probes.measure(model, n_steps, repeats) for n_steps in track(step_probes.STEPS, "judging")]
    for cost in costs:
        of = f"judge, T = {cost.n_steps}"
        yield exactly(f"1 {of}: tokens", cost.ideal_tokens, cost.tokens)
        yield at_most(f"2 {of}: max |dlogit|, fp32", 1e-4, cost.difference)
        yield at_most(f"3 {of}: time / one causal pass", 1.15, cost.chosen_s / cost.floor_s)
        yield at_least(f"5 {of}: time of separate prompts / ours", SPEED_UP[cost.n_steps], cost.naive_s / cost.chosen_s)
        appended = step_probes.STEP + step_probes.QUESTION
        yield exactly(f"14 {of}: a step appended", appended, cost.appended_tokens)
    yield at_most("4 judge: exponent of time in T", 1.1, step_probes.exponent(costs[0], costs[-1]))


def of_decoding(model: "PreTrainedModel", repeats: int) -> Iterator[Goal]:
    """Continuing the edits of a trace together."""
    for n_edits in track(decoding.EDITS, "continuing"):
        cost = decoding.measure(model, n_edits, repeats)
        of = f"6 counterfactuals, M = {n_edits}"
        yield exactly(f"{of}: prefill", cost.ideal_tokens, cost.prefill_tokens)
        yield at_least(f"{of}: time of M generate calls / ours", 2.0, cost.calls_s / cost.batch_s)
        same = f"{cost.same_rows} of {n_edits}"
        yield Goal(what=f"{of}: same greedy tokens", goal="all", measured=same, is_met=cost.same_rows == n_edits)


def of_service(repeats: int) -> Iterator[Goal]:
    """What RAFS costs around its models, and what it does not compute again."""
    found = asyncio.run(service_overhead.measure(repeats))
    yield at_most("8 service: CPU of queue and HTTP", 1.0, found.service_ms, " ms")
    yield at_most("8 service and engine: CPU over the model's", 3.0, 100 * found.share, " %")
    yield at_most("13 warm hit: wall time", 2.0, found.warm_wall_ms, " ms")
    yield exactly("13 warm hit", 0, found.warm_tokens)


def of_gate() -> Iterator[Goal]:
    """A trace with a refuted step in front of a user."""
    response = asyncio.run(_score(REFUTED))
    tokens = sum(stage.tokens for stage in response.usage)
    yield exactly("15 gate: a refuted trace", 0, tokens)


async def _score(request: ScoreRequest) -> ScoreResponse:
    scorer = build_scorer(load_settings())
    try:
        return await scorer.score(request)
    finally:
        await scorer.close()


def main() -> None:
    """Measure and print one row a goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=step_probes.REPEATS)
    repeats = parser.parse_args().repeats
    configure_logging("warning")
    model = step_probes.load_embedded()
    goals = [*of_gate(), *of_step_probes(model, repeats), *of_decoding(model, repeats), *of_service(repeats)]
    table = Table("goal", "asked", "measured", "")
    for goal in sorted(goals, key=lambda goal: int(goal.what.split()[0])):
        table.add_row(goal.what, goal.goal, goal.measured, "met" if goal.is_met else "[red]missed[/red]")
    Console().print(table)


if __name__ == "__main__":
    main()
