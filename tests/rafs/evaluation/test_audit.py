"""A judge is admitted for telling right from wrong, not for what it passes or rejects alone."""

from collections.abc import Sequence

import numpy as np
import pytest

from rafs.evaluation.audit import (
    ALL_DOMAINS,
    AuditRecord,
    AuditVerdict,
    admit,
    difference_of,
    mean_of,
    pass_rates,
    ranking,
)
from rafs.evaluation.audit_biases import PairRecord, pair_rates, self_preference
from rafs.evaluation.intervals import Figure, Measurement, exact_interval
from rafs.outcomes import Unmeasured


def record(
    number: int,
    *,
    right: bool,
    p: float | None,
    domain: str = "sums",
    own: bool | None = None,
    question: str | None = None,
) -> AuditRecord:
    name = f"{domain}-{number}" if question is None else question
    return AuditRecord(
        id=f"{name}-{right}-{own}", domain=domain, question=name, natural=True, right=right, p_correct=p, own=own
    )


def judged(right: Sequence[float | None], wrong: Sequence[float | None], domain: str = "sums") -> list[AuditRecord]:
    said = [record(t, right=True, p=p, domain=domain) for t, p in enumerate(right)]
    return said + [record(t, right=False, p=p, domain=domain) for t, p in enumerate(wrong)]


def known(measurement: Measurement) -> Figure:
    assert isinstance(measurement, Figure)
    return measurement


def rate(n_events: int, n: int) -> Figure:
    low, high = exact_interval(n_events, n)
    return Figure(value=n_events / n, low=low, high=high, n=n, n_problems=n, method="")


def test_both_rates_stand_together_with_exact_intervals() -> None:
    (rates,) = pass_rates(judged([0.9] * 8 + [0.2] * 2, [0.6] * 3 + [0.4] * 7), seed=0)
    assert (known(rates.true_pass).value, known(rates.false_pass).value) == (0.8, 0.3)
    assert (known(rates.true_pass).low, known(rates.true_pass).high) == exact_interval(8, 10)
    assert known(rates.discrimination).value == pytest.approx(0.5)


def test_the_interval_of_a_difference_is_that_of_the_hand_calculation() -> None:
    found = known(difference_of(rate(8, 10), rate(3, 10)))
    # Clopper-Pearson: 8 of 10 in [0.4439, 0.9748], 3 of 10 in [0.0667, 0.6525].
    assert found.low == pytest.approx(0.5 - (0.3561**2 + 0.3525**2) ** 0.5, abs=2e-4)
    assert found.high == pytest.approx(0.5 + (0.1748**2 + 0.2333**2) ** 0.5, abs=2e-4)


def test_the_mean_over_domains_weighs_each_domain_the_same() -> None:
    found = known(mean_of([rate(9, 10), rate(10, 100), Unmeasured(reason="no_items")]))
    a, b = rate(9, 10), rate(10, 100)
    assert a.low is not None and b.low is not None
    assert found.value == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5 - ((0.9 - a.low) ** 2 + (0.1 - b.low) ** 2) ** 0.5 / 2)


@pytest.mark.parametrize(
    ("right", "wrong", "verdict"),
    [
        pytest.param([0.9] * 30, [0.1] * 30, AuditVerdict.ADMITTED, id="knows all"),
        pytest.param([0.9] * 30, [0.9] * 30, AuditVerdict.NO_DISCRIMINATION, id="passes all"),
        pytest.param([0.1] * 30, [0.1] * 30, AuditVerdict.NO_DISCRIMINATION, id="rejects all"),
        pytest.param([0.1] * 30, [0.9] * 30, AuditVerdict.NO_DISCRIMINATION, id="worse than a coin"),
        pytest.param([0.9] * 2, [0.1] * 2, AuditVerdict.NO_DISCRIMINATION, id="too few to show it"),
        pytest.param([0.9] * 30, [None] * 30, AuditVerdict.NO_DISCRIMINATION, id="unusable on all wrong ones"),
        pytest.param([], [], AuditVerdict.NO_DISCRIMINATION, id="nothing asked"),
    ],
)
def test_a_judge_is_admitted_for_a_difference_above_zero_alone(
    right: list[float | None], wrong: list[float | None], verdict: AuditVerdict
) -> None:
    assert admit(pass_rates(judged(right, wrong), seed=0)) is verdict


