"""`POST /v1/gate`: the decision, who made it, and what is answered where nobody could."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from rafs.errors import BackendError, ConfigError, InputError, OverloadedError
from rafs.types import BlindTrace, Verdict
from rafs.usage import Meter, Priority
from service.app import create_app
from service.routes import ScoringService
from service.settings import Settings
from tests.service.gate.behind_proxy import BAD, GOOD
from tests.service.stand_in import StandIn
from tests.test_flow import PROBLEM, LengthJudge, scorer

TOKENS = 7


class Counting(LengthJudge):
    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        meter.add("verify", calls=1, tokens=TOKENS)
        return await super().verify(trace, ask, meter)


@pytest.fixture
def decide(tmp_path: Path) -> Any:
    """Ask a gate for one decision; the second argument is what scores, the others are settings and fields."""

    def post(
        trace: str, scores: ScoringService | None = None, settings: dict[str, object] | None = None, **fields: object
    ) -> Any:
        given = {"database": f"sqlite:///{tmp_path / 'rafs.db'}"} | (settings or {})
        app = create_app(scores or scorer(Counting()), Settings.model_validate(given))
        body = {"problem": PROBLEM, "trace": trace, "generator": {"model": "gpt-4o"}} | fields
        with TestClient(app, raise_server_exceptions=False) as client:
            return client.post("/v1/gate", json=body)

    return post


def test_an_accepted_answer_passes(decide: Any) -> None:
    found = decide(GOOD).json()
    assert (found["passes"], found["decided_by"], found["status"]) == (True, "rafs", "Accept")
    assert (found["preset"], found["tokens"], found["outcome"]) == ("gate", TOKENS, "faithful_success")


def test_a_refuted_answer_does_not_pass_and_no_model_reads_it(decide: Any) -> None:
    found = decide(BAD).json()
    assert (found["passes"], found["decided_by"], found["tokens"]) == (False, "rafs", 0)
    assert "refuted_step" in found["reasons"]
    assert (found["suspect_step"]["index"], found["outcome"]) == (0, "undetermined")
    assert found["not_evaluated"] == {**dict.fromkeys("SCD", "not_evaluated"), "judge:smollm2": "not_evaluated"}


def test_another_preset_may_be_named(decide: Any) -> None:
    found = decide(BAD, preset="standard").json()
    assert (found["preset"], found["tokens"]) == ("standard", TOKENS)


@pytest.mark.parametrize("fail", ["fail_closed", "fail_open"])
def test_where_the_budget_ends_the_policy_of_the_route_answers(fail: str, decide: Any) -> None:
    slow = scorer(LengthJudge(delay_s=60))
    found = decide(GOOD, slow, {"gate_fail": fail}, budget_ms=200).json()
    assert (found["decided_by"], found["failure"], found["passes"]) == (fail, "deadline", fail == "fail_open")


@pytest.mark.parametrize("operator", ["budget", "none"])
def test_the_smallest_budget_holds(operator: str, decide: Any) -> None:
    stand_in = StandIn()
    decide(GOOD, stand_in, {"gate_budget_ms": 500} if operator == "budget" else {}, budget_ms=1000, deadline_s=5)
    (terms,) = stand_in.terms
    assert terms.deadline_s is not None
    assert terms.deadline_s <= (0.45 if operator == "budget" else 0.9)
    assert terms.priority is Priority.GATE


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (BackendError("down"), "backend_failed"),
        (BackendError("slow", timed_out=True), "backend_timeout"),
        (OverloadedError("full", retry_after_s=1), "overloaded"),
    ],
    ids=["down", "slow", "full"],
)
def test_where_a_back_end_fails_the_policy_answers(error: Exception, failure: str, decide: Any) -> None:
    found = decide(GOOD, StandIn(error=error)).json()
    assert (found["decided_by"], found["failure"], found["status"]) == ("fail_closed", failure, None)


def test_where_the_only_verifier_fails_the_policy_answers(decide: Any) -> None:
    found = decide(GOOD, scorer(LengthJudge(error=BackendError("down"))), {"gate_fail": "fail_open"}).json()
    assert (found["decided_by"], found["failure"], found["passes"]) == ("fail_open", "verifier_down", True)


def test_an_answer_that_was_proven_wrong_passes_under_no_policy(decide: Any) -> None:
    down = scorer(LengthJudge(error=BackendError("down")))
    found = decide(BAD, down, {"gate_fail": "fail_open"}, preset="standard", budget_ms=1000).json()
    assert (found["decided_by"], found["passes"]) == ("rafs", False)


@pytest.mark.parametrize(
    ("error", "status"),
    [(ConfigError("no weights"), 503), (InputError("x", field="preset", got="y", allowed="gate"), 422)],
    ids=["operator", "caller"],
)
def test_a_mistake_of_operator_or_caller_is_hidden_by_no_policy(error: Exception, status: int, decide: Any) -> None:
    assert decide(GOOD, StandIn(error=error), {"gate_fail": "fail_open"}).status_code == status


def test_a_request_may_fail_closed_where_the_route_fails_open(decide: Any) -> None:
    found = decide(GOOD, StandIn(error=BackendError("x")), {"gate_fail": "fail_open"}, fail="fail_closed").json()
    assert (found["fail"], found["passes"]) == ("fail_closed", False)


@pytest.mark.parametrize(("may_loosen", "status"), [(False, 422), (True, 200)])
def test_a_request_may_loosen_the_policy_only_where_that_is_allowed(may_loosen: bool, status: int, decide: Any) -> None:
    reply = decide(GOOD, settings={"gate_fail_may_loosen": may_loosen}, fail="fail_open")
    assert reply.status_code == status


@pytest.mark.parametrize(
    "fields", [{"include": ["record"]}, {"rules": [{}]}, {"budget_ms": 0}, {"fail": "open"}, {"x": 1}], ids=str
)
def test_what_is_no_part_of_a_decision_is_refused(fields: dict[str, object], decide: Any) -> None:
    assert decide(GOOD, **fields).status_code == 422


def test_a_key_is_asked_for_where_keys_are_needed(decide: Any) -> None:
    assert decide(GOOD, settings={"auth": "required"}).status_code == 401
