"""Simulate what intervals and thresholds promise: how often the interval holds the truth, how often the bound breaks.

    python benchmarks/guarantees.py [--simulations 1000] [--splits 1000]

Coverage: problems with 1 to 4 traces that share a difficulty, so that traces of one problem are dependent; the truth is
the metric on 200 000 problems. 95 % intervals are to hold it in 93 to 97 % of the simulations.

Bound: the same traces with a score; the risk of what a learned threshold accepts, read off 200 000 problems, is to be
above alpha in at most a share delta of the calibration sets. In `level` the risk is the same at every score and just
above alpha, so that every threshold is a violation: the hardest case. In `reversed` the best scores are the worst,
which the guarantee excludes in words.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from rafs.evaluation.detection import Floats, auroc, average_precision, recall_at_false_alarm
from rafs.evaluation.intervals import Bools, Figure, Metric, draw_resamples, measure, share
from rafs.evaluation.risk import Threshold, learn_threshold
from rafs.evaluation.selection import area_under_risk_coverage

N_WORLD = 200_000
ALPHA = DELTA = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Traces of some problems."""

    problem: np.ndarray
    flawed: Bools
    suspicion: Floats


def draw(generator: np.random.Generator, n_problems: int) -> Drawn:
    """Draw problems of a difficulty each, which moves both the flaws of their traces and how suspect these look."""
    problem = np.repeat(np.arange(n_problems), generator.integers(1, 5, n_problems))
    hard = 0.8 * generator.normal(size=n_problems)[problem]
    flawed = hard + generator.normal(size=len(problem)) > 0.8
    return Drawn(problem=problem, flawed=flawed, suspicion=flawed + 0.3 * hard + generator.normal(size=len(problem)))


def half_accepted(drawn: Drawn) -> Metric:
    """Risk of the less suspect half of all traces."""
    return lambda weights: share(weights, drawn.flawed, drawn.suspicion < 0.25)


METRICS: dict[str, Callable[[Drawn], Metric]] = {
    "share flawed": lambda drawn: lambda weights: share(weights, drawn.flawed),
    "risk of the accepted": half_accepted,
    "auroc": lambda drawn: auroc(drawn.flawed, drawn.suspicion),
    "auprc": lambda drawn: average_precision(drawn.flawed, drawn.suspicion),
    "recall at 10 % false alarm": lambda drawn: recall_at_false_alarm(drawn.flawed, drawn.suspicion, 0.1),
    "aurc": lambda drawn: area_under_risk_coverage(-drawn.suspicion, ~drawn.flawed),
}


def coverage(n_simulations: int, console: Console) -> None:
    """Print how often the interval of each metric holds the truth."""
    generator = np.random.default_rng(1)
    world = draw(generator, N_WORLD)
    truth = {name: metric(world)(np.ones((1, len(world.problem))))[0] for name, metric in METRICS.items()}
    table = Table("problems", *METRICS, title=f"intervals that hold the truth, of {n_simulations}")
    for n_problems in (30, 60, 200):
        held: dict[str, list[bool]] = {name: [] for name in METRICS}
        for seed in range(n_simulations):
            drawn = draw(generator, n_problems)
            resamples = draw_resamples([str(name) for name in drawn.problem], seed=seed)
            for name, metric in METRICS.items():
                figure = measure(metric(drawn), resamples, "undefined")
                if isinstance(figure, Figure) and figure.low is not None and figure.high is not None:
                    held[name].append(bool(figure.low <= truth[name] <= figure.high))
        table.add_row(str(n_problems), *(f"{np.mean(values):.1%}" for values in held.values()))
    console.print(table)


SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "falling": lambda score: 0.5 * (1 - score / 100) ** 2,
    "level": lambda score: np.full(len(score), ALPHA + 1e-4),
    "reversed": lambda score: 0.25 * (score / 100) ** 2,
}


def scored(
    generator: np.random.Generator, n_problems: int, shape: Callable[[Floats], Floats]
) -> tuple[Floats, Bools, np.ndarray]:
    """Draw traces of which all of one problem share score and fate."""
    score = generator.uniform(0, 100, n_problems)
    faithful = generator.random(n_problems) >= shape(score)
    problem = np.repeat(np.arange(n_problems), generator.integers(1, 4, n_problems))
    return score[problem], faithful[problem], problem


def bound(n_splits: int, console: Console) -> None:
    """Print how often the risk of a learned threshold is above alpha."""
    generator = np.random.default_rng(2)
    table = Table("risk", "problems", "no threshold", "mean threshold", "violations", "allowed")
    for name, shape in SHAPES.items():
        grid = np.linspace(0, 100, 10_001)
        above = np.cumsum(shape(grid)[::-1])[::-1] / np.arange(len(grid), 0, -1)
        for n_problems in (200, 1000):
            values = []
            for split in range(n_splits):
                score, faithful, problem = scored(generator, n_problems, shape)
                names = [str(name) for name in problem]
                learned = learn_threshold(score, faithful, names, alpha=ALPHA, delta=DELTA, seed=split)
                if isinstance(learned, Threshold):
                    values.append(learned.value)
            broken = sum(above[min(round(value * 100), 10_000)] > ALPHA for value in values)
            mean = f"{np.mean(values):.1f}" if values else "-"
            row = (str(n_problems), f"{1 - len(values) / n_splits:.1%}", mean, f"{broken / n_splits:.1%}")
            table.add_row(name, *row, f"{DELTA:.0%}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=1000)
    arguments = parser.parse_args()
    console = Console()
    coverage(arguments.simulations, console)
    bound(arguments.splits, console)


if __name__ == "__main__":
    main()
