"""Numbers that a simulation puts in come out of the fit; what tells nothing counts for nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from rafs.calibration import AT_CHANCE, Calibration, CheckerRates, Scale, combine
from rafs.errors import InputError
from rafs.evaluation.calibrate_combiner import (
    Combiner,
    LabelledStep,
    checker_word,
    fit_combiner,
    fit_tau_step,
    labelled_steps,
    recombined,
)
from rafs.evaluation.families import Item
from rafs.log_odds import sigmoid
from rafs.outcomes import Unmeasured
from tests.rafs.evaluation.made import record, trace

TRUE = Calibration(
    id="true",
    data="made",
    prior=0.8,
    checker=CheckerRates(proven=0.9, ungrounded=0.7, invented=0.3),
    scales={"prm:a": Scale(intercept=0.5, slope=1.5)},
)
WORDS = ("proven", "ungrounded", "invented", "silent")
N_STEPS = 20_000


def simulated(n: int, *, twice: bool = False) -> Iterator[LabelledStep]:
    """Steps whose labels are drawn from the pool of `TRUE`; `twice` has a second model repeat the first."""
    generator = np.random.default_rng(3)
    for i in range(n):
        word, said = WORDS[generator.integers(4)], float(generator.normal(1, 2))
        heard = [("prm:a", sigmoid(said))]
        if word != "silent":
            heard.append(("symbolic", getattr(TRUE.checker, word)))
        right = generator.random() < combine(heard, TRUE)
        models = {"prm:a": said, "judge:b": said} if twice else {"prm:a": said}
        yield LabelledStep(group=str(i // 4), right=bool(right), word=word, said=models)


def fitted(steps: Iterator[LabelledStep] | Sequence[LabelledStep]) -> Combiner:
    found = fit_combiner(list(steps), seed=0)
    assert isinstance(found, Combiner)
    return found


@pytest.fixture(scope="module")
def known() -> Combiner:
    return fitted(simulated(N_STEPS))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("said", [-2.0, 0.0, 2.0])
def test_the_pool_that_labels_were_drawn_from_is_found(known: Combiner, word: str, said: float) -> None:
    pool = known.to_calibration()
    found, true = (
        combine(
            [("prm:a", sigmoid(said)), *([] if word == "silent" else [("symbolic", getattr(one.checker, word))])], one
        )
        for one in (pool, TRUE)
    )
    assert found == pytest.approx(true, abs=0.03)


def test_the_slope_of_a_model_is_found(known: Combiner) -> None:
    assert known.scales["prm:a"].slope == pytest.approx(1.5, abs=0.1)


def test_without_models_the_rates_of_the_checker_are_the_shares_of_right_steps() -> None:
    steps = [LabelledStep(group=str(i), right=i % 4 > 0, word="proven", said={}) for i in range(4000)]
    steps += [LabelledStep(group=str(i), right=i % 2 > 0, word="ungrounded", said={}) for i in range(4000)]
    found = fitted(steps).checker
    assert (found.proven, found.ungrounded) == pytest.approx((0.75, 0.5), abs=0.01)


def test_what_two_members_share_is_not_counted_twice() -> None:
    pool = fitted(simulated(8000, twice=True)).to_calibration()
    for said in (-2.0, 0.5, 3.0):
        p = sigmoid(said)
        assert combine([("prm:a", p), ("judge:b", p)], pool) == pytest.approx(sigmoid(0.5 + 1.5 * said), abs=0.04)


def coin(n: int, n_groups: int) -> list[LabelledStep]:
    generator = np.random.default_rng(5)
    return [
        LabelledStep(group=str(i % n_groups), right=i % 3 > 0, word="silent", said={"judge:coin": generator.normal()})
        for i in range(n)
    ]


def test_a_model_that_tells_nothing_counts_for_nothing() -> None:
    assert fitted(coin(2000, 500)).scales == {"judge:coin": AT_CHANCE}


def test_a_model_that_is_wrong_the_other_way_round_counts_for_nothing() -> None:
    steps = [
        LabelledStep(group=str(i), right=i % 2 == 0, word="silent", said={"judge:b": -1.0 if i % 2 == 0 else 1.0})
        for i in range(200)
    ]
    assert fitted(steps).scales == {"judge:b": AT_CHANCE}


def test_a_model_of_few_steps_counts_for_nothing_and_that_is_noted() -> None:
    said = [{"prm:a": 2.0 if i % 2 == 0 else -2.0} if i < 40 else {} for i in range(80)]
    found = fitted([LabelledStep(group=str(i), right=i % 2 == 0, word="proven", said=said[i]) for i in range(80)])
    assert found.scales == {"prm:a": AT_CHANCE}
    assert any(note.startswith("prm:a counts for nothing: 40 labelled steps") for note in found.notes)


def test_what_the_checker_never_said_moves_nothing() -> None:
    steps = [LabelledStep(group=str(i), right=i % 4 > 0, word="proven", said={}) for i in range(400)]
    found = fitted(steps)
    assert found.checker.invented == pytest.approx(found.prior)


@pytest.mark.parametrize(
    ("n", "n_right", "reason"),
    [pytest.param(100, 100, "one_class_only", id="all right"), pytest.param(49, 30, "too_few_steps", id="few")],
)
def test_from_steps_that_tell_too_little_nothing_is_fitted(n: int, n_right: int, reason: str) -> None:
    steps = [LabelledStep(group=str(i), right=i < n_right, word="proven", said={}) for i in range(n)]
    found = fit_combiner(steps, seed=0)
    assert isinstance(found, Unmeasured) and found.reason == reason


MADE_WITH = CheckerRates(proven=0.9, ungrounded=0.8, invented=0.4)


def item(
    name: str,
    first_error: int | None,
    members: Mapping[str, tuple[float | None, ...]],
    q: tuple[float, ...] = (0.9, 0.9),
) -> Item:
    right = first_error is None
    labelled = trace(name, first_error=first_error, solution_correct=right)
    return Item(trace=labelled, record=replace(record(name, q=q), members=members))


def test_a_refuted_step_is_no_evidence_on_the_pool() -> None:
    one = item("a", 1, {"symbolic": (0.9, 0.0), "prm:a": (0.5, None)})
    assert list(labelled_steps([one], MADE_WITH)) == [
        LabelledStep(group="a", right=True, word="proven", said={"prm:a": 0.0})
    ]


def test_a_text_that_is_not_cut_into_steps_says_nothing_of_one() -> None:
    one = item("a", None, {"symbolic": (0.9,)}, q=(0.9,))
    assert not list(labelled_steps([replace(one, trace=trace("a", steps=("2 + 2 = 4",)))], MADE_WITH))


def test_a_probability_that_the_checker_never_gives_is_refused() -> None:
    with pytest.raises(InputError, match="calibration that is in force"):
        checker_word(0.77, MADE_WITH)


def test_the_pool_is_that_of_the_service() -> None:
    one = item("a", None, {"symbolic": (0.9, 0.0), "prm:a": (0.7, 0.9)})
    expected = combine([("prm:a", 0.7), ("symbolic", TRUE.checker.proven)], TRUE)
    assert recombined(one, TRUE, MADE_WITH, 0.02) == [pytest.approx(expected), 0.02]


def judged(n_each: int) -> tuple[list[Item], list[list[float | None]]]:
    """Right steps lie at 0.7 and above, first errors at 0.4 and below."""
    items = [
        item(f"{kind}{i}", None if kind == "right" else 1, {}) for kind in ("right", "wrong") for i in range(n_each)
    ]
    q: list[list[float | None]] = [[0.9, 0.7 + i / 100] for i in range(n_each)]
    return items, q + [[0.8, 0.4 - i / 100] for i in range(n_each)]


def test_the_threshold_of_a_step_parts_the_first_errors_from_the_right_steps() -> None:
    items, q = judged(25)
    found = fit_tau_step(items, q, least=0.02)
    assert isinstance(found, float) and 0.4 < found <= 0.7


def test_few_traces_give_no_threshold_of_a_step() -> None:
    items, q = judged(19)
    found = fit_tau_step(items, q, least=0.02)
    assert isinstance(found, Unmeasured) and "19 with an error" in found.detail
