"""Probabilities of the four outcomes, fitted on labelled traces and held against others."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from rafs.evaluation import selection
from rafs.evaluation.families import Item
from rafs.evaluation.intervals import Measurement, draw_resamples, measure, share
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.libraries import linear_models
from rafs.outcome_model import FEATURES, OutcomeModel, outcome_features
from rafs.outcomes import OutcomeLabel, Unmeasured

MIN_TRACES = 20
"""Of an outcome; a rarer one is left out, and its traces with it."""


def outcome_of(trace: LabelledTrace) -> OutcomeLabel | None:
    """Return the outcome that the labels give a trace; None where they do not say."""
    if trace.extraction_failure is True:
        return OutcomeLabel.EXTRACTION_FAILURE
    if trace.silent_failure is True:
        return OutcomeLabel.SILENT_FAILURE
    if trace.faithful is True:
        return OutcomeLabel.FAITHFUL_SUCCESS
    is_overt = trace.answer_correct is False and trace.solution_correct is False
    return OutcomeLabel.OVERT_FAILURE if is_overt else None


def fit_outcomes(items: Sequence[Item]) -> OutcomeModel | Unmeasured:
    """Fit a multinomial logistic regression on score, components and weakest step of the traces that have a score.

    Returns:
        The model; Unmeasured where less than two outcomes have `MIN_TRACES` traces.
    """
    known = _labelled(items)
    counts = Counter(label for _, label in known)
    kept = sorted(label for label, n in counts.items() if n >= MIN_TRACES)
    if len(kept) < 2:
        seen = ", ".join(f"{n} {label}" for label, n in sorted(counts.items())) or "none"
        return Unmeasured(reason="too_few_traces", detail=f"{seen}; two outcomes of {MIN_TRACES} are needed")
    rows = np.array([_row(features) for features, label in known if label in kept])
    labels = np.array([label.value for _, label in known if label in kept])
    fitted = linear_models().LogisticRegression(C=1.0, max_iter=5000).fit(rows, labels)
    coefficients, intercepts = fitted.coef_, fitted.intercept_
    if len(kept) == 2:  # of two classes the library keeps the odds of the second alone
        coefficients, intercepts = np.stack([-coefficients[0], coefficients[0]]) / 2, np.array([-1, 1]) * intercepts / 2
    names = [str(name) for name in fitted.classes_]
    return OutcomeModel(
        intercepts={name: float(value) for name, value in zip(names, intercepts, strict=True)},
        weights={
            name: {key: float(weight) for key, weight in zip(FEATURES, row, strict=True)}
            for name, row in zip(names, coefficients, strict=True)
        },
    )


def measure_outcomes(items: Sequence[Item], model: OutcomeModel, *, seed: int) -> Mapping[str, Measurement]:
    """Return the Brier score over all outcomes, that of always saying their shares, and ECE of a faithful success.

    Traces of an outcome that the model does not know count with probability 0 for it.
    """
    kept = [item for item in items if item.record is not None and item.record.score is not None]
    known = [(item, label) for item in kept if (label := outcome_of(item.trace)) is not None]
    drawn = draw_resamples([item.trace.group for item, _ in known], seed=seed)
    names = [label.value for label in OutcomeLabel if label is not OutcomeLabel.UNDETERMINED]
    said = [model.probabilities(_features(item)) for item, _ in known]
    p = np.array([[row.get(name, 0.0) for name in names] for row in said]).reshape(-1, len(names))
    true = np.array([[label == name for name in names] for _, label in known], dtype=bool).reshape(-1, len(names))
    faithful = names.index(OutcomeLabel.FAITHFUL_SUCCESS)
    missed, missed_by_shares = (((guess - true) ** 2).sum(axis=1) for guess in (p, true.mean(axis=0) if known else p))
    return {
        "brier": measure(lambda weights: share(weights, missed), drawn, "no_items"),
        "brier_of_shares": measure(lambda weights: share(weights, missed_by_shares), drawn, "no_items"),
        "ece_of_faithful_success": measure(
            selection.expected_calibration_error(p[:, faithful], true[:, faithful]), drawn, "no_items"
        ),
    }


def _labelled(items: Sequence[Item]) -> list[tuple[Mapping[str, float], OutcomeLabel]]:
    return [
        (_features(item), label)
        for item in items
        if item.record is not None and item.record.score is not None and (label := outcome_of(item.trace)) is not None
    ]


def _features(item: Item) -> Mapping[str, float]:
    assert item.record is not None and item.record.score is not None  # chosen by the callers
    return outcome_features(item.record.score, item.record.components, item.record.q)


def _row(features: Mapping[str, float]) -> list[float]:
    return [features.get(name, 0.0) for name in FEATURES]
