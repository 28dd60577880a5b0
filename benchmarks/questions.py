"""Three questions about right answers and their reasoning, asked of scored traces.

    python -m benchmarks.questions RECORDS FILE... [--consensus SAMPLED.jsonl] [--seed N]

RECORDS are those of a run folder of `rafs eval`, or what `rafs calibrate --test-records` wrote; FILE the labelled
traces that they were made from. Everything is shown with its 95 % interval over problems, on the same resamples.

    accuracy      does the share of right answers overstate the share of right reasoning?
    detection     does the score find silent failures, right answers with wrong reasoning, better than simpler scorers?
    sensitivity   does S tell the flawed among the right answers, and what does the score gain by it?

SAMPLED holds one object a line, `group` (the problem) and `n_correct_of_64`: how many of 64 samples end in the right
answer. For a trace with the right answer that share is the consensus C, as counted without weights.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from rafs.evaluation import detection
from rafs.evaluation.baselines import RAFS, Baseline, baselines
from rafs.evaluation.data_files import read_files
from rafs.evaluation.families import (
    ONE_CLASS,
    Item,
    by_score,
    mask,
    ranks_silent,
    silent_failure_gain,
    silent_failures,
)
from rafs.evaluation.intervals import Figure, Measurement, Resamples, draw_resamples, measure, measure_rate
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord, read_record
from rafs.outcomes import ComponentName, Measured
from rafs.policy import Policy
from rafs.registry import load_registry
from service.settings import load_settings

N_SAMPLES = 64


def accuracy(items: Sequence[Item], drawn: Resamples) -> Table:
    """How many answers are right, and how many of them by right reasoning."""
    known = mask([one.trace.answer_correct is not None and one.trace.solution_correct is not None for one in items])
    right = mask([one.trace.answer_correct is True for one in items])[known]
    sound = mask([one.trace.solution_correct is True for one in items])[known]
    drawn = drawn.of(known)
    table = Table("accuracy", "value", "traces")
    for what, figure in (
        ("right answers", measure_rate(right, drawn)),
        ("right answers by right reasoning", measure_rate(right & sound, drawn)),
        ("silent failures among the right answers", measure_rate(~sound, drawn, among=right)),
    ):
        table.add_row(what, *shown(figure))
    return table


def detecting(items: Sequence[Item], drawn: Resamples, scorers: Sequence[Baseline]) -> Table:
    """How well each scorer ranks silent failures, and how much better the score does where both say something."""
    table = Table("detection of silent failures", "AUPRC", "traces", "the score minus it", "traces")
    for one in scorers:
        if one.suspicion is None:
            continue
        gain = None if one.name == RAFS else silent_failure_gain(items, drawn, by_score, one.suspicion)["auprc"]
        table.add_row(
            one.what,
            *shown(silent_failures(items, drawn, one.suspicion).figures["auprc"]),
            *(shown(gain) if gain is not None else ("", "")),
        )
    return table


def sensitivity(items: Sequence[Item], drawn: Resamples, scorers: Sequence[Baseline]) -> Table:
    """What S says where it is measured: of right answers, of all answers, and in the score."""
    measured = mask([support(item.trace, item.record) is not None for item in items if item.record is not None])
    some = [item for item, kept in zip(items, measured, strict=True) if kept]
    part = drawn.of(measured)
    flawed = mask([item.trace.solution_correct is False for item in some])
    known = mask([item.trace.solution_correct is not None for item in some])
    rank = np.array([support(item.trace, item.record) for item in some if item.record is not None], float)
    table = Table("sensitivity, where S is measured", "value", "traces")
    every = measure(detection.auroc(flawed[known], rank[known]), part.of(known), ONE_CLASS)
    among = known & mask([ranks_silent(item) for item in some])
    right = measure(detection.auroc(flawed[among], rank[among]), part.of(among), ONE_CLASS)
    table.add_row(f"AUROC of 1 - S among right answers ({flawed[among].sum()} flawed)", *shown(right))
    table.add_row(f"AUROC of 1 - S among all ({flawed[known].sum()} flawed)", *shown(every))
    without = next((one.suspicion for one in scorers if one.name == f"without {ComponentName.SUPPORT}"), None)
    if without is not None:
        for what, chosen, on in (("where S is measured", some, part), ("over all right answers", items, drawn)):
            gain = silent_failure_gain(chosen, on, by_score, without)["auprc"]
            table.add_row(f"AUPRC, the score minus the score without S, {what}", *shown(gain))
    return table


def support(_: LabelledTrace, record: ItemRecord) -> float | None:
    """Return 1 - S."""
    part = record.components.get(ComponentName.SUPPORT)
    return 1 - part.value if isinstance(part, Measured) else None


def consensus_of(path: Path) -> Baseline:
    """Read how often the samples agree with a right answer."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    agreement = {row["group"]: row["n_correct_of_64"] / N_SAMPLES for row in rows}

    def suspicion(trace: LabelledTrace, _: ItemRecord) -> float | None:
        return 1 - agreement[trace.group] if trace.group in agreement and trace.answer_correct else None

    return Baseline(name="consensus", what=f"1 - C, agreement of {N_SAMPLES} samples", suspicion=suspicion)


def shown(figure: Measurement) -> tuple[str, str]:
    """Return a figure with its interval, and the number of items."""
    if not isinstance(figure, Figure):
        return f"not measured ({figure.reason})", ""
    if figure.low is None or figure.high is None:
        return f"{figure.value:.3f} (no interval)", str(figure.n)
    return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]", str(figure.n)


def run(records: Path, files: Sequence[Path], consensus: Path | None, seed: int, policy: Policy) -> None:
    """Print the answers."""
    made = {one.id: one for one in map(read_record, records.read_text("utf-8").splitlines())}
    items = [Item(trace=trace, record=made[trace.id]) for trace in read_files(files) if trace.id in made]
    drawn = draw_resamples([item.trace.group for item in items], seed=seed)
    scorers = list(baselines(list(made.values()), policy))
    if consensus is not None:
        scorers.append(consensus_of(consensus))
    console = Console(width=140)
    console.print(f"{len(items)} scored traces of {drawn.n_problems} problems")
    for table in (accuracy(items, drawn), detecting(items, drawn, scorers), sensitivity(items, drawn, scorers)):
        console.print(table)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, nargs="?")
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--consensus", type=Path, metavar="SAMPLED.jsonl")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.records is None or not options.files:
        print("skipped: it needs the records of scored traces, and their files")
        return
    policy = load_registry(load_settings().models_file).policy.to_policy()
    run(options.records, options.files, options.consensus, options.seed, policy)


if __name__ == "__main__":
    main()
