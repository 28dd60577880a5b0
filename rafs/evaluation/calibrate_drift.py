"""Whether recent traffic still looks like the traces that a calibration was made from.

The bound of a calibration holds for problems drawn like its own, so that traffic which differs has none.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rafs.calibration import Calibration
from rafs.calibration_file import Reference
from rafs.errors import InputError
from rafs.evaluation.calibrate_combiner import CHECKER, checker_word
from rafs.evaluation.libraries import scipy_stats
from rafs.evaluation.records import ItemRecord

N_REFERENCE = 1000
"""Values kept, drawn by the seed: the test sees a shift of the distribution by 0.06 then."""
MIN_TRACES = 30
"""Recent traces below which nothing is said."""
MIN_EXPECTED = 5.0
"""Cochran's rule: rarer kinds are counted together, or the chi-square distribution is none."""
NEGLIGIBLE = 0.1
"""Effects below it, on a scale from 0 to 1, are no drift, however many traces prove them."""
CHECKER_ORDER = ("refuted", "invented", "ungrounded", "proven", "silent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is compared of one trace; None is where there is none."""

    score: float | None
    status: str
    coverage: float | None
    q: tuple[float | None, ...]
    """P(right) of each step."""
    checker: tuple[str, ...]
    """What the checker said of each step: one of `CHECKER_ORDER`."""

    @property
    def worst_word(self) -> str:
        """The gravest thing that the checker said; steps of one trace are dependent, so that they are not counted."""
        return min(self.checker, key=CHECKER_ORDER.index, default="silent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How one quantity differs."""

    name: str
    test: str
    effect: float
    """Largest distance of two distribution functions, or half the summed distance of shares; 0 the same, 1 disjoint."""
    p_value: float
    """Times the number of tests (Bonferroni), at most 1."""
    drifted: bool


def _mean(look: Look) -> float | None:
    judged = [p for p in look.q if p is not None]
    return sum(judged) / len(judged) if judged else None


def _lowest(look: Look) -> float | None:
    return min((p for p in look.q if p is not None), default=None)


NUMBERS: Mapping[str, Callable[[Look], float | None]] = {
    "score": lambda look: look.score,
    "mean_q": _mean,
    "lowest_q": _lowest,
    "n_steps": lambda look: float(len(look.q)),
    "coverage": lambda look: look.coverage,
}
KINDS: Mapping[str, Callable[[Look], str]] = {
    "status": lambda look: look.status,
    "checker": lambda look: look.worst_word,
}


def look_at(record: ItemRecord, *calibrations: Calibration) -> Look:
    """Return what is compared of a record.

    Args:
        record: Of a trace.
        calibrations: Those that it may have been made with.

    Raises:
        InputError: It was made with another one.
    """
    rates = [calibration.checker for calibration in calibrations]
    row = record.members.get(CHECKER, (None,) * len(record.q))
    return Look(
        score=record.score,
        status=record.status.value if record.status is not None else "failed",
        coverage=record.coverage,
        q=record.q,
        checker=tuple(checker_word(p, *rates) for p in row),
    )


def describe(looks: Sequence[Look], *, seed: int) -> dict[str, Reference]:
    """Return how each quantity is distributed over traces, which should be of a problem each.

    Values are rounded to 6 digits, and `N_REFERENCE` are drawn where there are more.
    """
    generator = np.random.default_rng(seed)
    found = {}
    for name, number in NUMBERS.items():
        values = np.array([value for look in looks if (value := number(look)) is not None])
        if len(values) > N_REFERENCE:
            values = generator.choice(values, N_REFERENCE, replace=False)
        found[name] = Reference(values=[float(value) for value in np.round(np.sort(values), 6)])
    for name, kind in KINDS.items():
        found[name] = Reference(counts=dict(sorted(Counter(map(kind, looks)).items())))
    return found


def find_drift(reference: Mapping[str, Reference], recent: Mapping[str, Reference], *, level: float) -> list[Shift]:
    """Compare recent traces with the calibration set, one quantity at a time.

    Numbers by the two-sample Kolmogorov-Smirnov test, which is conservative where values tie; kinds by chi-square, the
    rare ones counted together. Quantities of which either side has none are left out; the status tells of that.

    Args:
        reference: Of the calibration set.
        recent: Of as many traces as there are, at least `MIN_TRACES`.
        level: Probability, at most, of naming any drift where there is none.

    Raises:
        InputError: There are too few traces.
    """
    n = sum(recent["status"].counts.values())
    if n < MIN_TRACES:
        allowed = f"at least {MIN_TRACES}"
        raise InputError(f"got {n} traces, {allowed} tell something", field="FILE", got=str(n), allowed=allowed)
    raw = []
    for name, one in recent.items():
        known = reference.get(name)
        if known is not None and (tested := _test_numbers(known, one) or _test_kinds(known, one)) is not None:
            raw.append((name, *tested))
    return [
        Shift(
            name=name,
            test=test,
            effect=effect,
            p_value=(adjusted := min(1.0, p * len(raw))),
            drifted=adjusted <= level and effect >= NEGLIGIBLE,
        )
        for name, test, effect, p in raw
    ]


def _test_numbers(known: Reference, recent: Reference) -> tuple[str, float, float] | None:
    if not known.values or not recent.values:
        return None
    found = scipy_stats().ks_2samp(known.values, recent.values, method="asymp")
    return "Kolmogorov-Smirnov", float(found.statistic), float(found.pvalue)


def _test_kinds(known: Reference, recent: Reference) -> tuple[str, float, float] | None:
    if not known.counts or not recent.counts:
        return None
    names = sorted(known.counts.keys() | recent.counts.keys())
    table = np.array([[one.counts.get(name, 0) for name in names] for one in (known, recent)], dtype=float)
    shares = table / table.sum(axis=1, keepdims=True)
    while table.shape[1] > 1 and _least_expected(table) < MIN_EXPECTED:
        first, second, *rest = np.argsort(table.sum(axis=0), kind="stable")
        table = np.column_stack([table[:, rest], table[:, first] + table[:, second]])
    p_value = float(scipy_stats().chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0
    return "chi-square", float(np.abs(shares[0] - shares[1]).sum() / 2), p_value


def _least_expected(table: np.ndarray) -> float:
    return float(table.sum(axis=1).min() * table.sum(axis=0).min() / table.sum())
