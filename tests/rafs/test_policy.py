"""Status and outcome follow from the findings, and every status says why."""

import operator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.aggregation import aggregate
from rafs.outcomes import AnswerSupport, Component, ComponentName, Measured, OutcomeLabel, Reasoning, Status, Unmeasured
from rafs.policy import NOT_EVALUATED, Findings, Independence, Policy, Preset, decide

P, S, C, D = ComponentName
POLICY = Policy(
    weights={P: 0.35, S: 0.30, C: 0.20, D: 0.15},
    epsilon=1e-9,
    mean_weight=0.5,
    alpha=0.5,
    q_refuted=0.02,
    tau_step=0.5,
    tau_disagree=0.5,
    tau_accept=70,
    c_min=0.7,
    m_min=2,
    accept_unknown_generator=False,
    independence_override=False,
)
PRESET = Preset(
    name="standard",
    required=frozenset({P}),
    accept_without=frozenset({D}),
    n_edits=3,
    n_samples=0,
    n_continuations=0,
    n_judges=1,
    stop_when_settled=False,
    deadline_s=10,
)
GOOD = Measured(value=0.95, coverage=1.0)
NOTHING = Unmeasured(reason="no_samples")


def findings(**changes: object) -> Findings:
    components: dict[ComponentName, Component] = dict.fromkeys(ComponentName, GOOD)
    components |= {name: changes.pop(name.name) for name in ComponentName if name.name in changes}  # type: ignore[misc]
    plain = Findings(
        components=components,
        aggregate=aggregate(components, POLICY.weights, POLICY.epsilon),
        independence=Independence.INDEPENDENT,
        has_derivation=True,
        has_answer=True,
        ambiguous_answer=False,
        deadline_passed=False,
        refuted=False,
        suspect=False,
        disagree=False,
        verifier_down=False,
        arithmetic_alone=False,
        derived_matches=True,
        decorative=False,
        answer_is_modal=True,
        mostly_unanswered=False,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_good_trace_is_accepted_with_its_score() -> None:
    decision = decide(findings(), POLICY, PRESET)
    assert (decision.status, decision.reasons) == (Status.ACCEPT, ("all_checks_passed",))
    assert decision.score == pytest.approx(95)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"has_derivation": False}, "no_trace", id="no trace"),
        pytest.param({"has_answer": False}, "no_answer", id="no answer"),
        pytest.param({"independence": Independence.NONE_LEFT}, "no_independent_verifier", id="no independent verifier"),
        pytest.param({"deadline_passed": True}, "deadline", id="deadline"),
        pytest.param({"VALIDITY": NOTHING}, "required_component_unmeasured:P", id="required component unmeasured"),
    ],
)
def test_what_cannot_be_judged_abstains_without_a_score(changes: dict[str, object], reason: str) -> None:
    decision = decide(findings(**changes), POLICY, PRESET)
    assert decision.status is Status.ABSTAIN
    assert decision.score is None
    assert reason in decision.reasons


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"VALIDITY": Measured(value=0.1, coverage=1.0)}, "score_below_threshold", id="low score"),
        pytest.param({"refuted": True}, "refuted_step", id="refuted step"),
        pytest.param({"suspect": True}, "suspect_step", id="suspect step"),
        pytest.param({"disagree": True}, "judges_disagree", id="judges disagree"),
        pytest.param({"derived_matches": False}, "answer_differs_from_derivation", id="another derived answer"),
        pytest.param({"decorative": True}, "steps_do_not_carry_answer", id="decoration"),
        pytest.param({"answer_is_modal": False}, "answer_is_not_the_modal_one", id="samples say otherwise"),
        pytest.param({"mostly_unanswered": True}, "samples_without_answer", id="most samples say nothing"),
        pytest.param(
            {"arithmetic_alone": True, "answer_is_modal": None}, "only_arithmetic_was_checked", id="arithmetic alone"
        ),
        pytest.param({"verifier_down": True}, "verifier_down", id="no verifier answered"),
        pytest.param({"ambiguous_answer": True}, "ambiguous_answer", id="two answers"),
        pytest.param({"VALIDITY": Measured(value=0.99, coverage=0.1)}, "low_coverage", id="few steps judged"),
        pytest.param({"independence": Independence.UNKNOWN}, "unknown_generator", id="unknown writer"),
        pytest.param({"CONSENSUS": NOTHING}, "optional_component_unmeasured:C", id="optional component unmeasured"),
    ],
)
def test_every_doubt_alone_is_a_review(changes: dict[str, object], reason: str) -> None:
    decision = decide(findings(**changes), POLICY, PRESET)
    assert decision.status is Status.REVIEW
    assert decision.score is not None
    assert reason in decision.reasons


