"""From labelled traces and what was made of them to a calibration artefact.

Three parts that share no problem: on `fit` go prior, checker rates, scales, tau_step and outcomes; on `threshold`
tau_accept is learned; on `test` the whole is measured.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rafs.calibration import Calibration
from rafs.calibration_file import AcceptThreshold, Artefact, DataUsed, Metric, Pin, Reference, Split
from rafs.errors import InputError
from rafs.evaluation import families
from rafs.evaluation.calibrate_combiner import (
    MIN_STEPS,
    fit_combiner,
    fit_tau_step,
    labelled_steps,
    recombined,
)
from rafs.evaluation.calibrate_drift import describe, look_at
from rafs.evaluation.calibrate_outcomes import fit_outcomes, measure_outcomes
from rafs.evaluation.families import Item
from rafs.evaluation.intervals import N_RESAMPLES, Figure, Measurement, draw_resamples
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.risk import Threshold, learn_threshold
from rafs.outcome_model import OutcomeModel
from rafs.outcomes import ComponentName, Measured, Status, Unmeasured
from rafs.policy import Policy, Reason

FIT, THRESHOLD, TEST = "fit", "threshold", "test"

Rescore = Callable[[Sequence[Item], Calibration, Policy], Sequence[ItemRecord]]
"""Scores items again with other numbers, from what the models said when their records were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the caller chooses."""

    alpha: float = 0.1
    delta: float = 0.1
    seed: int = 0
    test_share: float = 0.4
    """Of the problems; of the others, half fit and half give the threshold."""
    fit_only: frozenset[str] = frozenset()
    """Sources that stand for no traffic, such as collections of wrong solutions alone: no threshold is learned on
    them, and nothing measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What the numbers are made for and from."""

    preset: str
    policy: Policy
    made_with: Calibration
    """Under which the records were made."""
    date: str
    rafs_version: str
    config_hash: str
    scoring: str
    models: Sequence[Pin]
    data: Sequence[DataUsed]
    licences: str
    notes: Sequence[str]
    can_rescore: bool
    """Whether scores hang on no model's word but those on steps; else the pool stays, tau_accept alone is learned."""


def calibrate(
    items: Sequence[Item], basis: Basis, options: Options, rescore: Rescore
) -> tuple[Artefact, Sequence[Item]]:
    """Fit, learn and measure.

    Planted errors are left out: they are easier, and a threshold learned on them would let too much through. So are
    texts that are not cut into steps: no word has its place there.

    Returns:
        The artefact, and the items of the test split as they were scored again and decided: what it was measured on.

    Raises:
        InputError: The labels of the fit split leave nothing to fit.
        ConfigError: scikit-learn or scipy is not installed.
    """
    natural, notes = _usable(items, basis)
    parts = split_items(natural, options)
    calibration, policy = basis.made_with, replace(basis.policy, tau_accept=0.0)
    tau_step: float | None = policy.tau_step
    if basis.can_rescore:
        calibration, tau_step, found = _fit_pool(parts[FIT], basis, options)
        notes += found
        policy = policy if tau_step is None else replace(policy, tau_step=tau_step)
        parts = split_items(_replaced(natural, rescore(natural, calibration, policy)), options)
    else:
        notes.append("the pool of verifiers is that of the records: their scores hang on what a generator wrote")
    learned = _learn(parts[THRESHOLD], options)
    decided = {name: [_decided(item, learned) for item in part] for name, part in parts.items()}
    outcomes, found = _fit_outcomes(decided[FIT])
    notes += found
    artefact = Artefact(
        date=basis.date,
        rafs_version=basis.rafs_version,
        preset=basis.preset,
        config_hash=basis.config_hash,
        scoring=basis.scoring,
        models=list(basis.models),
        data=list(basis.data),
        licences=basis.licences,
        seed=options.seed,
        splits={name: _split_of(part) for name, part in parts.items()},
        prior=calibration.prior,
        checker=calibration.checker,
        scales=dict(calibration.scales),
        tau_step=tau_step,
        tau_accept=_accept_threshold(learned, options, basis.policy.tau_accept),
        outcomes=outcomes,
        metrics=_metrics(decided[TEST], outcomes, options.seed),
        reference=_reference(decided, (calibration, basis.made_with), options.seed),
        notes=notes,
    )
    return artefact.signed(), decided[TEST]


