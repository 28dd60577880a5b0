"""From records and labels to a report: per subset, and pooled over what was natural and what was planted apart."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rafs.errors import InputError
from rafs.evaluation.families import (
    Family,
    Item,
    Suspicion,
    by_score,
    extraction_failures,
    first_errors,
    gate,
    match,
    silent_failures,
    steps,
)
from rafs.evaluation.flaw_families import FlawProtocol, flaw_families
from rafs.evaluation.intervals import LEVEL, N_RESAMPLES, Figure, Measurement, draw_resamples
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.selection import CurvePoint, risk_coverage
from rafs.outcomes import Status

POOLED, PLANTED = "pooled", "planted"
"""Natural traces of all subsets; and planted errors, which are easier and flatter a scorer, with the right traces of
the same source and problem that they were planted in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Everything measured on one set of items."""

    n: int
    n_problems: int
    n_unscored: int
    """Items without a score: abstentions, failures and traces that were not run."""
    n_label_suspect: int
    """Items whose label is doubted by its source; they are measured like the others."""
    status_counts: Mapping[str, int]
    families: Mapping[str, Family]
    curve: Sequence[CurvePoint]
    """Risk against coverage of the score."""
    milliseconds: Sequence[float]
    """Of each item that was run."""
    tokens: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Sections by name: `pooled`, `planted` where there are such traces, and one for each `source/subset`."""

    seed: int
    n_resamples: int
    sections: Mapping[str, Section]


def summarise(
    records: Sequence[ItemRecord],
    traces: Sequence[LabelledTrace],
    *,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
    suspicion: Suspicion = by_score,
    flaws: FlawProtocol | None = None,
) -> Report:
    """Measure a scorer.

    Args:
        records: What was scored, in any order.
        traces: What was to be scored; one without a record counts as unscored.
        seed: Of the resamples.
        n_resamples: For each interval.
        suspicion: Ranks traces for silent failures.
        flaws: Adds the families of FindTheFlaws; None leaves them out.

    Raises:
        InputError: Two traces share an id, or a record belongs to none of them or has another number of steps.
    """
    parts = sections_of(records, traces)
    sections = {name: _section(part, seed, n_resamples, suspicion, flaws) for name, part in parts.items()}
    return Report(seed=seed, n_resamples=n_resamples, sections=sections)


def short_names(report: Report) -> dict[str, str]:
    """Return the names of the sections, without their source where the subset alone tells them apart."""
    subsets = {name: name.partition("/")[2] or name for name in report.sections}
    count = Counter(subsets.values())
    return {name: subset if count[subset] == 1 else name for name, subset in subsets.items()}


def sections_of(records: Sequence[ItemRecord], traces: Sequence[LabelledTrace]) -> dict[str, list[Item]]:
    """Return the items of every section by its name; errors as of `summarise`."""
    items = _joined(records, traces)
    planted_in = {(item.trace.source, item.trace.group) for item in items if not item.trace.natural}
    parts: dict[str, list[Item]] = {POOLED: []}
    for item in items:
        is_control = item.trace.solution_correct is True and (item.trace.source, item.trace.group) in planted_in
        parts.setdefault(PLANTED if not item.trace.natural or is_control else POOLED, []).append(item)
    for item in items:
        parts.setdefault(f"{item.trace.source}/{item.trace.subset}", []).append(item)
    return parts


def _joined(records: Sequence[ItemRecord], traces: Sequence[LabelledTrace]) -> list[Item]:
    made = {record.id: record for record in records}
    twice = [name for name, count in Counter(trace.id for trace in traces).items() if count > 1]
    unknown = made.keys() - {trace.id for trace in traces}
    other = [trace.id for trace in traces if trace.id in made and len(made[trace.id].q) != len(trace.steps)]
    for wrong, allowed in (
        (twice, "one trace for each id"),
        (sorted(unknown), "records of the traces given"),
        (other, "records with as many steps as the trace"),
    ):
        if wrong:
            got = ", ".join(wrong[:3])
            raise InputError(
                f"{len(wrong)} ids such as {got}: allowed: {allowed}", field="id", got=got, allowed=allowed
            )
    return [Item(trace=trace, record=made.get(trace.id)) for trace in traces]


def _section(
    items: Sequence[Item], seed: int, n_resamples: int, suspicion: Suspicion, flaws: FlawProtocol | None
) -> Section:
    drawn = draw_resamples([item.trace.group for item in items], seed=seed, n_resamples=n_resamples)
    made = [item.record for item in items if item.record is not None]
    counts = Counter("missing" if item.record is None else item.record.status or "failed" for item in items)
    scored = [
        (item.record.score, item.trace.faithful)
        for item in items
        if item.record is not None and item.record.score is not None and item.trace.faithful is not None
    ]
    n_labelled = sum(item.trace.faithful is not None for item in items)
    return Section(
        n=len(items),
        n_problems=drawn.n_problems,
        n_unscored=sum(item.record is None or item.record.score is None for item in items),
        n_label_suspect=sum(item.trace.label_suspect is not None for item in items),
        status_counts={str(name): counts[name] for name in (*Status, "failed", "missing") if counts[name]},
        families={
            "first_error": first_errors(items, drawn),
            "silent_failure": silent_failures(items, drawn, suspicion),
            "extraction_failure": extraction_failures(items, drawn),
            "match": match(items, drawn),
            "gate": gate(items, drawn),
            "steps": steps(items, seed, n_resamples),
            **(flaw_families(items, flaws, seed, n_resamples) if flaws is not None else {}),
        },
        curve=risk_coverage(
            np.array([score for score, _ in scored]),
            np.array([faithful for _, faithful in scored], dtype=bool),
            n_labelled - len(scored),
        ),
        milliseconds=[record.cost.milliseconds for record in made],
        tokens=sum(record.cost.tokens for record in made),
        calls=sum(record.cost.calls for record in made),
    )


Json = bool | int | float | str | None | list["Json"] | dict[str, "Json"]


def report_json(report: Report) -> dict[str, Json]:
    """Return the report as JSON: an unmeasured figure is null with its reason, never a number."""
    return {
        "seed": report.seed,
        "n_resamples": report.n_resamples,
        "level": LEVEL,
        "sections": {name: _section_json(section) for name, section in report.sections.items()},
    }


def _section_json(section: Section) -> dict[str, Json]:
    families: dict[str, Json] = {name: _family_json(family) for name, family in section.families.items()}
    times = section.milliseconds
    return {
        "n": section.n,
        "n_problems": section.n_problems,
        "n_unscored": section.n_unscored,
        "n_label_suspect": section.n_label_suspect,
        "status_counts": dict(section.status_counts),
        **families,
        "risk_coverage": [
            {"threshold": point.threshold, "coverage": point.coverage, "risk": point.risk} for point in section.curve
        ],
        "cost": {
            "calls": section.calls,
            "tokens": section.tokens,
            "mean_ms": float(np.mean(times)) if times else None,
            "p95_ms": float(np.quantile(times, 0.95)) if times else None,
        },
    }


def _family_json(family: Family) -> dict[str, Json]:
    figures: dict[str, Json] = {name: figure_json(figure) for name, figure in family.figures.items()}
    return {"n": family.n, "n_unscored": family.n_unscored, **figures}


def figure_json(figure: Measurement) -> dict[str, Json]:
    """Return one figure as JSON."""
    if not isinstance(figure, Figure):
        return {"value": None, "reason": figure.reason, "detail": figure.detail}
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": figure.n,
        "n_problems": figure.n_problems,
        "method": figure.method,
    }
