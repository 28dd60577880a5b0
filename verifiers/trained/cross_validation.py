"""Predictions for every trace by a head that saw neither it nor another trace of its problem."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rafs.evaluation.detection import auroc, average_precision
from rafs.evaluation.first_error import processbench_f1
from rafs.evaluation.intervals import Measurement, draw_resamples, measure
from rafs.outcomes import Unmeasured
from verifiers.trained.examples import ALL_RIGHT, Example
from verifiers.trained.fitting import ReadExample, Recipe, fit_head
from verifiers.trained.head import StepHead

N_FOLDS = 5
N_THRESHOLDS = 100
"""Candidates, at equal distances in the ranks of all P(correct)."""
SMOOTHED = 9
"""Neighbouring candidates whose F1 is averaged, so that no lucky one is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """A trace and what was said of its steps by a head that never saw its problem."""

    example: Example
    fold: int
    p_correct: NDArray[np.float64]
    """Of the steps that were read."""

    def first_below(self, threshold: float) -> int:
        """Return the earliest step less probable than the threshold, or ALL_RIGHT."""
        below = np.flatnonzero(self.p_correct < threshold)
        return int(below[0]) if len(below) else ALL_RIGHT


def fold_of(group: str, seed: int, n_folds: int = N_FOLDS) -> int:
    """Return the fold of a problem, by a hash: adding data moves no problem from one fold to another."""
    digest = hashlib.sha256(f"{seed} {group}".encode()).digest()
    return int.from_bytes(digest[:8]) % n_folds


def cross_validate(
    traces: Sequence[ReadExample],
    recipe: Recipe,
    measured_only: Iterable[ReadExample] = (),
    planted: Sequence[ReadExample] = (),
    done: Callable[[], None] = lambda: None,
) -> tuple[list[HeldOut], tuple[float, float]]:
    """Fit a head per fold on the other folds, and calibrate all of them on what they said of unseen steps.

    Args:
        traces: To learn from.
        recipe: Settings of the fits.
        measured_only: Traces that no head may learn from; each is judged by the head of its problem's fold.
        planted: Traces with planted mistakes: learned from with the problem that they are of, and never judged.
        done: Called after each fold.

    Returns:
        What was said of every trace, and the intercept and slope of the calibration.
    """
    folds = [fold_of(one.example.group, recipe.seed) for one in traces]
    judged: list[tuple[ReadExample, int, NDArray[np.float64]]] = []
    others = [(one, fold_of(one.example.group, recipe.seed)) for one in measured_only]
    for fold in range(N_FOLDS):
        taught = [one for one in (*traces, *planted) if fold_of(one.example.group, recipe.seed) != fold]
        head = fit_head(taught, recipe)
        held = [(one, own) for one, own in [*zip(traces, folds, strict=True), *others] if own == fold]
        judged += [(one, own, one.log_odds(head)) for one, own in held]
        done()
    learned = {one.example.id for one in traces}
    intercept, slope = calibrate([(one, odds) for one, _, odds in judged if one.example.id in learned])
    held_out = [
        HeldOut(example=one.example, fold=fold, p_correct=1 / (1 + np.exp(intercept + slope * odds)))
        for one, fold, odds in judged
    ]
    return held_out, (intercept, slope)


def calibrate(judged: Sequence[tuple[ReadExample, NDArray[np.float64]]]) -> tuple[float, float]:
    """Return the Platt scaling (intercept, slope) of log-odds of steps that no head had seen."""
    from sklearn.linear_model import LogisticRegression

    odds = np.concatenate([odds for _, odds in judged])
    wrong = np.concatenate([one.wrong for one, _ in judged])
    fitted = LogisticRegression(C=1e6).fit(odds[wrong >= 0, None], wrong[wrong >= 0])
    return float(fitted.intercept_[0]), float(fitted.coef_[0, 0])


def final_head(traces: Sequence[ReadExample], recipe: Recipe, scaling: tuple[float, float]) -> StepHead:
    """Fit on all traces, with the calibration found by cross-validation."""
    return replace(fit_head(traces, recipe), intercept=scaling[0], slope=scaling[1])


