"""What stopping early saves: samples drawn, rounds, and how often the vote of all of them would have been another.

    python benchmarks/sampling_rounds.py SAMPLES.jsonl [SAMPLES.jsonl ...] [--most 10]

Each line is a JSON object with `problem` and `samples`, texts of one problem. The first is scored, the others are drawn
in their order as far as each rule goes. No model is asked.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rafs.ballot import Ballot, SampleReader
from rafs.conclusion import least_consensus
from rafs.errors import InputError
from rafs.outcomes import Measured
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.rounds import StopRule
from rafs.sampling import Samples
from rafs.types import Sampled

LEAST = least_consensus(load_registry().policy.to_policy())


@dataclass(slots=True)
class Savings:
    """Of one rule, over all problems."""

    drawn: int = 0
    planned: int = 0
    rounds: int = 0
    changed: int = 0
    """Problems where all samples say something else of whether the stated answer is the modal one."""
    shift: float = 0.0
    """Sum of C as it is reported, less C of all samples."""


async def vote(reader: SampleReader, texts: Sequence[Sampled], n_planned: int) -> Ballot:
    """Count the votes of what was drawn."""
    samples = Samples(texts=tuple(texts), drawn=True, n_planned=n_planned)
    return await reader.count(samples, await reader.read(samples))


async def draw(reader: SampleReader, texts: Sequence[Sampled], rule: StopRule) -> tuple[Sequence[Sampled], int]:
    """Return what is drawn under a rule, and in how many rounds."""
    n_drawn = rounds = 0
    while n_drawn < len(texts):
        wanted, _ = await reader.plan(len(texts), rule, LEAST if rule is StopRule.VOTE else None, texts[:n_drawn])
        if wanted == 0:
            break
        n_drawn, rounds = n_drawn + wanted, rounds + 1
    return texts[:n_drawn], rounds


def value(ballot: Ballot) -> float:
    """Return C, 0 where it is unmeasured."""
    component = ballot.consensus.component
    return component.value if isinstance(component, Measured) else 0.0


async def measure(problem: str, samples: Sequence[str], savings: dict[StopRule, Savings]) -> bool:
    """Add one problem; False where its first sample cannot be read."""
    try:
        reader = SampleReader(read_text(problem, samples[0], None))
    except InputError:
        return False
    texts = [Sampled(text=text, truncated=False) for text in samples[1:]]
    whole = await vote(reader, texts, len(texts))
    for rule, sums in savings.items():
        drawn, rounds = await draw(reader, texts, rule)
        part = await vote(reader, drawn, len(texts))
        sums.drawn += len(drawn)
        sums.planned += len(texts)
        sums.rounds += rounds
        sums.changed += part.consensus.answer_is_modal is not whole.consensus.answer_is_modal
        sums.shift += value(part) - value(whole)
    return True


async def run(file: Path, most: int) -> None:
    """Measure one file and print a line for every rule."""
    savings = {rule: Savings() for rule in StopRule}
    n = 0
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if len(row["samples"]) > 3:
            n += await measure(row["problem"], row["samples"][:most], savings)
    print(f"{file.name}: {n} problems")
    for rule, sums in savings.items():
        print(
            f"  {rule:9} {sums.drawn / max(1, sums.planned):6.1%} drawn, {sums.rounds / max(1, n):.2f} rounds, "
            f"{sums.changed} of {n} votes changed, C {sums.shift / max(1, n):+.3f} on average"
        )


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*", type=Path, help="one JSON object a line, with `problem` and `samples`")
    parser.add_argument(
        "--most", type=int, default=10, help="samples that are taken of a problem, the scored one included"
    )
    options = parser.parse_args()
    if not options.samples:
        print("skipped: it measures on samples; name their file")
    for file in options.samples:
        asyncio.run(run(file, options.most))


if __name__ == "__main__":
    main()
