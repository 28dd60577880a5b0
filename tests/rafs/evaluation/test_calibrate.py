"""Splits, thresholds, guarantee and metrics of an artefact."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from rafs.calibration import DEFAULT_CALIBRATION, Calibration
from rafs.calibration_file import Artefact, content_hash
from rafs.errors import InputError
from rafs.evaluation.calibrate import Basis, Options, calibrate, split_items
from rafs.evaluation.calibrate_outcomes import fit_outcomes, measure_outcomes, outcome_of
from rafs.evaluation.calibrate_words import Words, with_words
from rafs.evaluation.families import Item
from rafs.evaluation.intervals import Figure
from rafs.evaluation.records import ItemRecord
from rafs.outcome_model import OutcomeModel
from rafs.outcomes import OutcomeLabel, Status, Unmeasured
from rafs.policy import Policy, Reason
from rafs.registry import load_registry
from tests.rafs.evaluation.made import record, trace

POLICY = load_registry().policy.to_policy()
PROVEN = DEFAULT_CALIBRATION.checker.proven


def basis(**changes: object) -> Basis:
    made = Basis(
        preset="gate",
        policy=POLICY,
        made_with=DEFAULT_CALIBRATION,
        date="2026-01-01",
        rafs_version="0",
        config_hash="c",
        scoring="s",
        models=[],
        data=[],
        licences="",
        notes=[],
        can_rescore=True,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def items(n: int, *, share_flawed: float = 0.3, seed: int = 2) -> list[Item]:
    """Two traces a problem; scores that rank the flawed low, but not perfectly."""
    generator = np.random.default_rng(seed)
    found = []
    for i in range(n):
        flawed = bool(generator.random() < share_flawed)
        first = int(generator.integers(2)) if flawed else None
        q = tuple(0.35 if t == first else 0.9 for t in range(2))
        score = float(np.clip(generator.normal(45 if flawed else 85, 12), 0, 100))
        made = replace(
            record(f"t{i}", score=score, q=q, suspect=first, status=Status.ACCEPT),
            reasons=(Reason.ALL_CHECKS_PASSED,),
            members={"symbolic": (PROVEN, None), "prm:a": q},
        )
        found.append(
            Item(trace=trace(f"t{i}", first_error=first, solution_correct=not flawed, group=f"g{i // 2}"), record=made)
        )
    return found


def as_scored(part: Sequence[Item], calibration: Calibration, policy: Policy) -> list[ItemRecord]:
    return [item.record for item in part if item.record is not None]


def made(found: Sequence[Item], options: Options | None = None, **changes: object) -> Artefact:
    return calibrate(found, basis(**changes), options or Options(), as_scored)[0]


@pytest.fixture(scope="module")
def artefact() -> Artefact:
    return made(items(1200))


def test_the_three_parts_share_no_problem() -> None:
    parts = split_items(items(100), Options())
    groups = [{item.trace.group for item in part} for part in parts.values()]
    assert not (groups[0] & groups[1] or groups[0] & groups[2] or groups[1] & groups[2])
    assert [len(one) for one in groups] == [15, 15, 20]


def test_a_source_that_stands_for_no_traffic_gives_no_threshold() -> None:
    found = items(100)
    odd = [replace(item, trace=replace(item.trace, source="odd")) for item in found[:30:2]]
    parts = split_items([*odd, *found[30:]], Options(fit_only=frozenset({"odd"})))
    assert not any(item.trace.source == "odd" for name in ("threshold", "test") for item in parts[name])


def test_the_threshold_keeps_the_risk_below_alpha_on_problems_that_it_never_saw(artefact: Artefact) -> None:
    assert artefact.tau_accept.value is not None
    assert artefact.tau_accept.value < 85
    risk = artefact.metrics["gate"]["accepted_risk"]
    assert risk.value is not None and risk.value <= 0.1
    assert artefact.metrics["gate"]["accepted"].n == artefact.splits["test"].n_traces


def test_the_guarantee_is_in_words(artefact: Artefact) -> None:
    words, n = artefact.tau_accept.guarantee, artefact.splits["threshold"].n_problems
    assert f"With probability at least 0.9 over the draw of the {n} calibration problems" in words
    assert "at most 10.0% of the traces it accepts are not faithful" in words


def test_where_nothing_is_safe_there_is_no_threshold_and_the_artefact_says_so() -> None:
    found = made(items(120)).tau_accept
    assert found.value is None
    assert "Nothing is accepted" in found.guarantee and "on 18 problems" in found.guarantee


def test_where_all_are_held_back_for_another_reason_the_threshold_stays_and_is_no_guarantee() -> None:
    refused = [
        replace(item, record=replace(item.record, reasons=(Reason.UNKNOWN_GENERATOR,), status=Status.REVIEW))
        for item in items(600)
        if item.record is not None
    ]
    found = made(refused).tau_accept
    assert found.value == POLICY.tau_accept
    assert found.guarantee.startswith("None: ") and "unknown_generator" in found.guarantee
    assert found.n_accepted == 0


def test_the_threshold_of_a_step_is_fitted(artefact: Artefact) -> None:
    assert artefact.tau_step is not None
    assert artefact.to_policy(POLICY).tau_step == artefact.tau_step


def test_planted_errors_are_left_out() -> None:
    found = items(160)
    planted = [replace(item, trace=replace(item.trace, natural=False)) for item in found[:40]]
    artefact = made([*planted, *found[40:]])
    assert sum(part.n_traces for part in artefact.splits.values()) == 120
    assert artefact.notes[0].startswith("40 traces with planted errors")


def test_with_a_generator_the_pool_stays_as_it_was() -> None:
    artefact = made(items(600), can_rescore=False)
    assert (artefact.prior, artefact.tau_step) == (DEFAULT_CALIBRATION.prior, POLICY.tau_step)
    assert artefact.tau_accept.value is not None


def test_the_same_traces_and_seed_give_the_same_artefact(artefact: Artefact) -> None:
    assert made(items(1200)).id == artefact.id == content_hash(artefact)


def test_labels_of_one_kind_leave_nothing_to_fit() -> None:
    with pytest.raises(InputError, match="one_class_only"):
        made(items(100, share_flawed=0.0))


def outcomes(found: Sequence[Item]) -> OutcomeModel:
    model = fit_outcomes(found)
    assert isinstance(model, OutcomeModel)
    return model


def test_probabilities_of_outcomes_tell_more_than_their_shares() -> None:
    figures = measure_outcomes(items(600, seed=3), outcomes(items(600)), seed=0)
    brier, shares = figures["brier"], figures["brier_of_shares"]
    assert isinstance(brier, Figure) and isinstance(shares, Figure)
    assert brier.value < shares.value / 2


def test_a_higher_score_makes_a_faithful_success_likelier() -> None:
    model = outcomes(items(600))
    low, high = (model.probabilities({"score": score, "lowest_q": score}) for score in (-1.0, 2.0))
    assert low["faithful_success"] < 0.5 < high["faithful_success"]
    assert sum(high.values()) == pytest.approx(1)


def test_an_outcome_of_few_traces_has_no_probability() -> None:
    assert isinstance(fit_outcomes(items(20)), Unmeasured)


@pytest.mark.parametrize(
    ("labels", "outcome"),
    [
        pytest.param({}, OutcomeLabel.FAITHFUL_SUCCESS, id="all right"),
        pytest.param({"solution_correct": False}, OutcomeLabel.SILENT_FAILURE, id="right answer, flawed steps"),
        pytest.param({"solution_correct": False, "answer_correct": False}, OutcomeLabel.OVERT_FAILURE, id="both wrong"),
        pytest.param({"answer_correct": False, "extraction_failure": True}, OutcomeLabel.EXTRACTION_FAILURE, id="ef"),
        pytest.param({"answer_correct": None}, None, id="answer not labelled"),
    ],
)
def test_the_outcome_follows_from_the_labels(labels: dict[str, bool | None], outcome: OutcomeLabel | None) -> None:
    assert outcome_of(trace("a", **labels)) == outcome  # type: ignore[arg-type]


def test_words_on_unseen_problems_take_the_place_of_those_of_the_run() -> None:
    (one, *_) = items(1)
    changed, count = with_words([one], "prm:a", [Words(id="t0", p=(0.25, None))])
    assert changed[0].record is not None and one.record is not None
    assert changed[0].record.members["prm:a"] == (0.25, one.record.q[1])
    assert count == 1


def test_words_on_other_steps_than_the_trace_has_are_refused() -> None:
    with pytest.raises(InputError, match="got 3 steps of trace 't0', allowed 2"):
        with_words(items(1), "prm:a", [Words(id="t0", p=(0.25, None, 0.5))])
