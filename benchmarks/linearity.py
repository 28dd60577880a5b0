"""Measure how the time of reading a text grows with its length: split, claims and graph, without the service's limits.

    python benchmarks/linearity.py [--max-kb 1024] [--kinds prose latex ...] [--budget 20] [--profile KIND]

Each kind of text is made in doubling sizes from 1 kB up, until the largest size or until one reading takes longer than
the budget of seconds. Printed are the times of the three stages at the largest size, the exponent of the least-squares
fit of log time over log size from `FIT_FROM_KB` up (1 is linear), and the same exponent for each stage. Exits with 1
where the whole exceeds `MAX_EXPONENT`. `--profile` prints where the time of one kind goes at its largest size.
"""

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
from rich.console import Console
from rich.table import Table

from rafs.answers.statements import read_statements
from rafs.claims.reader import read_claims
from rafs.quantities.graph import read_graph
from rafs.steps import read_trace
from rafs.types import BlindStep

MAX_EXPONENT = 1.1
FIT_FROM_KB = 8
"""Below it, what is paid once a text hides the slope."""
PROBLEM = "Ann has 12 boxes of 36 pens and gives away a third of them. How many pens are left?"
REPEATED_BELOW_S = 0.5
"""A shorter reading is the best of three: a neighbour on the same core bends the fit."""
STAGES = ("split", "claims", "graph")


def prose() -> Iterator[str]:
    """Yield sentences of an honest solution, each with numbers of its own."""
    for n in count(2):
        yield f"Step {n}: There are {n} shelves of {n + 5} books, so we have {n} * {n + 5} = {n * (n + 5)} books.\n"
        yield f"Half of the {2 * n} visitors bought a ticket for $3, which makes {n} x $3 = ${3 * n}. "
        yield f"Subtracting {n} from {n * 7} leaves {n * 6}, and therefore the total grows.\n\n"


def latex() -> Iterator[str]:
    """Yield displayed equations with fractions, roots and environments."""
    for n in count(2):
        yield rf"We compute $\frac{{{n}}}{{2}} + \frac{{{n}}}{{2}} = {n}$ and $\sqrt{{{n * n}}} = {n}$." + "\n"
        yield rf"\[ ({n} + 1)^2 = {n * n} + {2 * n} + 1 = {n * n + 2 * n + 1} \]" + "\n"
        yield rf"\begin{{align*}} x_{n} &= {n} \cdot 4 \\ &= {4 * n} \end{{align*}} so $x_{n} > {n}$." + "\n\n"


def repeated(unit: str, opening: str = "") -> Callable[[], Iterator[str]]:
    """Return a kind of text that is one piece over and over, behind an opening."""

    def again() -> Iterator[str]:
        yield opening
        while True:
            yield unit

    return again


def results() -> Iterator[str]:
    """Yield equations that each use the result before, in one chain through the whole text."""
    for n in count(1):
        yield f"{n} + 1 = {n + 1}. "


def names() -> Iterator[str]:
    """Yield definitions of ever new names, and uses of old ones."""
    for n in count(1):
        yield f"Let x_{n} = {n}. Then 2x_{n} + {n} = {3 * n}. "