def choose_threshold(held_out: Sequence[HeldOut]) -> float:
    """Return the threshold on P(correct) of the best F1 of the first error, smoothed over its neighbours."""
    ranks = np.linspace(0.002, 0.7, N_THRESHOLDS)
    candidates = np.quantile(np.concatenate([one.p_correct for one in held_out]), ranks)
    labels = np.array([one.example.first_error for one in held_out])
    scores: list[float] = []
    for threshold in candidates:
        named = np.array([one.first_below(float(threshold)) for one in held_out])
        scores.append(float(processbench_f1(labels, named)(np.ones((1, len(labels))))[0]))
    padded = np.pad(np.nan_to_num(scores), SMOOTHED // 2, mode="edge")
    return float(candidates[np.convolve(padded, np.ones(SMOOTHED) / SMOOTHED, mode="valid").argmax()])


def named_first_errors(held_out: Sequence[HeldOut]) -> NDArray[np.intp]:
    """Return the step named in each trace, its fold's threshold chosen on the other folds; shape (n_traces,)."""
    named = np.zeros(len(held_out), dtype=np.intp)
    for fold in {one.fold for one in held_out}:
        threshold = choose_threshold([one for one in held_out if one.fold != fold])
        for place, one in enumerate(held_out):
            if one.fold == fold:
                named[place] = one.first_below(threshold)
    return named


def measure_subset(held_out: Sequence[HeldOut], seed: int) -> Mapping[str, Measurement]:
    """Return the figures of one subset, each with its interval over problems.

    `first_error_f1` needs traces of both kinds; `step_auroc` is over labelled steps; `silent_auprc` ranks the traces
    with a right answer by P(all steps are right), the product of the steps' (chain rule), `silent_auprc_weakest` by
    their least probable step, `silent_auprc_length` by their length.
    """
    return {
        "first_error_f1": _first_error(held_out, seed),
        "step_auroc": _steps(held_out, seed),
        "silent_auprc": _silent(held_out, seed, lambda one: -float(np.log(one.p_correct).sum())),
        "silent_auprc_weakest": _silent(held_out, seed, lambda one: -float(one.p_correct.min())),
        "silent_auprc_length": _silent(held_out, seed, lambda one: float(one.example.n_chars)),
    }


def _first_error(held_out: Sequence[HeldOut], seed: int) -> Measurement:
    located = [one for one in held_out if one.example.first_error is not None]
    labels = np.array([one.example.first_error for one in located], dtype=np.intp)
    if len({one.fold for one in located}) < 2 or not (labels == ALL_RIGHT).any() or (labels == ALL_RIGHT).all():
        return Unmeasured(reason="one_class_only", detail=f"{len(located)} traces")
    resamples = draw_resamples([one.example.group for one in located], seed=seed)
    return measure(processbench_f1(labels, named_first_errors(located)), resamples, "one_class_only")


def _steps(held_out: Sequence[HeldOut], seed: int) -> Measurement:
    wrong = np.concatenate([one.example.wrong[: len(one.p_correct)] for one in held_out])
    suspicion = -np.concatenate([one.p_correct for one in held_out])
    groups = [one.example.group for one in held_out for _ in one.p_correct]
    kept = wrong >= 0
    resamples = draw_resamples([group for group, is_kept in zip(groups, kept, strict=True) if is_kept], seed=seed)
    return measure(auroc(wrong[kept] == 1, suspicion[kept]), resamples, "one_class_only")


def _silent(held_out: Sequence[HeldOut], seed: int, suspicion: Callable[[HeldOut], float]) -> Measurement:
    ranked = [one for one in held_out if one.example.silent is not None]
    flawed = np.array([one.example.silent for one in ranked], dtype=bool)
    resamples = draw_resamples([one.example.group for one in ranked], seed=seed)
    return measure(average_precision(flawed, np.array([suspicion(one) for one in ranked])), resamples, "one_class_only")
