"""Whether a trace can still be accepted is known from the checkers alone; so is the least C that an Accept needs."""

from dataclasses import replace

import pytest

from rafs.aggregation import aggregate
from rafs.conclusion import can_accept, least_consensus
from rafs.outcomes import ComponentName, Measured
from rafs.reading import read_text
from rafs.result import begin_evidence
from rafs.types import Judged
from tests.test_early_stop import JUDGE, job
from tests.test_flow import PROBLEM, REGISTRY, STEPS

MODELS = [("judge:j", JUDGE)]
POLICY = REGISTRY.policy.to_policy()
STANDARD = REGISTRY.presets.standard.to_preset("standard")


@pytest.mark.parametrize(
    ("trace", "possible"),
    [
        pytest.param(STEPS + "The answer is 50.", True, id="nothing against it"),
        pytest.param(STEPS + "The answer is 51.", False, id="another answer than derived"),
        pytest.param("She has a few bags.\nShe eats some nuts of them.\n", False, id="no answer"),
        pytest.param("The answer is 50.", False, id="no derivation"),
    ],
)
def test_what_the_checkers_say_may_rule_an_accept_out(trace: str, possible: bool) -> None:
    evidence = begin_evidence(read_text(PROBLEM, trace, None), frozenset(), MODELS, None)
    assert can_accept(job(), evidence, POLICY, STANDARD) is possible


def test_a_refuted_step_rules_an_accept_out() -> None:
    evidence = begin_evidence(read_text(PROBLEM, STEPS + "The answer is 50.", None), frozenset(), MODELS, None)
    evidence.verdicts = replace(evidence.verdicts, combined=(Judged(p_correct=0.0, refuted=True),) * 2)
    assert not can_accept(job(), evidence, POLICY, STANDARD)


@pytest.mark.parametrize(("more", "reaches"), [(1e-6, True), (-1e-6, False)], ids=["above", "below"])
def test_below_the_least_c_no_score_is_high_enough(more: float, reaches: bool) -> None:
    best = dict.fromkeys(ComponentName, Measured(value=1.0, coverage=1.0))
    best[ComponentName.CONSENSUS] = Measured(value=least_consensus(POLICY) + more, coverage=1.0)
    score = aggregate(best, POLICY.weights, POLICY.epsilon)
    assert score is not None and POLICY.tau_accept is not None
    assert (score.score >= POLICY.tau_accept) is reaches
