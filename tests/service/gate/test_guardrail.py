"""LiteLLM's generic guardrail contract, with the requests as its proxy sends them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from rafs.errors import BackendError
from service.app import create_app
from service.routes import ScoringService
from service.settings import Settings
from tests.service.gate.behind_proxy import BAD, GOOD
from tests.service.stand_in import StandIn
from tests.test_flow import PROBLEM, LengthJudge, scorer

PATH = "/beta/litellm_basic_guardrail_api"
CALL_ID = "7a4b9c1e-call"
TOOL_CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
SENT = {
    "litellm_call_id": CALL_ID,
    "litellm_trace_id": "t1",
    "structured_messages": None,
    "images": None,
    "tools": None,
    "tool_calls": None,
    "request_data": {"user_api_key_hash": "88dc", "user_api_key_user_id": "u"},
    "request_headers": {"user-agent": "OpenAI/Python", "authorization": "[present]"},
    "litellm_version": "1.108.7",
    "additional_provider_specific_params": {},
}
"""What it sends besides, whatever the call."""


def asking(**changes: object) -> dict[str, object]:
    messages = [{"role": "user", "content": PROBLEM}]
    fields = {"input_type": "request", "texts": [PROBLEM], "structured_messages": messages, "model": "gpt-4o"}
    return SENT | fields | changes


def answering(text: str, **changes: object) -> dict[str, object]:
    return SENT | {"input_type": "response", "texts": [text], "model": "gpt-4o-2024-08-06"} | changes


class Caller:
    """Sends what LiteLLM would."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def post(self, body: dict[str, object]) -> Any:
        reply = self._client.post(PATH, json=body)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def guard(self, text: str, asked: dict[str, object] | None = None, **changes: object) -> Any:
        """Send both calls and return the reply to the second."""
        assert self.post(asked or asking())["action"] == "NONE"
        return self.post(answering(text, **changes))


@pytest.fixture
def litellm(tmp_path: Path) -> Iterator[Any]:
    """Return what makes a caller of a service with some settings."""
    opened: list[TestClient] = []

    def behind(scores: ScoringService | None = None, **settings: object) -> Caller:
        given = {"database": f"sqlite:///{tmp_path / 'rafs.db'}"} | settings
        app = create_app(scores or scorer(LengthJudge()), Settings.model_validate(given))
        client = TestClient(app, raise_server_exceptions=False)
        client.__enter__()
        opened.append(client)
        return Caller(client)

    yield behind
    for client in opened:
        client.__exit__(None, None, None)


def test_an_accepted_answer_goes_on(litellm: Any) -> None:
    reply = litellm().guard(GOOD)
    assert (reply["action"], reply["texts"], reply["rafs"]["status"]) == ("NONE", None, "Accept")


def test_an_answer_that_did_not_pass_is_blocked_with_its_reasons_and_none_of_its_words(litellm: Any) -> None:
    reply = litellm().guard(BAD)
    assert (reply["action"], reply["rafs"]["passes"]) == ("BLOCKED", False)
    assert "refuted_step" in reply["blocked_reason"]
    said = reply["blocked_reason"].replace(reply["rafs"]["id"], "") + reply["rafs"]["suspect_step"]["reason"]
    assert not re.search("[67]0", said)


@pytest.mark.parametrize(
    ("policy", "action", "start"),
    [
        ("pass", "NONE", None),
        ("annotate", "GUARDRAIL_INTERVENED", BAD),
        ("abstain", "GUARDRAIL_INTERVENED", "No answer is given here"),
    ],
)
def test_the_operator_says_what_becomes_of_it(policy: str, action: str, start: str | None, litellm: Any) -> None:
    reply = litellm(guardrail_policy=policy).guard(BAD)
    assert reply["action"] == action
    assert start is None or reply["texts"][0].startswith(start)
    assert reply["texts"] != [BAD]


