"""Families of metrics: each over the items whose labels allow it, with what was left unscored counted."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rafs.evaluation import detection, first_error, selection
from rafs.evaluation.intervals import (
    Bools,
    Measurement,
    Resamples,
    draw_resamples,
    measure,
    measure_difference,
    measure_rate,
)
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord
from rafs.outcomes import OutcomeLabel, Reasoning, Status

FALSE_ALARMS = (0.05, 0.1)
"""Shares of right traces that an operator may be ready to look at again."""
ONE_CLASS = "one_class_only"

Suspicion = Callable[[LabelledTrace, ItemRecord], float | None]
"""How likely a trace is flawed, on any scale, by some scorer; None where it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A labelled trace and what was made of it; without a record it was not scored."""

    trace: LabelledTrace
    record: ItemRecord | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Metrics over the same items."""

    n: int
    """Items whose labels allow the metrics."""
    n_unscored: int
    """Of these, items of which nothing was said. They count as wrong for first errors and as not accepted for the gate;
    the other metrics leave them out."""
    figures: Mapping[str, Measurement]


def by_score(trace: LabelledTrace, record: ItemRecord) -> float | None:
    """Return 100 - score."""
    return None if record.score is None else 100 - record.score


def mask(values: Sequence[bool]) -> Bools:
    """Return the values as an array, shape (n_items,)."""
    return np.array(values, dtype=bool)


def said_first_error(item: Item) -> int:
    """Return the suspect step, `NO_ERROR` where there is none, or `NO_PREDICTION` where no step was judged."""
    record = item.record
    if record is None or not record.judged:
        return first_error.NO_PREDICTION
    return first_error.NO_ERROR if record.suspect is None else record.suspect


def first_errors(items: Sequence[Item], drawn: Resamples) -> Family:
    """Where the first error is; a trace without any judged step counts as wrong."""
    known = mask([item.trace.located for item in items])
    located = [item for item in items if item.trace.located]
    label = np.array([first_error.NO_ERROR if (at := item.trace.first_error) is None else at for item in located], int)
    predicted = np.array([said_first_error(item) for item in located], int)
    hit, erroneous, drawn = predicted == label, label != first_error.NO_ERROR, drawn.of(known)
    return Family(
        n=len(located),
        n_unscored=int((predicted == first_error.NO_PREDICTION).sum()),
        figures={
            "processbench_f1": measure(first_error.processbench_f1(label, predicted), drawn, ONE_CLASS),
            "accuracy_erroneous": measure_rate(hit, drawn, among=erroneous),
            "accuracy_correct": measure_rate(hit, drawn, among=~erroneous),
            "first_error_accuracy": measure_rate(hit, drawn),
            "mr_score_without_reason": measure(first_error.mr_score(label, predicted, None), drawn, ONE_CLASS),
        },
    )


def silent_failures(items: Sequence[Item], drawn: Resamples, suspicion: Suspicion) -> Family:
    """Right answers with wrong reasoning against right answers with right reasoning, ranked by suspicion."""
    eligible = [ranks_silent(item) for item in items]
    ranks = [rank_of(item, suspicion) for item in items]
    scored = mask([able and rank is not None for able, rank in zip(eligible, ranks, strict=True)])
    chosen = [item.trace for item, kept in zip(items, scored, strict=True) if kept]
    silent = mask([trace.silent_failure is True for trace in chosen])
    rank = np.array([rank for rank, kept in zip(ranks, scored, strict=True) if kept], float)
    length = np.array([trace.length for trace in chosen], float)
    return Family(
        n=sum(eligible),
        n_unscored=sum(eligible) - len(chosen),
        figures=_ranking_figures(silent, rank, length, drawn.of(scored)),
    )


def silent_failure_gain(
    items: Sequence[Item], drawn: Resamples, first: Suspicion, second: Suspicion
) -> Mapping[str, Measurement]:
    """Return how much better the first scorer ranks silent failures than the second, over the items both scored.

    The difference is taken on each resample, so that what is hard for both cancels.
    """
    ranks = [(rank_of(item, first), rank_of(item, second)) for item in items]
    kept = mask([ranks_silent(item) and None not in pair for item, pair in zip(items, ranks, strict=True)])
    silent = mask([item.trace.silent_failure is True for item in items])[kept]
    a, b = np.array(ranks, float).reshape(-1, 2)[kept].T
    return {
        name: measure_difference(metric(silent, a), metric(silent, b), drawn.of(kept), ONE_CLASS)
        for name, metric in (("auprc", detection.average_precision), ("auroc", detection.auroc))
    }


def rank_of(item: Item, suspicion: Suspicion) -> float | None:
    """Return the suspicion of an item, None where it was not scored or nothing is said."""
    return None if item.record is None else suspicion(item.trace, item.record)


def ranks_silent(item: Item) -> bool:
    """Whether the item is a silent failure or a faithful success, which the ranking tells apart."""
    return item.trace.silent_failure is True or item.trace.faithful is True