def _fit_outcomes(items: Sequence[Item]) -> tuple[OutcomeModel | None, Sequence[str]]:
    fitted = fit_outcomes(items)
    if isinstance(fitted, Unmeasured):
        return None, [f"no probabilities of outcomes: {fitted.detail}"]
    return fitted, []


def split_items(items: Sequence[Item], options: Options) -> dict[str, list[Item]]:
    """Part items by problem: a problem with a trace of a `fit_only` source goes to `fit` whole."""
    groups = sorted({item.trace.group for item in items})
    bound = {item.trace.group for item in items if item.trace.source in options.fit_only}
    free = [groups[i] for i in np.random.default_rng(options.seed).permutation(len(groups)) if groups[i] not in bound]
    n_test = round(options.test_share * len(free))
    n_fit = (len(free) - n_test) // 2
    home = dict.fromkeys(free[:n_test], TEST) | dict.fromkeys(free[n_test : n_test + n_fit], FIT)
    home |= dict.fromkeys(free[n_test + n_fit :], THRESHOLD) | dict.fromkeys(bound, FIT)
    parts: dict[str, list[Item]] = {FIT: [], THRESHOLD: [], TEST: []}
    for item in items:
        parts[home[item.trace.group]].append(item)
    return parts


def _usable(items: Sequence[Item], basis: Basis) -> tuple[list[Item], list[str]]:
    """Return the items that numbers are made from, and notes on the others."""
    kept = [item for item in items if item.trace.natural and item.record and len(item.trace.steps) > 1]
    n_out = len(items) - len(kept)
    notes = [*basis.notes, f"{n_out} traces with planted errors, not cut into steps or without a record are left out"]
    votes = [item.record.components.get(ComponentName.CONSENSUS) for item in kept if item.record]
    if not any(isinstance(one, Measured) for one in votes):
        notes.append("no trace had samples: where callers send some, scores differ and the guarantee is not shown")
    return kept, notes


def _fit_pool(items: Sequence[Item], basis: Basis, options: Options) -> tuple[Calibration, float | None, Sequence[str]]:
    rates = basis.made_with.checker
    combiner = fit_combiner(list(labelled_steps(items, rates)), seed=options.seed)
    if isinstance(combiner, Unmeasured):
        allowed = f"at least {MIN_STEPS} labelled steps in the fit split, some right and some wrong"
        message = f"nothing can be fitted: {combiner.reason}, {combiner.detail}, allowed: {allowed}"
        raise InputError(message, field="FILE", got=combiner.detail, allowed=allowed)
    calibration = combiner.to_calibration()
    q = [recombined(item, calibration, rates, basis.policy.q_refuted) for item in items]
    tau_step = fit_tau_step(items, q, basis.policy.q_refuted)
    if isinstance(tau_step, Unmeasured):
        return calibration, None, [*combiner.notes, f"tau_step is not fitted: {tau_step.detail}"]
    return calibration, tau_step, combiner.notes


def _replaced(items: Sequence[Item], records: Sequence[ItemRecord]) -> list[Item]:
    return [replace(item, record=record) for item, record in zip(items, records, strict=True)]


def _learn(items: Sequence[Item], options: Options) -> Threshold | Unmeasured:
    """Learn the threshold of what passes every other condition of an Accept."""
    known = [item for item in items if item.trace.faithful is not None]
    scores = [_acceptable(item.record) for item in known]
    if scores and max(scores) == REFUSED:
        detail = f"of {len(known)} traces none could be accepted, whatever its score: {_hindered(known)}"
        return Unmeasured(reason=NOTHING_TO_ACCEPT, detail=detail)
    return learn_threshold(
        np.array(scores, dtype=float),
        np.array([item.trace.faithful for item in known], dtype=bool),
        [item.trace.group for item in known],
        alpha=options.alpha,
        delta=options.delta,
        seed=options.seed,
    )


