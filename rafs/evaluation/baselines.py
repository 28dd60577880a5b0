"""What RAFS has to beat: simpler scorers on the same items, from the same run, on the same resamples."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import multimode

import numpy as np

from rafs.aggregation import aggregate
from rafs.evaluation import detection, first_error
from rafs.evaluation.families import (
    ONE_CLASS,
    Item,
    Suspicion,
    by_score,
    mask,
    rank_of,
    ranks_silent,
    said_first_error,
    silent_failure_gain,
)
from rafs.evaluation.intervals import (
    Measurement,
    Metric,
    Resamples,
    draw_resamples,
    measure,
    measure_difference,
    measure_rate,
)
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.summary import Json, figure_json
from rafs.outcomes import ComponentName, Measured
from rafs.policy import Policy

Prediction = Callable[[Item], int]
"""The first error by some scorer, as in `first_error`."""

MEMBER_THRESHOLD = 0.5
"""Of a verifier's own probability, which nothing has calibrated: the threshold of the published tables."""

RAFS = "rafs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A scorer; what it has no opinion on, it is not compared on."""

    name: str
    what: str
    suspicion: Suspicion | None = None
    prediction: Prediction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A baseline on the items of a section. `gain` is RAFS minus the baseline, over the items that both scored."""

    what: str
    n: int
    """Right answers whose reasoning is labelled."""
    n_unscored: int
    """Of these, items that the baseline does not rank."""
    figures: Mapping[str, Measurement]


def compare(
    sections: Mapping[str, Sequence[Item]], policy: Policy, *, seed: int, n_resamples: int
) -> dict[str, dict[str, Comparison]]:
    """Return the baselines of every section by name, RAFS itself first.

    Args:
        sections: As `summary.sections_of` gives them.
        policy: Of the run: its weights are those of the arithmetic mean and of what is left when a component is out.
        seed: Of the resamples: the same as that of the report.
        n_resamples: For each interval.
    """
    every = [item.record for items in sections.values() for item in items if item.record is not None]
    chosen = list(baselines(every, policy))
    return {
        name: {one.name: _compare(one, items, seed, n_resamples) for one in (*chosen, constant_step(items))}
        for name, items in sections.items()
    }


def baselines(records: Sequence[ItemRecord], policy: Policy) -> Iterator[Baseline]:
    """Yield what the records of a run allow: no component and no verifier that never said anything."""
    measured = {name for record in records for name, part in record.components.items() if isinstance(part, Measured)}
    members = {name for record in records for name, row in record.members.items() if any(p is not None for p in row)}
    yield Baseline(name=RAFS, what="the score and its suspect step", suspicion=by_score, prediction=said_first_error)
    yield Baseline(name="length", what="characters of the trace", suspicion=lambda trace, _: trace.length)
    yield Baseline(name="weakest_step", what="1 - the smallest q of a step", suspicion=lambda _, one: _weakest(one.q))
    for name in sorted(members):
        yield _alone(name)
    if ComponentName.CONSENSUS in measured:
        yield Baseline(name="consensus", what="1 - C, the samples' agreement on the answer", suspicion=_disagreement)
    if len(measured) > 1:
        yield Baseline(
            name="arithmetic_mean",
            what="the same components and weights, arithmetic mean instead of geometric",
            suspicion=lambda _, record: _arithmetic(record, policy),
        )
    for part in sorted(measured) if len(measured) > 1 else ():
        yield _without(part, policy)


def constant_step(items: Sequence[Item]) -> Baseline:
    """The same step for every trace: the most frequent label of a first error, chosen in hindsight, which flatters."""
    labels = [item.trace.first_error for item in items if item.trace.first_error is not None]
    step = min(multimode(labels), default=0)
    return Baseline(name="constant_step", what=f"step {step} (from 0) for every trace", prediction=lambda _: step)


def _alone(member: str) -> Baseline:
    def predict(item: Item) -> int:
        row = item.record.members.get(member, ()) if item.record is not None else ()
        if all(p is None for p in row):
            return first_error.NO_PREDICTION
        below = (t for t, p in enumerate(row) if p is not None and p < MEMBER_THRESHOLD)
        return next(below, first_error.NO_ERROR)

    return Baseline(
        name=f"only {member}",
        what=f"1 - the smallest probability that {member} alone gave; its first step below {MEMBER_THRESHOLD}",
        suspicion=lambda _, record: _weakest(record.members.get(member, ())),
        prediction=predict,
    )


def _without(part: ComponentName, policy: Policy) -> Baseline:
    def suspicion(_: LabelledTrace, record: ItemRecord) -> float | None:
        left = {name: value for name, value in record.components.items() if name is not part}
        found = aggregate(left, policy.weights, policy.epsilon)
        return None if found is None else 100 - found.score

    return Baseline(name=f"without {part}", what=f"the score with {part} left out", suspicion=suspicion)


def _weakest(row: Sequence[float | None]) -> float | None:
    known = [p for p in row if p is not None]
    return 1 - min(known) if known else None


def _disagreement(_: LabelledTrace, record: ItemRecord) -> float | None:
    part = record.components.get(ComponentName.CONSENSUS)
    return 1 - part.value if isinstance(part, Measured) else None


def _arithmetic(record: ItemRecord, policy: Policy) -> float | None:
    parts = {name: part.value for name, part in record.components.items() if isinstance(part, Measured)}
    total = sum(policy.weights[name] for name in parts)
    return 100 - 100 * sum(policy.weights[name] * value for name, value in parts.items()) / total if parts else None


def _compare(baseline: Baseline, items: Sequence[Item], seed: int, n_resamples: int) -> Comparison:
    drawn = draw_resamples([item.trace.group for item in items], seed=seed, n_resamples=n_resamples)
    suspicion, predict = baseline.suspicion, baseline.prediction
    eligible = [item for item in items if ranks_silent(item)]
    ranks = [rank_of(item, suspicion) if suspicion is not None and ranks_silent(item) else None for item in items]
    return Comparison(
        what=baseline.what,
        n=len(eligible),
        n_unscored=len(eligible) - sum(rank is not None for rank in ranks),
        figures={
            **({} if suspicion is None else _ranking_figures(items, suspicion, ranks, drawn, baseline.name)),
            **({} if predict is None else _placing_figures(items, predict, drawn, baseline.name)),
        },
    )


def _ranking_figures(
    items: Sequence[Item], suspicion: Suspicion, ranks: Sequence[float | None], drawn: Resamples, name: str
) -> dict[str, Measurement]:
    kept = mask([rank is not None for rank in ranks])
    silent = mask([item.trace.silent_failure is True for item in items])[kept]
    own = np.array(ranks, float)[kept]
    gain = {} if name == RAFS else silent_failure_gain(items, drawn, by_score, suspicion)
    return {
        "auprc": measure(detection.average_precision(silent, own), drawn.of(kept), ONE_CLASS),
        "auroc": measure(detection.auroc(silent, own), drawn.of(kept), ONE_CLASS),
        **{f"{metric}_gain": figure for metric, figure in gain.items()},
    }


def _placing_figures(items: Sequence[Item], predict: Prediction, drawn: Resamples, name: str) -> dict[str, Measurement]:
    """Every located item counts for both: where nothing is said, that is wrong."""
    known = mask([item.trace.located for item in items])
    located = [item for item in items if item.trace.located]
    label = np.array([first_error.NO_ERROR if (at := item.trace.first_error) is None else at for item in located], int)
    own, rafs = (np.array([one(item) for item in located], int) for one in (predict, said_first_error))
    drawn = drawn.of(known)

    def f1(predicted: first_error.Steps) -> Metric:
        return first_error.processbench_f1(label, predicted)

    figures = {
        "processbench_f1": measure(f1(own), drawn, ONE_CLASS),
        "accuracy_erroneous": measure_rate(own == label, drawn, among=label != first_error.NO_ERROR),
        "accuracy_correct": measure_rate(own == label, drawn, among=label == first_error.NO_ERROR),
    }
    if name != RAFS:
        figures["processbench_f1_gain"] = measure_difference(f1(rafs), f1(own), drawn, ONE_CLASS)
    return figures


def comparisons_json(compared: Mapping[str, Comparison]) -> dict[str, Json]:
    """Return the baselines of a section as JSON."""
    return {
        name: {
            "what": one.what,
            "n": one.n,
            "n_unscored": one.n_unscored,
            **{figure: figure_json(value) for figure, value in one.figures.items()},
        }
        for name, one in compared.items()
    }