def _ranking_figures(
    silent: Bools, rank: detection.Floats, length: detection.Floats, drawn: Resamples
) -> dict[str, Measurement]:
    by_rank, by_length = detection.average_precision(silent, rank), detection.average_precision(silent, length)
    matched, comparable = detection.length_matched(silent, rank, length)
    within, paired = detection.within_problem(silent, rank, drawn.problem_of)
    figures = {
        "prevalence": measure_rate(silent, drawn),
        "auprc": measure(by_rank, drawn, ONE_CLASS),
        "length_auprc": measure(by_length, drawn, ONE_CLASS),
        "auprc_over_length": measure_difference(by_rank, by_length, drawn, ONE_CLASS),
        "auroc": measure(detection.auroc(silent, rank), drawn, ONE_CLASS),
        "length_auroc": measure(detection.auroc(silent, length), drawn, ONE_CLASS),
        "auprc_length_matched": measure(matched, drawn.of(comparable), ONE_CLASS),
        "auroc_within_problem": measure(within, drawn.of(paired), "no_problem_with_both"),
    }
    for allowed in FALSE_ALARMS:
        name = f"recall_at_{allowed:.0%}_false_alarm"
        figures[name] = measure(detection.recall_at_false_alarm(silent, rank, allowed), drawn, ONE_CLASS)
    return figures


def named_figures(named: Bools, true: Bools, drawn: Resamples) -> dict[str, Measurement]:
    """Return what a yes or no is worth against the truth, both of shape (n_items,)."""
    return {
        "f1": measure(detection.f1(named, true), drawn, "none_true"),
        "precision": measure_rate(true, drawn, among=named),
        "recall": measure_rate(named, drawn, among=true),
        "specificity": measure_rate(~named, drawn, among=~true),
        "accuracy": measure_rate(named == true, drawn),
        "prevalence": measure_rate(true, drawn),
    }


def extraction_failures(items: Sequence[Item], drawn: Resamples) -> Family:
    """Whether the outcome is an extraction failure; undetermined is not."""
    labelled = [item for item in items if item.trace.extraction_failure is not None]
    pairs = [(item.record, item.trace) for item in labelled if item.record is not None and item.record.outcome]
    kept = mask([item.trace.extraction_failure is not None and _outcome(item) is not None for item in items])
    named = mask([record.outcome is OutcomeLabel.EXTRACTION_FAILURE for record, _ in pairs])
    true = mask([trace.extraction_failure is True for _, trace in pairs])
    return Family(
        n=len(labelled), n_unscored=len(labelled) - len(pairs), figures=named_figures(named, true, drawn.of(kept))
    )


def _outcome(item: Item) -> OutcomeLabel | None:
    return item.record.outcome if item.record is not None else None


def match(items: Sequence[Item], drawn: Resamples) -> Family:
    """CORRECT is the positive class; a trace on whose reasoning there is no verdict is unusable."""
    verdicts = [item.record.reasoning if item.record is not None else None for item in items]
    usable = [verdict in {Reasoning.SOUND, Reasoning.FLAWED} for verdict in verdicts]
    labelled = [item.trace.solution_correct is not None for item in items]
    kept = mask([able and known for able, known in zip(usable, labelled, strict=True)])
    named = mask([verdict is Reasoning.SOUND for verdict in verdicts])[kept]
    true = mask([item.trace.solution_correct is True for item in items])[kept]
    return Family(
        n=sum(labelled),
        n_unscored=sum(labelled) - int(kept.sum()),
        figures=named_figures(named, true, drawn.of(kept)),
    )


def gate(items: Sequence[Item], drawn: Resamples) -> Family:
    """Rates of joint events, counted per item over all labelled ones, and what the accepted ones are worth."""
    known = mask([item.trace.faithful is not None for item in items])
    faithful = mask([item.trace.faithful is True for item in items])[known]
    status = [item.record.status if item.record is not None else None for item in items]
    accepted = mask([said is Status.ACCEPT for said in status])[known]
    abstained = mask([said is None or said is Status.ABSTAIN for said in status])[known]
    score = np.array([_score(item) for item in items], float)[known]
    scored, drawn = ~np.isnan(score), drawn.of(known)
    aurc = selection.area_under_risk_coverage(score[scored], faithful[scored])
    return Family(
        n=int(known.sum()),
        n_unscored=int((~scored).sum()),
        figures={
            "accepted": measure_rate(accepted, drawn),
            "faithful": measure_rate(faithful, drawn),
            "accepted_and_faithful": measure_rate(accepted & faithful, drawn),
            "abstained": measure_rate(abstained, drawn),
            "accepted_risk": measure_rate(~faithful, drawn, among=accepted),
            "aurc": measure(aurc, drawn.of(scored), "no_items"),
        },
    )


def _score(item: Item) -> float:
    """Return the score; NaN stands for none inside this file, and is masked before anything is computed."""
    return np.nan if item.record is None or item.record.score is None else item.record.score


def steps(items: Sequence[Item], seed: int, n_resamples: int) -> Family:
    """Probabilities of single steps against their labels; resampled by problem like everything else."""
    rows = [
        (item.trace.group, item.record.q[at] if item.record is not None else None, right)
        for item in items
        for at, right in enumerate(item.trace.right_steps())
        if right is not None
    ]
    judged = [(group, p, right) for group, p, right in rows if p is not None]
    p = np.array([p for _, p, _ in judged], float)
    right = mask([right for _, _, right in judged])
    drawn = draw_resamples([group for group, _, _ in judged], seed=seed, n_resamples=n_resamples)
    return Family(
        n=len(rows),
        n_unscored=len(rows) - len(judged),
        figures={
            "brier": measure(selection.brier(p, right), drawn, "no_items"),
            "ece": measure(selection.expected_calibration_error(p, right), drawn, "no_items"),
            "auroc": measure(detection.auroc(~right, -p), drawn, ONE_CLASS),
            "share_right": measure_rate(right, drawn),
        },
    )
