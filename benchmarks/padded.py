"""What idle steps and other words do to a verifier's word: they should not raise it.

    python benchmarks/padded.py FILE.jsonl [--model-id ID] [--traces N]

FILE holds labelled traces that the verifier did not learn from. Each is judged as it is; with a true but idle
calculation behind every step (`padded`); and with its steps in other words by rule (`reworded`). Shown is how
P(correct) of the trace's own steps and the step validity P change: mean with half-width of its 95 % interval over
traces, and the largest rise.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from counterfactuals.paraphrase import reword_step
from rafs.contracts import Verifier
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.labels import LabelledTrace
from rafs.outcomes import Measured
from rafs.padding import carrying_steps
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.types import Judged
from rafs.usage import Meter
from rafs.validity import step_validity
from service.settings import load_settings
from service.stock import Stock

PRESET = "standard"

Word = tuple[float, float]
"""Mean P(correct) of the trace's own steps, and the step validity P."""


def padded(trace: LabelledTrace) -> tuple[list[str], list[int]]:
    """Return the steps with an idle calculation behind each, and the places of the own ones."""
    drawn = random.Random(trace.id)
    steps: list[str] = []
    for step in trace.steps:
        first, second = drawn.randint(2, 40), drawn.randint(2, 40)
        steps += [step, f"We also know that {first} + {second} = {first + second}."]
    return steps, list(range(0, len(steps), 2))


def reworded(trace: LabelledTrace) -> tuple[list[str], list[int]]:
    """Return the steps in other words where a rule applies, and their places."""
    blind = read_text(trace.problem, trace.steps, None).blind()
    other = {step.index: reword_step(step, trace.problem) for step in blind.steps}
    return [other.get(t) or step for t, step in enumerate(trace.steps)], list(range(len(trace.steps)))


async def ask(
    verifier: Verifier, problem: str, steps: Sequence[str], own: Sequence[int], mean_weight: float
) -> Word | None:
    """Return what the verifier makes of a trace; None where it judged none of its own steps."""
    reading = read_text(problem, tuple(steps), None)
    blind = reading.blind()
    verdicts = await verifier.verify(blind, range(len(blind.steps)), Meter())
    words = [
        verdict.p_correct
        for step, verdict in zip(blind.steps, verdicts, strict=True)
        if step.index in own and isinstance(verdict, Judged)
    ]
    validity = step_validity(verdicts, carrying_steps(reading), mean_weight)
    return (float(np.mean(words)), validity.value) if words and isinstance(validity, Measured) else None


async def run(path: Path, model_id: str, n_traces: int) -> None:
    """Ask the verifier about every trace in three forms, and print the table."""
    settings = load_settings()
    secret = settings.edit_secret.get_secret_value().encode()
    registry = load_registry(settings.models_file)
    weight = registry.policy.to_policy().mean_weight
    stock = Stock(registry, settings.cache_dir, settings.torch_threads, settings.pull_command, secret)
    rises: dict[str, list[tuple[float, float]]] = {"padded": [], "reworded": []}
    async with stock.closing:
        asked = [*stock.prms(PRESET), *stock.judges(PRESET)]
        verifier = next(one for one in asked if one.name.partition(":")[2] == model_id)
        for trace in track(list(read_traces(path))[:n_traces]):
            plain = await ask(verifier, trace.problem, trace.steps, range(len(trace.steps)), weight)
            for name, change in (("padded", padded), ("reworded", reworded)):
                word = await ask(verifier, trace.problem, *change(trace), weight)
                if plain is not None and word is not None:
                    rises[name].append((word[0] - plain[0], word[1] - plain[1]))
    table = Table("change", "traces", "own steps", "largest rise", "P", "largest rise")
    for name, pairs in rises.items():
        columns = np.array(pairs).T
        half = 1.96 * columns.std(axis=1) / np.sqrt(columns.shape[1])
        cells = [f"{c.mean():+.3f} ± {h:.3f} {c.max():+.3f}" for c, h in zip(columns, half, strict=True)]
        table.add_row(name, str(len(pairs)), *(part for cell in cells for part in cell.rsplit(" ", 1)))
    Console(width=120).print(table)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--model-id", default="smollm2-135m-steps")
    parser.add_argument("--traces", type=int, default=60)
    options = parser.parse_args()
    if options.file is None:
        print("skipped: it needs labelled traces, given as a file")
        return
    asyncio.run(run(options.file, options.model_id, options.traces))


if __name__ == "__main__":
    main()