def test_the_problem_is_the_question_of_the_same_call_and_the_model_the_writer(litellm: Any) -> None:
    stand_in = StandIn()
    caller = litellm(stand_in)
    caller.post(asking(litellm_call_id="another", structured_messages=[{"role": "user", "content": "Another?"}]))
    caller.guard(GOOD)
    (seen,) = stand_in.seen
    assert (seen.problem, seen.trace, seen.preset) == (PROBLEM, GOOD, "gate")
    assert seen.generator is not None and seen.generator.model == "gpt-4o-2024-08-06"


def test_a_question_that_came_as_texts_alone_is_one_too(litellm: Any) -> None:
    stand_in = StandIn()
    litellm(stand_in).guard(GOOD, asking(structured_messages=None, texts=["Part one.", "Part two."]))
    assert stand_in.seen[0].problem == "Part one.\n\nPart two."


NOT_SCORED: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "question_unknown": (asking(litellm_call_id="another"), {}),
    "tool_calls": (asking(), {"tool_calls": [TOOL_CALL]}),
    "images": (asking(), {"images": ["https://example.org/a.png"]}),
    "several_choices": (asking(), {"texts": [GOOD, GOOD]}),
    "prompt_is_not_all_text": (asking(images=["https://example.org/a.png"]), {}),
}


@pytest.mark.parametrize("why", NOT_SCORED)
@pytest.mark.parametrize("fail", ["fail_open", "fail_closed"])
def test_what_cannot_be_scored_is_answered_by_the_policy(why: str, fail: str, litellm: Any) -> None:
    asked, changes = NOT_SCORED[why]
    reply = litellm(guardrail_fail=fail).guard(GOOD, asked, **changes)
    assert (reply["rafs"]["failure"], reply["rafs"]["decided_by"]) == (f"not_scorable:{why}", fail)
    assert reply["action"] == ("NONE" if fail == "fail_open" else "BLOCKED")


def test_a_failed_judge_is_answered_by_the_policy(litellm: Any) -> None:
    reply = litellm(StandIn(error=BackendError("down"))).guard(GOOD)
    assert (reply["action"], reply["rafs"]["failure"]) == ("BLOCKED", "backend_failed")


def test_the_question_of_a_call_without_an_id_is_nobodys(litellm: Any) -> None:
    reply = litellm().guard(GOOD, asking(litellm_call_id=None), litellm_call_id=None)
    assert (reply["action"], reply["rafs"]["failure"]) == ("BLOCKED", "not_scorable:question_unknown")


def test_another_text_does_not_let_through_the_calls_of_an_answer_that_did_not_pass(litellm: Any) -> None:
    reply = litellm(guardrail_policy="abstain").guard(GOOD, tool_calls=[TOOL_CALL])
    assert (reply["action"], reply["texts"]) == ("BLOCKED", None)


def test_an_answer_that_is_an_image_alone_is_answered_by_the_policy(litellm: Any) -> None:
    reply = litellm().guard(GOOD, texts=[], images=["https://example.org/a.png"])
    assert reply["action"] == "BLOCKED"


def test_an_answer_without_text_or_calls_goes_on(litellm: Any) -> None:
    assert litellm().guard(GOOD, texts=[])["action"] == "NONE"


def test_parameters_of_the_call_may_tighten(litellm: Any) -> None:
    reply = litellm(guardrail_policy="pass").guard(
        BAD, additional_provider_specific_params={"rafs_policy": "block", "rafs_fail": "fail_closed", "other": 1}
    )
    assert reply["action"] == "BLOCKED"


def test_parameters_of_the_call_may_not_loosen(tmp_path: Path) -> None:
    app = create_app(StandIn(), Settings.model_validate({"database": f"sqlite:///{tmp_path / 'rafs.db'}"}))
    with TestClient(app) as client:
        body = answering(BAD, additional_provider_specific_params={"rafs_policy": "pass"})
        reply = client.post(PATH, json=body)
    assert (reply.status_code, reply.json()["errors"][0]["allowed"]) == (422, "block")
