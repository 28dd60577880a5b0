"""Fitting how much each verifier's word on a step is worth, and below which probability a step is suspect."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from rafs.calibration import AT_CHANCE, Calibration, CheckerRates, Scale, combine
from rafs.errors import InputError
from rafs.evaluation import detection, first_error
from rafs.evaluation.families import Item
from rafs.evaluation.intervals import Bools, Figure, Values, Weights, draw_resamples, measure
from rafs.evaluation.libraries import scipy_optimize
from rafs.log_odds import logit, sigmoid
from rafs.outcomes import Unmeasured
from rafs.types import kind_of

CHECKER = "symbolic"
REFUTED, SILENT = "refuted", "silent"
WORDS = tuple(field.name for field in fields(CheckerRates))

MIN_STEPS = 50
"""Labelled steps below which nothing is fitted, and below which a model's word counts as at chance: its AUROC is then
known to 0.1 at best."""
MIN_ERRONEOUS = 20
"""Traces with an error, and as many without, below which no threshold of a step is chosen."""
N_CANDIDATES = 200
"""Thresholds tried: quantiles of q, so that finer ones would move a trace or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledStep:
    """What the verifiers said of a step that no checker refuted, and whether it is right."""

    group: str
    right: bool
    word: str
    """What the checker said: one of `WORDS`, or `SILENT`."""
    said: Mapping[str, float]
    """Log-odds by model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combiner:
    """Fitted numbers of the pool."""

    prior: float
    """Share of right steps among those labelled and not refuted."""
    checker: CheckerRates
    scales: Mapping[str, Scale]
    notes: Sequence[str]

    def to_calibration(self) -> Calibration:
        """Return the numbers as the pool takes them; they have no id before the artefact is whole."""
        return Calibration(id="being made", data="", prior=self.prior, checker=self.checker, scales=self.scales)


def checker_word(p: float | None, *rates: CheckerRates) -> str:
    """Return what the checker said, from the probability that stands in a record.

    Args:
        p: Of the checker; None where it was silent.
        rates: Those that the record may have been made with.

    Raises:
        InputError: It is none of theirs.
    """
    if p is None:
        return SILENT
    if p == 0:
        return REFUTED
    for known in rates:
        for word in WORDS:
            if getattr(known, word) == p:
                return word
    allowed = "records made with the calibration that is in force; give the same --calibration"
    raise InputError(
        f"the checker said {p}, which is no rate of its; {allowed}", field="record", got=str(p), allowed=""
    )


def labelled_steps(items: Iterable[Item], made_with: CheckerRates) -> Iterator[LabelledStep]:
    """Yield the labelled steps that no checker refuted; a text that is not cut into steps says nothing of one."""
    for item in items:
        if item.record is None or len(item.trace.steps) == 1:
            continue
        silent = (None,) * len(item.trace.steps)
        words = [checker_word(p, made_with) for p in item.record.members.get(CHECKER, silent)]
        models = {name: row for name, row in item.record.members.items() if name != CHECKER}
        for t, right in enumerate(item.trace.right_steps()):
            if right is not None and words[t] != REFUTED:
                said = {name: logit(p) for name, row in models.items() if (p := row[t]) is not None}
                yield LabelledStep(group=item.trace.group, right=right, word=words[t], said=said)


def fit_combiner(steps: Sequence[LabelledStep], *, seed: int) -> Combiner | Unmeasured:
    """Fit checker rates and scales together, so that what two members share is not counted twice.

    The pool of `calibration.combine` is linear in its numbers: logit q = b0 + c_word + sum_k mean_{i in k} (u_i + b_i
    logit p_i), with b0 the log-odds of the prior, which is the share of right steps. So one logistic regression gives
    logit(rate) = b0 + c and the scale (b0 + u_i, b_i). Each of c, u, b is drawn towards 0, no evidence, as if it came
    from N(0, 1): few steps move it little. A model whose
    AUROC may be 0.5, whose slope is not above 0, or of which less than `MIN_STEPS` steps are known is at chance.

    Args:
        steps: Labelled, not refuted.
        seed: Of the resamples by problem that say whether a model may be at chance.

    Returns:
        The numbers; Unmeasured below `MIN_STEPS`, or where all steps have one label.
    """
    right = np.array([step.right for step in steps], dtype=bool)
    if len(steps) < MIN_STEPS or len(set(right.tolist())) < 2:
        reason = "too_few_steps" if len(steps) < MIN_STEPS else "one_class_only"
        return Unmeasured(reason=reason, detail=f"{len(steps)} labelled steps, {right.sum()} of them right")
    members = sorted({name for step in steps for name in step.said})
    reasons = {name: why for name in members if (why := _why_at_chance(name, steps, right, seed))}
    while True:
        heard = [name for name in members if name not in reasons]
        combiner = _fit(steps, right, heard)
        backwards = {name: "its slope is not above 0" for name in heard if combiner.scales[name].slope <= 0}
        if not backwards:
            break
        reasons |= backwards
    counts = Counter((step.word, step.right) for step in steps)
    notes = [
        f"checker {word}: {counts[word, True]} of {counts[word, True] + counts[word, False]} steps are right"
        for word in (*WORDS, SILENT)
    ]
    return Combiner(
        prior=combiner.prior,
        checker=combiner.checker,
        scales=dict(combiner.scales) | dict.fromkeys(reasons, AT_CHANCE),
        notes=[*notes, *(f"{name} counts for nothing: {why}" for name, why in reasons.items())],
    )


def _why_at_chance(name: str, steps: Sequence[LabelledStep], right: Bools, seed: int) -> str | None:
    judged = np.array([name in step.said for step in steps], dtype=bool)
    said = np.array([step.said[name] for step in steps if name in step.said])
    if len(said) < MIN_STEPS or len(set(right[judged].tolist())) < 2:
        return f"{len(said)} labelled steps of both kinds are needed, at least {MIN_STEPS}"
    groups = [step.group for step in steps if name in step.said]
    figure = measure(detection.auroc(~right[judged], -said), draw_resamples(groups, seed=seed), "one_class_only")
    if isinstance(figure, Figure) and figure.low is not None and figure.low > 0.5:
        return None
    known = f"{figure.value:.3f}, at least {figure.low}" if isinstance(figure, Figure) else figure.reason
    return f"its AUROC on {len(said)} steps may be 0.5 ({known})"


def _fit(steps: Sequence[LabelledStep], right: Bools, heard: Sequence[str]) -> Combiner:
    columns = np.zeros((len(steps), len(WORDS) + 2 * len(heard)))
    for row, step in enumerate(steps):
        if step.word in WORDS:
            columns[row, WORDS.index(step.word)] = 1
        kinds = Counter(kind_of(name) for name in heard if name in step.said)
        for place, name in enumerate(heard):
            if name in step.said:
                share = 1 / kinds[kind_of(name)]
                columns[row, len(WORDS) + 2 * place : len(WORDS) + 2 * place + 2] = share, share * step.said[name]
    base = logit(float(right.mean()))
    weights = _logistic(columns, right, base)
    shifts, scales = weights[: len(WORDS)], weights[len(WORDS) :]
    return Combiner(
        prior=sigmoid(base),
        checker=CheckerRates(**{word: sigmoid(base + shift) for word, shift in zip(WORDS, shifts, strict=True)}),
        scales={
            name: Scale(intercept=base + scales[2 * place], slope=scales[2 * place + 1])
            for place, name in enumerate(heard)
        },
        notes=(),
    )


def _logistic(columns: Weights, right: Bools, base: float) -> list[float]:
    """Fit a logistic regression with a given intercept, which scikit-learn has not; weights have a prior of N(0, 1)."""
    sign = np.where(right, 1.0, -1.0)

    def loss(weights: Values) -> tuple[float, Values]:
        margin = sign * (base + columns @ weights)
        surprise = np.exp(-np.logaddexp(0, margin))  # P(the other label)
        return np.logaddexp(0, -margin).sum() + weights @ weights / 2, weights - columns.T @ (sign * surprise)

    found = scipy_optimize().minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B")
    return [float(weight) for weight in found.x]


def recombined(item: Item, calibration: Calibration, made_with: CheckerRates, q_refuted: float) -> list[float | None]:
    """Return q of each step as the pool gives it with other numbers; None where nobody is heard."""
    if item.record is None:
        return [None] * len(item.trace.steps)
    members, found = item.record.members, list[float | None]()
    for t in range(len(item.trace.steps)):
        word = checker_word(members[CHECKER][t], made_with) if CHECKER in members else SILENT
        heard = [
            (name, p)
            for name, row in members.items()
            if name != CHECKER and (p := row[t]) is not None and calibration.hears(name)
        ]
        if word in WORDS:
            heard.append((CHECKER, getattr(calibration.checker, word)))
        if word == REFUTED:
            found.append(q_refuted)
        else:
            found.append(combine(heard, calibration) if heard else None)
    return found


def fit_tau_step(items: Sequence[Item], q: Sequence[Sequence[float | None]], least: float) -> float | Unmeasured:
    """Return the threshold of q below which a step is suspect that gives the best ProcessBench F1.

    Args:
        items: Those whose first error is known are used.
        q: P(right) of each step of each item.
        least: Nothing at or below it is tried, so that a refuted step is always suspect.

    Returns:
        The threshold, the middle one of those that tie; Unmeasured with less than `MIN_ERRONEOUS` of either kind.
    """
    pairs = [(item.trace, row) for item, row in zip(items, q, strict=True) if item.trace.located]
    label = np.array([-1 if trace.first_error is None else trace.first_error for trace, _ in pairs], dtype=int)
    kinds = int((label >= 0).sum()), int((label < 0).sum())
    judged = np.unique([p for _, row in pairs for p in row if p is not None and p > least])
    if min(kinds) < MIN_ERRONEOUS or len(judged) == 0:
        needed = f"at least {MIN_ERRONEOUS} of each"
        return Unmeasured(reason="too_few_traces", detail=f"{kinds[0]} with an error, {kinds[1]} without, {needed}")
    edges = np.concatenate([[least], judged])
    between = np.append((edges[1:] + edges[:-1]) / 2, min(1.0, (judged[-1] + 1) / 2))
    tried = np.unique(np.quantile(between, np.linspace(0, 1, N_CANDIDATES), method="nearest"))
    once = np.ones((1, len(pairs)))
    reached = [
        float(first_error.processbench_f1(label, _first_below(tau, [row for _, row in pairs]))(once)[0])
        for tau in tried
    ]
    best = np.flatnonzero(np.isclose(reached, max(reached)))
    return float(tried[best[len(best) // 2]])


def _first_below(tau: float, rows: Sequence[Sequence[float | None]]) -> first_error.Steps:
    found = []
    for row in rows:
        suspect = next((t for t, p in enumerate(row) if p is not None and p < tau), first_error.NO_ERROR)
        found.append(suspect if any(p is not None for p in row) else first_error.NO_PREDICTION)
    return np.array(found, dtype=int)
