"""The plots of a report, each an SVG of its own that loads nothing."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rafs.evaluation.families import Item, Suspicion, by_score, rank_of, ranks_silent
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.libraries import matplotlib, sklearn_metrics
from rafs.evaluation.summary import PLANTED, POOLED, Report, short_names

N_BINS = 10
"""Of the reliability plot: fewer than the calibration error takes, so that each still holds some steps."""
MAX_SUBSETS = 12
"""Subsets drawn; the tables hold all."""
MAX_LABEL_CHARS = 32
MAX_INSIDE = 4
"""Lines whose legend stands inside a plot."""
WHOLE = (-0.02, 1.02)
"""Limits of an axis from 0 to 1, so that what lies at its ends is seen."""
BESIDE = (("prevalence", "|", "prevalence"), ("length_auprc", "x", "length alone"))
"""What the AUPRC of a subset is held against: figure, mark and label."""
STYLE = {
    "svg.fonttype": "none",  # letters stay text: a tenth of the size
    "svg.hashsalt": "rafs",  # the same plot is the same file
    "text.parse_math": False,  # names come from data files
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "font.size": 9,
}


def draw_plots(
    report: Report, sections: Mapping[str, Sequence[Item]], others: Mapping[str, Suspicion]
) -> dict[str, str]:
    """Return the plots by title, each as a data URI.

    Args:
        report: What was measured.
        sections: The items it was measured on.
        others: Scorers that stand beside RAFS in the precision-recall plot, by name.
    """
    subsets = [name for name in report.sections if name not in {POOLED, PLANTED}][:MAX_SUBSETS]
    items = sections[POOLED] or sections.get(PLANTED, ())
    return {
        "Risk against coverage": _draw(lambda axes: _risk_coverage(axes, report, [*_wholes(report), *subsets])),
        "Precision and recall of silent failures": _draw(lambda axes: _precision_recall(axes, items, others)),
        "Reliability of the steps' probabilities": _draw(lambda axes: _reliability(axes, items)),
        "Silent failures by subset: AUPRC": _draw(lambda axes: _by_subset(axes, report, subsets, "silent_failure")),
        "First errors by subset: ProcessBench F1": _draw(lambda axes: _by_subset(axes, report, subsets, "first_error")),
    }


def _wholes(report: Report) -> list[str]:
    return [name for name in (POOLED, PLANTED) if name in report.sections]


def _draw(fill: Callable[[Any], None]) -> str:
    library = matplotlib()
    with library.rc_context(STYLE):
        figure = library.figure.Figure(figsize=(5.6, 3.8), layout="constrained")
        fill(figure.subplots())
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + base64.b64encode(picture.getvalue()).decode()


def _risk_coverage(axes: Any, report: Report, names: Sequence[str]) -> None:
    shown = short_names(report)
    for name in names:
        points = report.sections[name].curve
        if points:
            coverage, risk = [point.coverage for point in points], [point.risk for point in points]
            width = 2.5 if name in {POOLED, PLANTED} else 1.2
            marker = "." if len(points) == 1 else None
            axes.plot(coverage, risk, marker=marker, linewidth=width, label=_label(shown[name]))
    axes.set(xlabel="share of all traces accepted", ylabel="share of these not faithful", xlim=WHOLE, ylim=WHOLE)
    _legend(axes, beside=len(names) > MAX_INSIDE)


def _precision_recall(axes: Any, items: Sequence[Item], others: Mapping[str, Suspicion]) -> None:
    eligible = [item for item in items if ranks_silent(item)]
    for name, suspicion in {"rafs": by_score, **others}.items():
        ranked = [(item.trace.silent_failure is True, rank_of(item, suspicion)) for item in eligible]
        kept = [(silent, rank) for silent, rank in ranked if rank is not None]
        if len({silent for silent, _ in kept}) == 2:
            silent, rank = zip(*kept, strict=True)
            precision, recall, _ = sklearn_metrics().precision_recall_curve(silent, rank)
            width, above = (2.5, 3) if suspicion is by_score else (1.2, 2)
            axes.step(recall, precision, where="post", label=_label(name), linewidth=width, zorder=above)
    if eligible:
        prevalence = sum(item.trace.silent_failure is True for item in eligible) / len(eligible)
        axes.axhline(prevalence, color="grey", linestyle="--", label="prevalence")
    axes.set(xlabel="recall", ylabel="precision", xlim=WHOLE, ylim=WHOLE)
    _legend(axes)


def _reliability(axes: Any, items: Sequence[Item]) -> None:
    judged = [
        (item.record.q[at], right)
        for item in items
        if item.record is not None
        for at, right in enumerate(item.trace.right_steps())
        if right is not None and item.record.q[at] is not None
    ]
    p, right = (np.array(side, float) for side in (zip(*judged, strict=True) if judged else ((), ())))
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    axes.plot([0, 1], [0, 1], color="grey", linestyle="--")
    for number in np.unique(bins):
        here = bins == number
        axes.plot(p[here].mean(), right[here].mean(), "o", color="C0", markersize=5)
        axes.annotate(f"{here.sum()}", (p[here].mean(), right[here].mean()), (6, 3), textcoords="offset points")
    axes.set(xlabel="mean P(step is right), with the number of steps", ylabel="share that is right")
    axes.set(xlim=WHOLE, ylim=(WHOLE[0], 1.08))  # room for a number above


def _by_subset(axes: Any, report: Report, names: Sequence[str], family: str) -> None:
    figure_name = {"silent_failure": "auprc", "first_error": "processbench_f1"}[family]
    names = [name for name in names if report.sections[name].families[family].n]
    figures = [report.sections[name].families[family].figures for name in names]
    for place, found in enumerate(figures):
        _point(axes, found[figure_name], place)
    for beside, shape, label in BESIDE if family == "silent_failure" else ():
        known = [(one.value, at) for at, found in enumerate(figures) if isinstance(one := found[beside], Figure)]
        if known:
            axes.plot(*zip(*known, strict=True), shape, color="grey", label=label)
    axes.set(xlim=WHOLE, ylim=(max(1, len(names)) - 0.5, -0.5), xlabel="with 95 % interval")
    shown = short_names(report)
    axes.set_yticks(range(len(names)), [_label(shown[name]) for name in names])
    _legend(axes)


def _point(axes: Any, figure: Measurement, place: int) -> None:
    if isinstance(figure, Figure):
        axes.plot(figure.value, place, "o", color="C0")
        if figure.low is not None and figure.high is not None:
            axes.plot([figure.low, figure.high], [place, place], color="C0")


def _legend(axes: Any, *, beside: bool = False) -> None:
    """Draw a legend in the emptiest corner, or beside the plot, where one of many lines would hide some of them."""
    if axes.get_legend_handles_labels()[0]:
        place = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {"loc": "best"}
        axes.legend(fontsize=8, **place)


def _label(name: str) -> str:
    """Return a name that is safe to draw: matplotlib hides labels that begin with an underscore."""
    shown = "".join(char if char.isprintable() else "?" for char in name.lstrip("_"))
    return shown if len(shown) <= MAX_LABEL_CHARS else f"{shown[: MAX_LABEL_CHARS - 1]}…"