def test_what_was_not_evaluated_is_no_reason_to_abstain_and_none_for_a_doubt() -> None:
    demanding = replace(PRESET, required=frozenset({P, S}), accept_without=frozenset())
    found = findings(refuted=True, SUPPORT=NOT_EVALUATED, CONSENSUS=NOT_EVALUATED, STABILITY=NOT_EVALUATED)
    decision = decide(found, POLICY, demanding)
    assert (decision.status, decision.reasons) == (Status.REVIEW, ("refuted_step",))
    assert decision.score == pytest.approx(95)


def test_a_component_that_the_preset_waives_may_be_unmeasured() -> None:
    assert decide(findings(STABILITY=NOTHING), POLICY, PRESET).status is Status.ACCEPT


def test_samples_that_agree_make_up_for_a_model_that_nobody_hears() -> None:
    assert decide(findings(arithmetic_alone=True), POLICY, PRESET).status is Status.ACCEPT


def test_the_operator_may_accept_unknown_writers() -> None:
    lenient = replace(POLICY, accept_unknown_generator=True)
    assert decide(findings(independence=Independence.UNKNOWN), lenient, PRESET).status is Status.ACCEPT


@pytest.mark.parametrize(
    ("changes", "label", "reasoning", "answer"),
    [
        pytest.param({}, "faithful_success", "sound", "supported", id="faithful"),
        pytest.param({"refuted": True, "derived_matches": True}, "silent_failure", "flawed", "supported", id="silent"),
        pytest.param(
            {"derived_matches": False, "answer_is_modal": False},
            "extraction_failure",
            "sound",
            "contradicted",
            id="extraction failure",
        ),
        pytest.param(
            {"derived_matches": False, "answer_is_modal": None},
            "extraction_failure",
            "sound",
            "contradicted",
            id="extraction failure without samples",
        ),
        pytest.param(
            {"suspect": True, "answer_is_modal": False}, "overt_failure", "flawed", "contradicted", id="overt"
        ),
        pytest.param(
            {"suspect": True, "answer_is_modal": None},
            "undetermined",
            "flawed",
            "unknown",
            id="a flawed derivation says nothing of its answer",
        ),
        pytest.param(
            {"decorative": True, "derived_matches": None}, "silent_failure", "flawed", "supported", id="post hoc"
        ),
        pytest.param(
            {"answer_is_modal": False}, "undetermined", "sound", "unknown", id="derivation and samples disagree"
        ),
        pytest.param({"answer_is_modal": None}, "faithful_success", "sound", "supported", id="derivation alone"),
        pytest.param({"VALIDITY": NOTHING}, "undetermined", "unknown", "supported", id="no verdict on the steps"),
        pytest.param(
            {"has_answer": False, "answer_is_modal": None}, "undetermined", "sound", "unknown", id="no answer"
        ),
    ],
)
def test_outcome_and_both_halves(changes: dict[str, object], label: str, reasoning: str, answer: str) -> None:
    outcome = decide(findings(**changes), POLICY, PRESET).outcome
    assert outcome.label is OutcomeLabel(label)
    assert (outcome.reasoning, outcome.answer) == (Reasoning(reasoning), AnswerSupport(answer))


PARTS = st.one_of(
    st.just(GOOD),
    st.builds(Measured, value=st.floats(0, 1), coverage=st.floats(0.01, 1)),
    st.sampled_from([NOTHING, NOT_EVALUATED]),
)
MOSTLY_FALSE = st.sampled_from([False, False, False, True])
KNOWN = st.sampled_from([True, False, None])
ANY_FINDINGS = st.fixed_dictionaries(
    {
        **{name.name: PARTS for name in ComponentName},
        "independence": st.sampled_from(Independence),
        "has_derivation": MOSTLY_FALSE.map(operator.not_),
        "has_answer": MOSTLY_FALSE.map(operator.not_),
        **dict.fromkeys(("refuted", "deadline_passed", "verifier_down", "arithmetic_alone"), MOSTLY_FALSE),
        "derived_matches": KNOWN,
        "answer_is_modal": KNOWN,
    }
)


@given(ANY_FINDINGS)
@settings(max_examples=500)
def test_whatever_was_found_only_a_trace_that_passed_every_check_is_accepted(changes: dict[str, object]) -> None:
    found = findings(**changes)
    decision = decide(found, POLICY, PRESET)
    unwaived = [part for name, part in found.components.items() if name not in PRESET.accept_without]
    may_pass = (
        found.aggregate is not None
        and POLICY.tau_accept is not None
        and found.aggregate.score >= POLICY.tau_accept
        and found.aggregate.coverage_of_measured >= POLICY.c_min
        and found.independence in (Independence.INDEPENDENT, Independence.OVERRIDDEN)
        and found.derived_matches is not False
        and found.has_derivation
        and found.has_answer
        and not (found.refuted or found.deadline_passed or found.verifier_down)
        and all(isinstance(part, Measured) for part in unwaived)
    )
    assert may_pass or decision.status is not Status.ACCEPT
    assert (decision.score is None) == (decision.status is Status.ABSTAIN)
    assert decision.reasons
