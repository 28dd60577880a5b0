"""What a writer makes of edits of its own traces, and of traces into which an error was planted; and what asking costs.

    python benchmarks/continuations.py PROBLEMS.jsonl --models-file MODELS.yaml [--preset deep] [--at-once 8] [--out F]

Each line of the file is a JSON object with `problem`. The generator, the first of the preset unless named, writes one
trace of each. A planted error is another number for one conclusion, from which the generator writes on to an answer of
its own; that trace is then measured like the others. Nothing is stopped early, so the shares are of all continuations.
Intervals are of problems drawn again: the continuations of one problem are no independent observations.

`--out` keeps a line for every problem, with its traces, edits, continuations and costs; a run that finds the file asks
for the problems that are not in it.
"""

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import Progress

from benchmarks.continuation_rows import EffectRow, Kind, ProblemRow, TraceRow, print_rows, read_rows
from counterfactuals.edits import draw_edits
from counterfactuals.pivotal import rank_pivots
from counterfactuals.prefixes import edited_prefix
from counterfactuals.probe import CounterfactualProber
from rafs.contracts import Generator
from rafs.derivation import link_answer
from rafs.errors import BackendError, ConfigError, InputError, OverloadedError
from rafs.interventions import EditFamily, Interventions, ProbeLimits
from rafs.outcomes import Measured
from rafs.policy import Preset
from rafs.probes import ProbeFinding
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.types import Abstained, Reading, Why
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock

PATIENCE_S = 3600.0
"""For one trace; a benchmark waits."""

Asked = tuple[str, list[TraceRow]]
"""What the generator wrote, and the traces that were measured."""


async def never(so_far: Interventions) -> bool:
    """Nothing is settled here."""
    return False


async def observe(
    reading: Reading, kind: Kind, generator: Generator, preset: Preset, m_min: int, seed: int
) -> TraceRow:
    """Edit and probe one trace.

    Raises:
        BackendError: The generator failed.
    """
    prober = CounterfactualProber(
        n_edits=preset.n_edits, n_continuations=preset.n_continuations, m_min=m_min, probes=preset.probes
    )
    trace, meter, started = reading.trace, Meter(), perf_counter()
    unjudged = [Abstained(why=Why.NOT_EVALUATED)] * len(trace.derivation())
    target = link_answer(trace, reading.graph).target
    limits = ProbeLimits(ends_at=asyncio.get_running_loop().time() + PATIENCE_S, is_settled=never)
    found = await prober.probe(reading, target, unjudged, generator, seed, meter, limits)
    if found.missing is not None:
        raise BackendError(f"the generator failed: {found.missing.reason}")
    return TraceRow(
        kind=kind,
        text="\n".join(step.text for step in trace.steps),
        answer="" if trace.answer is None else trace.answer.text,
        effects=_effect_rows(reading, found),
        discarded=found.discarded,
        probes=_probe_values(found.probes),
        tokens=sum(stage.tokens for stage in meter.stages.values()),
        seconds=perf_counter() - started,
    )


def _effect_rows(reading: Reading, found: Interventions) -> tuple[EffectRow, ...]:
    rows = []
    for effect in found.effects:
        edit, prefix = effect.edit, edited_prefix(reading.trace, effect.edit)
        row = EffectRow(
            step=edit.step,
            family=edit.family.value,
            old=str(edit.old),
            new=str(edit.new),
            predicted=None if edit.predicted is None else str(edit.predicted),
            prefix=prefix,
            responses=effect.responses,
            continuations=tuple(said.text for one in found.continued if one.prefix == prefix for said in one.texts),
            delta=effect.delta,
        )
        rows.append(row)
    return tuple(rows)


def _probe_values(findings: Sequence[ProbeFinding]) -> dict[str, float]:
    values = {finding.kind.value: finding.component for finding in findings}
    values |= {f"{one.kind.value}, not reworded": one.baseline for one in findings if one.baseline is not None}
    return {name: value.value for name, value in values.items() if isinstance(value, Measured)}


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
                return None if said.truncated else _read(reading.trace.problem, prefix + said.text)
    return None


def _read(problem: str, text: str) -> Reading | None:
    try:
        reading = read_text(problem, text, None)
    except InputError:
        return None
    return reading if reading.trace.answer is not None and reading.trace.derivation() else None


async def ask(problem: str, generator: Generator, preset: Preset, m_min: int, seed: int) -> Asked:
    """Return what the generator writes, and that trace and the one with a planted error, as far as there are such."""
    [said] = await generator.sample(problem, 1, seed, Meter())
    own = None if said.truncated else _read(problem, said.text)
    if own is None:
        return said.text, []
    rows = [await observe(own, Kind.OWN, generator, preset, m_min, seed)]
    planted = await plant(own, generator, seed)
    if planted is not None:
        rows.append(await observe(planted, Kind.PLANTED, generator, preset, m_min, seed))
    return said.text, rows


async def ask_all(
    problems: Sequence[str],
    ask_one: Callable[[str, int], Awaitable[Asked]],
    setting: str,
    at_once: int = 1,
    out: Path | None = None,
) -> list[ProblemRow]:
    """Ask for every problem that `out` does not hold, and return all rows.

    A problem for which the generator fails is named and left out: the next run asks for it again.

    Raises:
        ConfigError: `out` is of another setting.
    """
    rows = [] if out is None else read_rows(out)
    if others := {row.setting for row in rows} - {setting}:
        raise ConfigError(f"--out: got a file of {', '.join(others)}, allowed is one of {setting}")
    known, slots, console = {row.problem for row in rows}, asyncio.Semaphore(at_once), Console(stderr=True)

    async def one(problem: str, seed: int) -> None:
        async with slots:
            try:
                said, traces = await ask_one(problem, seed)
            except (BackendError, OverloadedError) as error:
                console.print(f"problem {seed}: {error}", markup=False)
            else:
                rows.append(
                    ProblemRow(problem=problem, setting=setting, at_once=at_once, said=said, traces=tuple(traces))
                )
                if out is not None:
                    with out.open("a", encoding="utf-8") as file:
                        file.write(rows[-1].model_dump_json() + "\n")
            bar.advance(task)

    with Progress(console=console) as bar:
        task = bar.add_task("asking", total=len(problems), completed=sum(problem in known for problem in problems))
        async with asyncio.TaskGroup() as group:
            for seed, problem in enumerate(problems):
                if problem not in known:
                    group.create_task(one(problem, seed))
    return [row for row in rows if row.problem in problems]


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
        lines = options.problems.read_text("utf-8").split("\n")[: options.limit]
        problems = [json.loads(line)["problem"] for line in lines if line.strip()]
        preset = registry.presets.by_name()[options.preset].to_preset(options.preset)
        m_min, started = registry.policy.m_min, perf_counter()
        rows = await ask_all(
            problems,
            lambda problem, seed: ask(problem, generators[name], preset, m_min, seed),
            f"{name}, {preset.name}, {preset.n_edits} edits, {preset.n_continuations} continuations",
            options.at_once,
            options.out,
        )
        print_rows(rows, m_min)
        print(f"this run took {perf_counter() - started:.0f} s")
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
    parser.add_argument("--at-once", type=int, default=1, help="problems asked at the same time; a server batches them")
    parser.add_argument("--out", type=Path, help="a line for each problem is kept here, and not asked for again")
    options = parser.parse_args()
    if options.problems is None:
        print("skipped: it measures on problems; name their file, and a models.yaml with a generator")
        return
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
