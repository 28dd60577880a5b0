from collections.abc import Mapping
from dataclasses import replace

import pytest

from rafs.aggregation import aggregate
from rafs.evaluation.baselines import Baseline, Comparison, baselines, compare, constant_step
from rafs.evaluation.families import Item
from rafs.evaluation.first_error import NO_ERROR, NO_PREDICTION
from rafs.evaluation.intervals import Figure
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.summary import summarise
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured
from rafs.registry import load_registry
from tests.rafs.evaluation.made import record, trace

POLICY = load_registry().policy.to_policy()
JUDGE = "judge:made"


def made(id: str, p: float, s: float, judged: tuple[float | None, ...]) -> ItemRecord:
    """Return a record of two measured components, whose score is theirs, and of one judge."""
    parts: dict[ComponentName, Component] = {
        ComponentName.VALIDITY: Measured(value=p, coverage=1.0),
        ComponentName.SUPPORT: Measured(value=s, coverage=1.0),
        ComponentName.CONSENSUS: Unmeasured(reason="no_samples"),
        ComponentName.STABILITY: Unmeasured(reason="no_samples"),
    }
    found = aggregate(parts, POLICY.weights, POLICY.epsilon)
    assert found is not None
    return replace(record(id, score=found.score), components=parts, members={JUDGE: judged, "symbolic": (None, None)})


RECORDS = [
    made("silent", 0.5, 0.9, (0.9, 0.4)),
    made("silent too", 0.6, 0.2, (0.7, 0.8)),
    made("right", 0.9, 0.6, (0.6, 0.9)),
    made("right too", 0.8, 0.3, (None, None)),
]
TRACES = [
    trace("silent", first_error=1, solution_correct=False),
    trace("silent too", first_error=1, solution_correct=False),
    trace("right"),
    trace("right too"),
]
ITEMS = [Item(trace=one, record=made) for one, made in zip(TRACES, RECORDS, strict=True)]


def found(name: str) -> Baseline:
    return next(one for one in baselines(RECORDS, POLICY) if one.name == name)


def compared() -> Mapping[str, Comparison]:
    return compare({"pooled": ITEMS}, POLICY, seed=0, n_resamples=20)["pooled"]


def value(name: str, figure: str) -> float:
    got = compared()[name].figures[figure]
    assert isinstance(got, Figure)
    return got.value


def suspicions(name: str) -> list[float | None]:
    suspicion = found(name).suspicion
    assert suspicion is not None
    return [suspicion(item.trace, item.record) for item in ITEMS if item.record is not None]


def test_what_no_record_holds_is_no_baseline() -> None:
    assert [one.name for one in baselines(RECORDS, POLICY)] == [
        *("rafs", "length", "weakest_step", f"only {JUDGE}", "arithmetic_mean", "without P", "without S"),
    ]


def test_the_arithmetic_mean_is_of_the_measured_components_with_their_weights() -> None:
    weight = POLICY.weights[ComponentName.VALIDITY], POLICY.weights[ComponentName.SUPPORT]
    by_hand = [100 - 100 * (weight[0] * p + weight[1] * s) / sum(weight) for p, s in ((0.5, 0.9), (0.6, 0.2))]
    assert suspicions("arithmetic_mean")[:2] == pytest.approx(by_hand)


def test_without_one_of_two_components_the_score_is_the_other() -> None:
    assert suspicions("without P") == pytest.approx([10, 80, 40, 70])


def test_a_verifier_alone_is_its_weakest_step_and_silent_where_it_said_nothing() -> None:
    assert suspicions(f"only {JUDGE}") == [pytest.approx(0.6), pytest.approx(0.3), pytest.approx(0.4), None]
    assert compared()[f"only {JUDGE}"].n_unscored == 1


def test_a_verifier_alone_names_its_first_step_below_one_half() -> None:
    predict = found(f"only {JUDGE}").prediction
    assert predict is not None
    assert [predict(item) for item in ITEMS] == [1, NO_ERROR, NO_ERROR, NO_PREDICTION]


def test_the_constant_step_is_the_most_frequent_label() -> None:
    predict = constant_step(ITEMS).prediction
    assert predict is not None
    assert predict(ITEMS[2]) == 1
    assert value("constant_step", "accuracy_erroneous") == 1
    assert value("constant_step", "processbench_f1") == 0


def test_the_row_of_rafs_is_what_the_report_says() -> None:
    report = summarise(RECORDS, TRACES, n_resamples=20).sections["pooled"].families
    for figure, family in (
        ("auprc", "silent_failure"),
        ("auroc", "silent_failure"),
        ("processbench_f1", "first_error"),
    ):
        assert compared()["rafs"].figures[figure] == report[family].figures[figure]


def test_a_gain_is_taken_over_the_items_that_both_scored() -> None:
    from sklearn.metrics import average_precision_score

    kept = RECORDS[:3]
    own = average_precision_score([1, 1, 0], [0.6, 0.3, 0.4])
    rafs = average_precision_score([1, 1, 0], [100 - (one.score or 0) for one in kept])
    assert value(f"only {JUDGE}", "auprc_gain") == pytest.approx(rafs - own)


def test_an_item_that_was_not_scored_is_wrong_for_every_first_error() -> None:
    unscored = [*ITEMS, Item(trace=trace("not run"), record=None)]
    rows = compare({"pooled": unscored}, POLICY, seed=0, n_resamples=20)["pooled"]
    figure = rows["rafs"].figures["accuracy_correct"]
    assert isinstance(figure, Figure)
    assert figure.value == pytest.approx(2 / 3)
