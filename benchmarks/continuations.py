"""What a writer makes of edits of its own traces, and of traces into which an error was planted; and what asking costs.

    python benchmarks/continuations.py PROBLEMS.jsonl --models-file MODELS.yaml [--generator ID] [--preset deep]

Each line of the file is a JSON object with `problem`. The generator, the first of the preset unless named, writes one
trace of each. A planted error is a valid edit of one conclusion, from which the generator writes on to an answer of its
own; that trace is then measured like the others. Nothing is stopped early, so that the shares are of all continuations.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import track
from rich.table import Table

from counterfactuals.edits import draw_edits
from counterfactuals.pivotal import rank_pivots
from counterfactuals.prefixes import edited_prefix
from counterfactuals.probe import CounterfactualProber
from rafs.contracts import Generator
from rafs.derivation import link_answer
from rafs.errors import ConfigError, InputError
from rafs.interventions import EditFamily, Interventions, ProbeLimits, Response
from rafs.outcomes import Measured
from rafs.policy import Preset
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.types import Abstained, Reading, Why
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock

PATIENCE_S = 3600.0
"""For one trace; a benchmark waits."""
WIDTH = 120
"""Columns of the table, also where the output is no terminal."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of the traces of one kind."""

    responses: Counter[Response] = field(default_factory=Counter)
    deltas: list[float] = field(default_factory=list)
    probes: dict[str, list[float]] = field(default_factory=dict)
    n_traces: int = 0
    n_measured: int = 0
    """Traces with enough valid interventions."""
    tokens: int = 0
    seconds: float = 0.0

    def add(self, found: Interventions, m_min: int, meter: Meter, seconds: float) -> None:
        """Count one trace."""
        deltas = [effect.delta for effect in found.effects if effect.delta is not None]
        self.n_traces += 1
        self.n_measured += len(deltas) >= m_min
        self.deltas += deltas
        self.responses.update(response for effect in found.effects for response in effect.responses)
        for finding in found.probes:
            if isinstance(finding.component, Measured):
                self.probes.setdefault(finding.kind.value, []).append(finding.component.value)
        self.tokens += sum(stage.tokens for stage in meter.stages.values())
        self.seconds += seconds

    def row(self, kind: str) -> list[str]:
        """Return the cells of its row."""
        total = self.responses.total()
        shares = [f"{self.responses[one] / total:.0%}" if total else "-" for one in SHOWN]
        costs = [f"{self.tokens / self.n_traces:.0f}", f"{self.seconds / self.n_traces:.1f}"] if self.n_traces else []
        return [kind, str(self.n_traces), str(self.n_measured), *shares, _mean(self.deltas), *costs]


SHOWN = (Response.FOLLOWED, Response.MOVED, Response.STAYED, Response.RECOVERED, Response.UNPARSED)


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.2f}" if values else "-"


async def never(so_far: Interventions) -> bool:
    """Nothing is settled here."""
    return False


async def observe(reading: Reading, generator: Generator, preset: Preset, m_min: int, seed: int, tally: Tally) -> None:
    """Edit and probe one trace."""
    prober = CounterfactualProber(
        n_edits=preset.n_edits, n_continuations=preset.n_continuations, m_min=m_min, probes=preset.probes
    )
    unjudged = [Abstained(why=Why.NOT_EVALUATED)] * len(reading.trace.derivation())
    target, meter, started = link_answer(reading.trace, reading.graph).target, Meter(), perf_counter()
    limits = ProbeLimits(ends_at=asyncio.get_running_loop().time() + PATIENCE_S, is_settled=never)
    found = await prober.probe(reading, target, unjudged, generator, seed, meter, limits)
    tally.add(found, m_min, meter, perf_counter() - started)


async def plant(reading: Reading, generator: Generator, seed: int) -> Reading | None:
    """Return a trace that goes on from one falsified conclusion; None where nothing can be falsified."""
    target = link_answer(reading.trace, reading.graph).target
    for pivot in rank_pivots(reading, target, {}, seed):
        if pivot.claim is None:
            continue
        text = reading.trace.steps[pivot.step].blind_text
        edits = draw_edits(reading.graph, pivot.claim, target, text, seed, reading.trace.problem)
        for edit in edits:
            if edit.family is EditFamily.VALUE:
                prefix = edited_prefix(reading.trace, edit)
                [[said]] = await generator.continue_trace(reading.trace.problem, [prefix], 1, seed, Meter())
                return _read(reading.trace.problem, prefix + said.text)
    return None


def _read(problem: str, text: str) -> Reading | None:
    try:
        reading = read_text(problem, text, None)
    except InputError:
        return None
    return reading if reading.trace.answer is not None and reading.trace.derivation() else None


async def measure(problems: Sequence[str], generator: Generator, preset: Preset, m_min: int) -> dict[str, Tally]:
    """Measure the generator's own traces, and those with a planted error."""
    tallies = {"its own": Tally(), "with a planted error": Tally()}
    for seed, problem in enumerate(track(problems, description="asking", console=Console(stderr=True))):
        [said] = await generator.sample(problem, 1, seed, Meter())
        own = None if said.truncated else _read(problem, said.text)
        if own is None:
            continue
        await observe(own, generator, preset, m_min, seed, tallies["its own"])
        planted = await plant(own, generator, seed)
        if planted is not None:
            await observe(planted, generator, preset, m_min, seed, tallies["with a planted error"])
    return tallies


def print_tallies(tallies: dict[str, Tally], n_problems: int) -> None:
    """Print a row for each kind of trace, and the means of the probes."""
    table = Table("traces", "n", "measured", *SHOWN, "mean Delta", "tokens", "seconds")
    for kind, tally in tallies.items():
        table.add_row(*tally.row(kind))
    console = Console(width=WIDTH)
    console.print(f"{n_problems} problems; traces without a readable answer are left out")
    console.print(table)
    for kind, tally in tallies.items():
        means = ", ".join(f"{name} {_mean(values)} (n = {len(values)})" for name, values in tally.probes.items())
        console.print(f"probes of traces {kind}: {means or 'none'}")


async def run(options: argparse.Namespace) -> None:
    """Load the generator, measure, and print."""
    settings = load_settings()
    registry = load_registry(options.models_file)
    stock = Stock(registry, settings.cache_dir, settings.torch_threads)
    try:
        generators = stock.generators(options.preset)
        if not generators:
            raise ConfigError(f"preset {options.preset!r} lists no generator")
        name = options.generator or next(iter(generators))
        if name not in generators:
            raise ConfigError(f"--generator: got {name!r}, allowed {', '.join(generators)}")
        lines = options.problems.read_text("utf-8").splitlines()[: options.limit]
        problems = [json.loads(line)["problem"] for line in lines if line.strip()]
        preset = registry.presets.by_name()[options.preset].to_preset(options.preset)
        print_tallies(await measure(problems, generators[name], preset, registry.policy.m_min), len(problems))
    finally:
        await stock.closing.aclose()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="?", type=Path, help="one JSON object a line, with `problem`")
    parser.add_argument("--models-file", type=Path, help="a models.yaml whose preset lists a generator")
    parser.add_argument("--generator", help="its id; else the first one of the preset")
    parser.add_argument("--preset", default="deep", choices=["gate", "standard", "deep"])
    parser.add_argument("--limit", type=int, default=100, help="problems that are read")
    options = parser.parse_args()
    if options.problems is None:
        print("skipped: it measures on problems; name their file, and a models.yaml with a generator")
        return
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
