"""Measure the numbers of rafs/calibration.py on labelled traces: how often a step is right, given who says what.

Each line of a file is a JSON object with `problem`, `steps`, `first_error` (0-based, null where there is none) and
`solution_correct`. Steps before the first error are right, it is wrong, and of later ones nothing is known.

    python benchmarks/measure_defaults.py FILE.jsonl... [--judge N] [--seed S]

`--judge N` also asks the embedded judge about the steps of N traces drawn by the seed, and fits its Platt scale.
"""

import argparse
import asyncio
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.progress import track

from rafs.derivation import link_answer
from rafs.log_odds import logit
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.types import Judged, Reading
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock
from verifiers.symbolic import CheckerSays, check_step

PRESET = "standard"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One trace, and whether each step of its derivation up to the first error is right."""

    reading: Reading
    labels: tuple[bool, ...]
    solution_correct: bool


def read_labelled(paths: Sequence[Path]) -> Iterator[Labelled]:
    """Yield every trace whose labels say where it goes wrong, if it does."""
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            first, correct = row["first_error"], row["solution_correct"]
            if correct is None or (first is None) != correct:
                continue
            reading = read_text(row["problem"], row["steps"], None)
            judged = [step.index for step in reading.trace.derivation() if correct or step.index <= first]
            yield Labelled(reading=reading, labels=tuple(t != first for t in judged), solution_correct=correct)


def report_checker(traces: Sequence[Labelled]) -> None:
    """Print the share of right steps for each thing the checker can say."""
    steps = Counter(
        (check_step(trace.reading.blind(), position), right)
        for trace in traces
        for position, right in enumerate(trace.labels)
    )
    total, right = steps.total(), sum(n for (_, is_right), n in steps.items() if is_right)
    print(f"{len(traces)} traces, {total} labelled steps, prior {right / total:.4f}")
    for kind in CheckerSays:
        n = steps[kind, True] + steps[kind, False]
        print(f"  {kind:10} {n:6} steps, right {steps[kind, True] / max(n, 1):.4f}")


def report_traces(traces: Sequence[Labelled]) -> None:
    """Print how often whole traces are refuted or doubted, and how their answers hang on them."""
    for correct in (True, False):
        group = [trace for trace in traces if trace.solution_correct is correct]
        kinds = [{check_step(trace.reading.blind(), t) for t in range(len(trace.labels))} for trace in group]
        links = Counter(link_answer(trace.reading.trace, trace.reading.graph).matches for trace in group)
        n = max(len(group), 1)
        print(
            f"  {'right' if correct else 'wrong'} solutions {len(group):5}:"
            f" refuted {sum(CheckerSays.REFUTED in k for k in kinds) / n:.4f},"
            f" with an invented quantity {sum(CheckerSays.INVENTED in k for k in kinds) / n:.4f},"
            f" answer is the derived one {links[True] / n:.4f}, differs from it {links[False] / n:.4f}"
        )


async def report_judge(traces: Sequence[Labelled]) -> None:
    """Print AUROC and Platt scale of the embedded judge on steps that no checker refuted."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    settings = load_settings()
    judge = Stock(load_registry(settings.models_file), settings.cache_dir, settings.torch_threads).judges(PRESET)[0]
    said: list[tuple[float, bool]] = []
    for trace in track(traces, description="asking the judge"):
        ask = [t for t in range(len(trace.labels)) if check_step(trace.reading.blind(), t) is not CheckerSays.REFUTED]
        verdicts = await judge.verify(trace.reading.blind(), ask, Meter())
        said += [
            (logit(v.p_correct), trace.labels[t]) for t, v in zip(ask, verdicts, strict=True) if isinstance(v, Judged)
        ]
    values, labels = [[value] for value, _ in said], [right for _, right in said]
    fitted = LogisticRegression(C=1e6).fit(values, labels)
    print(
        f"judge on {len(said)} steps of {len(traces)} traces: AUROC {roc_auc_score(labels, values):.3f},"
        f" scale intercept {fitted.intercept_[0]:.3f}, slope {fitted.coef_[0][0]:.3f}"
    )


def main() -> None:
    """Read the files and print every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="labelled traces, one JSON object a line")
    parser.add_argument("--judge", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not options.files:
        print("skipped: it measures on labelled traces; name their files")
        return
    traces = list(read_labelled(options.files))
    report_checker(traces)
    report_traces(traces)
    if options.judge:
        drawn = random.Random(options.seed).sample(traces, min(options.judge, len(traces)))
        asyncio.run(report_judge(drawn))


if __name__ == "__main__":
    main()