def test_a_judge_that_knows_domains_and_not_items_is_not_admitted() -> None:
    passed = judged([0.9] * 90, [0.9] * 10, domain="easy")
    rejected = judged([0.1] * 10, [0.1] * 90, domain="hard")
    rates = pass_rates([*passed, *rejected], seed=0)
    assert rates[-1].domain == ALL_DOMAINS
    assert known(rates[-1].discrimination).value == 0
    assert admit(rates) is AuditVerdict.NO_DISCRIMINATION


def test_unusable_outputs_are_counted_and_in_no_rate() -> None:
    (rates,) = pass_rates(judged([0.9, None], [0.1, None, None]), seed=0)
    assert (rates.n_right, rates.n_wrong, rates.n_unusable) == (1, 1, 3)
    assert known(rates.true_pass).value == 1


def test_a_judge_that_leans_to_one_side_may_still_rank() -> None:
    records = judged([0.40, 0.45], [0.20, 0.42])
    assert known(ranking(records, seed=0)).value == 0.75
    assert admit(pass_rates(records, seed=0)) is AuditVerdict.NO_DISCRIMINATION


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.95, 0.9), (0.98, 0.02)])
def test_the_interval_of_a_difference_holds_the_truth_as_often_as_it_says(p: float, q: float) -> None:
    generator = np.random.default_rng(7)
    n, trials = 30, 600
    pairs = np.stack([generator.binomial(n, p, trials), generator.binomial(n, q, trials)], axis=1)
    held = 0
    for a, b in np.unique(pairs, axis=0):
        found = known(difference_of(rate(int(a), n), rate(int(b), n)))
        assert found.low is not None and found.high is not None
        held += int((pairs == (a, b)).all(axis=1).sum()) * (found.low <= p - q <= found.high)
    assert held / trials >= 0.95


def pair(number: int, *p_first: float | None) -> PairRecord:
    first, second = p_first
    return PairRecord(question=f"q{number}", domain="sums", p_first=(first, second))


def test_what_decides_a_pair_is_the_text_or_the_place() -> None:
    said = [(0.9, 0.1), (0.9, 0.2), (0.1, 0.9), (0.9, 0.9), (0.1, 0.1), (0.2, 0.3), (None, 0.9)]
    rates = pair_rates([pair(t, *one) for t, one in enumerate(said)], seed=0)
    shares = [known(one).value for one in (rates.right, rates.wrong, rates.always_first, rates.always_second)]
    assert shares == pytest.approx([2 / 6, 1 / 6, 1 / 6, 2 / 6])
    assert (rates.n, rates.n_unusable) == (6, 1)


def test_pairs_that_nobody_judged_measure_nothing() -> None:
    assert isinstance(pair_rates([pair(0, None, None)], seed=0).right, Unmeasured)


def test_self_preference_is_measured_on_questions_that_both_got_wrong() -> None:
    shared = [
        record(t, right=False, p=0.9 if own or t < 2 else 0.1, own=own, question=f"q{t}")
        for t in range(8)
        for own in (True, False)
    ]
    harder = [record(t, right=False, p=0.1, own=True, question=f"alone-{t}") for t in range(50)]
    right = [record(t, right=True, p=0.9, own=True, question=f"q{t}") for t in range(8)]
    found = self_preference([*shared, *harder, *right], seed=0)
    assert found.n_questions == 8
    assert (known(found.own).value, known(found.other).value) == (1.0, 0.25)
    assert known(found.difference).value == 0.75


def test_without_a_question_that_both_got_wrong_there_is_no_self_preference() -> None:
    apart = [record(t, right=False, p=0.9, own=own, question=f"{own}-{t}") for t in range(5) for own in (True, False)]
    assert isinstance(self_preference(apart, seed=0).difference, Unmeasured)