REFUSED = -1.0
NOTHING_TO_ACCEPT = "nothing_to_accept"
"""The data say nothing of a threshold: with any, all of them are held back for other reasons, such as no samples."""
_THRESHOLD_REASONS = frozenset({Reason.BELOW_THRESHOLD, Reason.NO_SAFE_THRESHOLD, Reason.ALL_CHECKS_PASSED})


def _hindered(items: Sequence[Item]) -> str:
    """Name the most frequent reason beside the threshold."""
    reasons = Counter(one for item in items if item.record for one in set(item.record.reasons) - _THRESHOLD_REASONS)
    return ", ".join(f"{one} in {count}" for one, count in reasons.most_common(1)) or "no score"


def _acceptable(record: ItemRecord | None) -> float:
    """Return the score where nothing but the threshold stands against an Accept, else `REFUSED`."""
    if record is None or record.score is None or record.status is None or record.status is Status.ABSTAIN:
        return REFUSED
    return REFUSED if set(record.reasons) - _THRESHOLD_REASONS else record.score


def _decided(item: Item, learned: Threshold | Unmeasured) -> Item:
    """Return the item with the status that the learned threshold gives."""
    score = _acceptable(item.record)
    if item.record is None or item.record.status not in {Status.ACCEPT, Status.REVIEW}:
        return item
    accepted = isinstance(learned, Threshold) and score >= learned.value
    return replace(item, record=replace(item.record, status=Status.ACCEPT if accepted else Status.REVIEW))


def _accept_threshold(learned: Threshold | Unmeasured, options: Options, default: float | None) -> AcceptThreshold:
    alpha, delta = options.alpha, options.delta
    if isinstance(learned, Unmeasured):
        value = default if learned.reason == NOTHING_TO_ACCEPT else None
        then = "Nothing is accepted under this calibration" if value is None else f"{value:g} is a choice, not learned"
        guarantee = f"None: {learned.detail}. {then}."
        return AcceptThreshold(
            value=value, guarantee=guarantee, alpha=alpha, delta=delta, n=0, n_accepted=0, n_failures=0
        )
    return AcceptThreshold(
        value=learned.value,
        guarantee=learned.guarantee,
        alpha=alpha,
        delta=delta,
        n=learned.n,
        n_accepted=learned.n_accepted,
        n_failures=learned.n_failures,
    )


def _metrics(items: Sequence[Item], outcomes: OutcomeModel | None, seed: int) -> dict[str, dict[str, Metric]]:
    drawn = draw_resamples([item.trace.group for item in items], seed=seed)
    measured = {
        "gate": families.gate(items, drawn).figures,
        "first_error": families.first_errors(items, drawn).figures,
        "silent_failure": families.silent_failures(items, drawn, families.by_score).figures,
        "steps": families.steps(items, seed, N_RESAMPLES).figures,
    }
    if outcomes is not None:
        measured["outcomes"] = measure_outcomes(items, outcomes, seed=seed)
    return {family: {name: _metric(one) for name, one in row.items()} for family, row in measured.items()}


def _metric(figure: Measurement) -> Metric:
    if not isinstance(figure, Figure):
        return Metric(value=None, reason=figure.reason)
    return Metric(
        value=figure.value,
        low=figure.low,
        high=figure.high,
        n=figure.n,
        n_problems=figure.n_problems,
        method=figure.method,
    )


def _split_of(items: Sequence[Item]) -> Split:
    return Split(n_traces=len(items), n_problems=len({item.trace.group for item in items}))


def _reference(
    decided: Mapping[str, Sequence[Item]], calibrations: Sequence[Calibration], seed: int
) -> dict[str, Reference]:
    """Describe a trace of every problem outside `fit`, whose sources may stand for no traffic."""
    one_each = {item.trace.group: item for name in (THRESHOLD, TEST) for item in decided[name]}
    looks = [look_at(item.record, *calibrations) for item in one_each.values() if item.record is not None]
    return describe(looks, seed=seed)
