"""Measure the language of traces, without any model, on labelled traces.

    python benchmarks/language.py FILE.jsonl... [--show alarms|derived|missed|slow] [--by subset]

Each line of a file is a JSON object with `problem`, `steps`, `final_answer`, `source`, and, where they are known,
`solution_correct`, `first_error` (0-based), `subset`, `answer_correct`, `ef_class` (`stated_wrong` or a control) and
`stated_answer`. One table comes out by source and subset:

refuted     steps that arithmetic refutes in right solutions, and their share
invented    steps of right solutions with an operand from nowhere that counts things or money; loose: any such operand
first error first wrong steps that arithmetic refutes, or whose grounding is doubted, at exactly that step
derived     right solutions with a right answer in whose derivation the graph ends in the stated answer, in something
            else, and in nothing that it can tell
extraction  recall and precision of `the derivation ends in something else` for answers stated otherwise than derived
ms          median and 99th percentile of reading one trace (split, claims, graph), the algebra worker not counted
"""

import argparse
import asyncio
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from rafs.algebra import AlgebraWorker
from rafs.derivation import link_answer
from rafs.errors import InputError
from rafs.reading import read_text, settle_reading
from rafs.types import Reading
from verifiers.symbolic import CheckerSays, check_step

Row = Mapping[str, Any]
HEADINGS = (
    *("source", "refuted", "invented", "loose", "first error: arithmetic", "or grounding", "derived", "other"),
    *("extraction recall", "precision", "ms median, p99"),
)


@dataclass(slots=True)
class Tally:
    """Counts of one group of traces."""

    right: int = 0
    steps: int = 0
    refuted: int = 0
    invented: int = 0
    loose: int = 0
    errors: int = 0
    hit_arithmetic: int = 0
    hit_grounding: int = 0
    derived: dict[str, int] = field(default_factory=lambda: {"stated": 0, "other": 0, "none": 0})
    extraction: dict[str, int] = field(default_factory=lambda: {"hit": 0, "wanted": 0, "claimed": 0})
    milliseconds: list[float] = field(default_factory=list)


def says_by_step(reading: Reading) -> dict[int, CheckerSays]:
    """Return what the checker says of every step of the derivation."""
    blind = reading.blind()
    return {step.index: check_step(blind, t) for t, step in enumerate(blind.steps)}


def count(tally: Tally, row: Row, reading: Reading, show: str) -> None:
    says = says_by_step(reading)
    if row.get("solution_correct") and row.get("first_error") is None and "ef_class" not in row:
        tally.right += 1
        tally.steps += len(reading.trace.steps)
        tally.refuted += sum(said is CheckerSays.REFUTED for said in says.values())
        tally.invented += sum(said is CheckerSays.INVENTED for said in says.values())
        tally.loose += sum(said in (CheckerSays.INVENTED, CheckerSays.UNGROUNDED) for said in says.values())
        if show == "alarms":
            for index, said in says.items():
                if said in (CheckerSays.REFUTED, CheckerSays.INVENTED, CheckerSays.UNGROUNDED):
                    print_step(row, reading, index, said)
        if row.get("answer_correct"):
            count_derived(tally, row, reading, show)
    elif row.get("first_error") is not None:
        said = says.get(row["first_error"], CheckerSays.SILENT)
        tally.errors += 1
        tally.hit_arithmetic += said is CheckerSays.REFUTED
        tally.hit_grounding += said in (CheckerSays.INVENTED, CheckerSays.UNGROUNDED)
        if show == "missed" and said in (CheckerSays.SILENT, CheckerSays.PROVEN):
            print_step(row, reading, row["first_error"], said)
    if row.get("ef_class") in ("stated_wrong", "control_right", "control_wrong"):
        differs, wanted = ends_in(reading) == "other", row["ef_class"] == "stated_wrong"
        tally.extraction["hit"] += differs and wanted
        tally.extraction["wanted"] += wanted
        tally.extraction["claimed"] += differs
        if show == "derived" and differs != wanted:
            print_end(row, reading)


def count_derived(tally: Tally, row: Row, reading: Reading, show: str) -> None:
    end = ends_in(reading)
    tally.derived[end] += 1
    if show == "derived" and end != "stated":
        print_end(row, reading)


def ends_in(reading: Reading) -> str:
    """Say whether the graph ends in the stated answer, in something else, or in nothing that it can tell."""
    matches = link_answer(reading.trace, reading.graph).matches
    if matches is None:
        return "none" if reading.graph.derived is None else "other"
    return "stated" if matches else "other"


def print_step(row: Row, reading: Reading, index: int, said: CheckerSays) -> None:
    print(f"--- {row['id']} step {index} {said.value}\n{reading.trace.steps[index].text.strip()}")
    for claim in reading.graph.claims:
        if claim.step == index:
            nowhere = [operand.text for operand in claim.operands if operand.source.value == "ungrounded"]
            print(f"    {claim.truth.value:8}{claim.text!r} {claim.reason} {nowhere or ''}")


def print_end(row: Row, reading: Reading) -> None:
    answer = reading.trace.answer
    print(
        f"--- {row['id']} {row.get('ef_class', '')} stated {answer and answer.text!r} derived {reading.graph.derived}"
    )
    print("\n".join(step.text.strip() for step in reading.trace.steps[-3:]))


async def measure(rows: Sequence[Row], by: str, show: str) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    algebra = AlgebraWorker()
    for row in track(rows, description="reading", console=Console(stderr=True)):
        tally = tallies[f"{row['source']} {row.get(by, '')}"]
        stated = row.get("stated_answer")
        started = time.perf_counter()
        try:
            reading = read_text(row["problem"], row["steps"], stated)
        except InputError:
            continue
        milliseconds = 1000 * (time.perf_counter() - started)
        tally.milliseconds.append(milliseconds)
        if show == "slow" and milliseconds > 30:
            print(f"{milliseconds:.0f} ms {row['id']} {sum(map(len, row['steps']))} characters")
        count(tally, row, await settle_reading(reading, algebra), show)
    await algebra.close()
    return tallies


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:.1f}%" if whole else "-"


def main() -> None:
    """Read the files and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="labelled traces, one JSON object a line")
    parser.add_argument("--by", default="subset", help="field that groups the rows of one source")
    parser.add_argument("--only", default="", help="measure only rows whose subset is this")
    parser.add_argument(
        "--show", default="", choices=["", "alarms", "derived", "missed", "slow"], help="print these rows"
    )
    options = parser.parse_args()
    if not options.files:
        print("skipped: it measures on labelled traces; name their files")
        return
    rows = [json.loads(line) for path in options.files for line in path.read_text("utf-8").split("\n") if line.strip()]
    rows = [row for row in rows if not options.only or row.get("subset") == options.only]
    table = Table(*HEADINGS)
    for name, tally in sorted(asyncio.run(measure(rows, options.by, options.show)).items()):
        ends, found, ms = sum(tally.derived.values()), tally.extraction, sorted(tally.milliseconds)
        table.add_row(
            name,
            share(tally.refuted, tally.steps),
            share(tally.invented, tally.steps),
            share(tally.loose, tally.steps),
            share(tally.hit_arithmetic, tally.errors),
            share(tally.hit_arithmetic + tally.hit_grounding, tally.errors),
            share(tally.derived["stated"], ends),
            share(tally.derived["other"], ends),
            share(found["hit"], found["wanted"]),
            share(found["hit"], found["claimed"]),
            f"{statistics.median(ms):.1f}, {ms[int(0.99 * len(ms))]:.1f}" if ms else "-",
        )
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
