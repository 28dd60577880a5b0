"""Measure counterfactual edits, without any model: how many traces can be probed, and what the constraints reject.

    python benchmarks/edits.py FILE.jsonl... [--edits N] [--seed S] [--show N] [--by subset]

Each line of a file is a JSON object with `problem`, `steps`, `source` and perhaps `subset`. For every trace the edits
are planned twice: for a replay, which nobody reads, and for a writer that continues the edited prefix, where none may
give the answer away. No verdicts are used, so every step is equally doubtful.

traced      traces whose answer was found in the quantity graph, or proven to be none of its results
enough      traces with at least two valid edits, by replay and read
families    valid edits by family
rejected    candidate edits that broke each constraint, and their share of all candidates

`--show N` prints N valid edits, drawn by the seed, for a check by hand.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from counterfactuals.constraints import Broken
from counterfactuals.planning import Plan, Planner
from rafs.derivation import link_answer
from rafs.errors import InputError
from rafs.grammar.expressions import show
from rafs.interventions import Edit
from rafs.reading import read_text
from rafs.types import Reading

MODES = {"replay": False, "read": True}
ENOUGH = 2
"""Fewest interventions that measure something, as in the stock policy."""


@dataclass(slots=True)
class Tally:
    """Counts of one group of traces, and in each mode."""

    traces: int = 0
    traced: int = 0
    enough: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    rejected: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    families: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, mode: str, plan: Plan) -> None:
        self.enough[mode] += len(plan.edits) >= ENOUGH
        self.candidates[mode] += plan.n_tried
        self.rejected[mode].update(code for _, code in plan.discarded)
        self.families[mode].update(edit.family for edit in plan.edits)


def plan_trace(reading: Reading, n_edits: int, seed: int) -> Mapping[str, Plan]:
    """Return the plan of each mode; none where the answer was not traced, as in the service."""
    link = link_answer(reading.trace, reading.graph)
    if link.target is None and not link.is_absent:
        return {}
    planner = Planner(n_edits=n_edits, m_min=ENOUGH)
    plans = {}
    for mode, is_read in MODES.items():
        plan = planner.rank(reading, link.target, {}, seed, is_read=is_read, is_over=lambda _: False)
        planner.draw(plan, reading, link.target, seed, is_read=is_read, is_over=lambda _: False)
        plans[mode] = plan
    return plans


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:.1f}%" if whole else "-"


def row_of(name: str, mode: str, tally: Tally) -> list[str]:
    made, rejected = tally.candidates[mode], tally.rejected[mode]
    families = ", ".join(f"{family} {count}" for family, count in tally.families[mode].most_common())
    shares = [share(rejected[code], made) if rejected[code] else "-" for code in Broken]
    return [
        f"{name} {mode}",
        share(tally.traced, tally.traces),
        share(tally.enough[mode], tally.traces),
        families,
        str(made),
        *shares,
    ]


def print_edit(number: int, trace_id: str, reading: Reading, edit: Edit) -> None:
    old, new = (show(side) if not isinstance(side, str) else side for side in (edit.old, edit.new))
    predicted = "-" if edit.predicted is None else show(edit.predicted)
    stated = reading.trace.answer.text if reading.trace.answer is not None else "-"
    print(f"--- {number} {trace_id} step {edit.step} {edit.family.value}: {old} -> {new}; {stated} -> {predicted}")
    print(f"before: {reading.trace.steps[edit.step].blind_text}\nafter:  {edit.text}")


def measure(rows: Sequence[Mapping[str, Any]], by: str, n_edits: int, seed: int, n_shown: int) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    found: list[tuple[str, Reading, Edit]] = []
    for index, row in enumerate(track(rows, description="editing", console=Console(stderr=True))):
        tally = tallies[f"{row.get('source', '')} {row.get(by, '')}"]
        try:
            reading = read_text(row["problem"], row["steps"], row.get("stated_answer"))
        except InputError:
            continue
        plans = plan_trace(reading, n_edits, random.Random(f"{seed} {index}").getrandbits(32))
        tally.traces += 1
        tally.traced += bool(plans)
        for mode, plan in plans.items():
            tally.add(mode, plan)
        if plans:
            found += [(str(row.get("id", "")), reading, edit) for edit in plans["read"].edits]
    chosen = random.Random(seed).sample(found, min(n_shown, len(found)))
    for number, (trace_id, reading, edit) in enumerate(chosen, start=1):
        print_edit(number, trace_id, reading, edit)
    return tallies


def main() -> None:
    """Read the files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="traces, one JSON object a line")
    parser.add_argument("--by", default="subset", help="field that groups the rows of one source")
    parser.add_argument("--only", default="", help="subsets to measure, with commas between; all")
    parser.add_argument("--edits", type=int, default=3, help="edits wanted of a trace")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0, help="valid edits to print")
    options = parser.parse_args()
    if not options.files:
        print("skipped: it measures on traces; name their files")
        return
    rows = [json.loads(line) for path in options.files for line in path.read_text("utf-8").split("\n") if line.strip()]
    rows = [row for row in rows if not options.only or row.get("subset") in options.only.split(",")]
    table = Table("source", "traced", "enough", "families", "candidates", *(code.value for code in Broken))
    for name, tally in sorted(measure(rows, options.by, options.edits, options.seed, options.show).items()):
        for mode in MODES:
            table.add_row(*row_of(name, mode, tally))
    Console(width=240).print(table)


if __name__ == "__main__":
    main()
