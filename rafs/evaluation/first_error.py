"""Where the first error is: predictions against labels, both as 0-based steps.

`NO_ERROR` stands for "all steps are right"; `NO_PREDICTION` for a trace of which nothing was said. It equals no label,
so that silence is never rewarded.
"""

import numpy as np
import numpy.typing as npt

from rafs.evaluation.detection import matthews
from rafs.evaluation.intervals import Metric, Values, Weights, share

Steps = npt.NDArray[np.intp]
"""A step per item, shape (n_items,)."""

NO_ERROR = -1
NO_PREDICTION = -2

MR_WEIGHTS = (0.2, 0.3, 0.5)
"""Of correctness, place and reason in the MR-Score; those that the published tables were made with."""


def accuracy_erroneous(label: Steps, predicted: Steps) -> Metric:
    """Share of the traces with an error whose first error was named exactly; NaN where none has one."""
    return lambda weights: share(weights, predicted == label, label != NO_ERROR)


def accuracy_correct(label: Steps, predicted: Steps) -> Metric:
    """Share of the traces without error of which that was said; NaN where all have one."""
    return lambda weights: share(weights, predicted == label, label == NO_ERROR)


def processbench_f1(label: Steps, predicted: Steps) -> Metric:
    """Harmonic mean of `accuracy_erroneous` and `accuracy_correct`, 0 where both are 0.

    NaN unless there are traces of both kinds. Source: Zheng et al. 2024, "ProcessBench", arXiv:2412.06559.
    """
    on_erroneous, on_correct = accuracy_erroneous(label, predicted), accuracy_correct(label, predicted)

    def value(weights: Weights) -> Values:
        a, b = on_erroneous(weights), on_correct(weights)
        harmonic: Values = 2 * a * b / np.where(a + b == 0, 1, a + b)
        return harmonic

    return value


def mr_score(label: Steps, predicted: Steps, reason_right: npt.NDArray[np.bool_] | None) -> Metric:
    """0.2 max(0, MCC) + 0.3 ACC_step + 0.5 ACC_reason, in [0, 1].

    MCC is of "the solution is correct"; ACC_step is `accuracy_erroneous`; ACC_reason is the share of the traces with an
    error whose place and reason were both named. A trace of which nothing was said counts as called wrong.

    Args:
        label: First errors.
        predicted: Predictions.
        reason_right: Whether the reason that was given is the expert's; None where no reasons were graded. Then the two
            other weights are scaled to 1, which is no MR-Score and must be reported under another name.

    Source:
        Zeng et al. 2023, "MR-GSM8K", arXiv:2312.17080.
    """
    correctness = matthews(predicted == NO_ERROR, label == NO_ERROR)
    place = accuracy_erroneous(label, predicted)
    of_correctness, of_place, of_reason = MR_WEIGHTS

    def value(weights: Weights) -> Values:
        located: Values = of_correctness * np.maximum(correctness(weights), 0) + of_place * place(weights)
        if reason_right is None:
            return located / (of_correctness + of_place)
        return located + of_reason * share(weights, reason_right & (predicted == label), label != NO_ERROR)

    return value