KINDS: Mapping[str, Callable[[], Iterator[str]]] = {
    "prose": prose,
    "latex": latex,
    "results": results,
    "names": names,
    "one_equation_again": repeated("3 * 4 = 12. "),
    "one_endless_sum": repeated("1 + "),
    "one_endless_note": repeated("1+", opening="<<"),
    "one_endless_chain": repeated("7 = "),
    "digits": repeated("9"),
    "grouped_digits": repeated("123,"),
    "spaces": repeated(" "),
    "lines": repeated("\n"),
    "points": repeated(". "),
    "letters": repeated("a"),
    "words": repeated("two and "),
    "open_brackets": repeated("("),
    "closed_brackets": repeated("(1)"),
    "open_braces": repeated("{"),
    "fractions": repeated(r"\frac{"),
    "open_boxes": repeated(r"\boxed{"),
    "boxes": repeated(r"\boxed{3} "),
    "dollars": repeated("$"),
    "one_dollar": repeated("$5 "),
    "displays": repeated(r"\[ "),
    "environments": repeated(r"\begin{align} "),
    "fences": repeated("```\n"),
    "thoughts": repeated("<think>"),
    "closed_thoughts": repeated("<think>1</think>"),
    "table": repeated("| 1 | 2 |\n"),
    "stars": repeated("*"),
    "pipes": repeated("|"),
    "quotes": repeated('"'),
    "hashes": repeated("#### 5\n"),
    "answers": repeated("The answer is 5. "),
    "list_numbers": repeated("1. "),
    "commas": repeated("1, "),
    "slashes": repeated("1/"),
    "percents": repeated("5% of "),
    "signs": repeated("-"),
    "equals": repeated("="),
    "placeholders": repeated("[answer] "),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The seconds of one reading, by stage."""

    size: int
    split: float
    claims: float
    graph: float

    @property
    def whole(self) -> float:
        return self.split + self.graph  # the graph reads the claims itself


def text_of(kind: str, size: int) -> str:
    """Return a text of one kind with so many characters."""
    parts: list[str] = []
    length = 0
    for part in KINDS[kind]():
        parts.append(part)
        length += len(part)
        if length >= size:
            break
    return "".join(parts)[:size]


def read(text: str) -> Reading:
    """Read a text once."""
    started = time.process_time()
    trace = read_trace(PROBLEM, text)
    cut = time.process_time()
    steps = [BlindStep(index=step.index, text=step.blind_text, kind=step.kind) for step in trace.derivation()]
    read_claims(steps, PROBLEM)
    claimed = time.process_time()
    read_graph(PROBLEM, steps)
    done = time.process_time()
    return Reading(size=len(text), split=cut - started, claims=claimed - cut, graph=done - claimed)


def grow(kind: str, max_kb: int, budget_s: float) -> list[Reading]:
    """Read texts of doubling size; the next size is left out where it would not stay within the budget."""
    readings: list[Reading] = []
    size_kb = 1
    while size_kb <= max_kb:
        text = text_of(kind, size_kb * 1000)
        reading = read(text)
        if reading.whole < REPEATED_BELOW_S:
            reading = min((reading, read(text), read(text)), key=lambda one: one.whole)
        readings.append(reading)
        if readings[-1].whole * 4 > budget_s:
            break
        size_kb *= 2
    return readings


def exponent(readings: list[Reading], stage: str) -> float:
    """Return the slope of log time over log size; 0 where it is too short to be measured."""
    points = [
        (reading.size, getattr(reading, stage))
        for reading in readings
        if reading.size >= FIT_FROM_KB * 1000 and getattr(reading, stage) > 1e-4
    ]
    if len(points) < 3:
        return 0.0
    sizes, seconds = np.log(np.array(points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def profile(kind: str, size: int) -> None:
    profiler = cProfile.Profile()
    text = text_of(kind, size)
    profiler.enable()
    read_statements(text, PROBLEM)
    read(text)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-kb", type=int, default=1024)
    parser.add_argument("--kinds", nargs="*", choices=sorted(KINDS), default=list(KINDS))
    parser.add_argument("--budget", type=float, default=20.0)
    parser.add_argument("--profile", choices=sorted(KINDS))
    args = parser.parse_args()
    if args.profile:
        profile(args.profile, grow(args.profile, args.max_kb, args.budget)[-1].size)
        return
    table = Table("kind", "kB", *(f"{stage} s" for stage in STAGES), "all n^", *(f"{stage} n^" for stage in STAGES))
    table.box, table.padding = None, (0, 1)
    console = Console(width=110)
    bent: list[str] = []
    for kind in args.kinds:
        readings = grow(kind, args.max_kb, args.budget)
        last, whole = readings[-1], exponent(readings, "whole")
        bent += [kind] if whole > MAX_EXPONENT else []
        times = (f"{getattr(last, stage):.3f}" for stage in STAGES)
        slopes = (f"{exponent(readings, stage):.2f}" for stage in STAGES)
        table.add_row(kind, str(last.size // 1000), *times, f"{whole:.2f}", *slopes)
    console.print(table)
    if bent:
        sys.exit(f"steeper than {MAX_EXPONENT}: {', '.join(bent)}")


if __name__ == "__main__":
    main()
