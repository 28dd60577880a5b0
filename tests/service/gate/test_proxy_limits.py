"""What the proxy does with what cannot be scored, and with a model's server that refuses, fails or says too much."""

from pathlib import Path
from typing import Any

import openai
import pytest
from fastapi.responses import RedirectResponse, Response

from rafs.engines.server_connection import MAX_REPLY_BYTES
from rafs.errors import BackendError, ConfigError, OverloadedError
from service.app import create_app
from service.settings import Settings
from tests.service.gate.behind_proxy import (
    BAD,
    GOOD,
    KEY_VARIABLE,
    QUESTION,
    ask,
    models_file,
    proxied,
    refusal_of,
    text_of,
)
from tests.service.gate.scripted_upstream import Says, ScriptedUpstream
from tests.service.stand_in import StandIn
from tests.test_flow import PROBLEM, LengthJudge, scorer

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
NOT_SCORABLE: dict[str, tuple[Says, dict[str, Any]]] = {
    "tool_calls": (Says(message={"tool_calls": [CALL]}, finish_reason="tool_calls"), {}),
    "refusal": (Says(message={"refusal": "No."}), {}),
    "no_text": (Says(content=""), {}),
    "several_choices": (Says(content=GOOD), {"n": 2}),
    "prompt_is_not_all_text": (
        Says(content=GOOD),
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, IMAGE]}]},
    ),
    "no_question": (Says(content=GOOD), {"messages": [{"role": "system", "content": "Answer."}]}),
    "prompt_too_long": (Says(content=GOOD), {"messages": [{"role": "user", "content": "x" * 20_001}]}),
    "answer_too_long": (Says(content="x" * 100_001), {}),
    "unusable_text": (Says(content="a\0b"), {}),
}


@pytest.mark.parametrize("why", NOT_SCORABLE)
def test_what_cannot_be_scored_is_said_and_the_policy_answers(why: str, tmp_path: Path) -> None:
    says, fields = NOT_SCORABLE[why]
    with proxied(ScriptedUpstream(says), tmp_path) as client:
        decision = ask(client, **fields).rafs["decision"]
    assert (decision["failure"], decision["decided_by"], decision["passes"]) == (
        f"not_scorable:{why}",
        "fail_closed",
        False,
    )
    assert (decision["status"], decision["tokens"]) == (None, 0)


def test_an_operator_who_fails_open_lets_tool_calls_through_a_strict_policy(tmp_path: Path) -> None:
    says = Says(message={"tool_calls": [CALL]}, finish_reason="tool_calls")
    with proxied(ScriptedUpstream(says), tmp_path, proxy_policy="abstain", proxy_fail="fail_open") as client:
        reply = ask(client)
    assert reply.choices[0].message.tool_calls[0].function.name == "f"
    assert (reply.rafs["action"], reply.rafs["decision"]["decided_by"]) == ("passed", "fail_open")


def test_a_caller_may_fail_closed_where_the_operator_fails_open(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, proxy_policy="abstain", proxy_fail="fail_open") as client:
        reply = ask(client, n=2, extra_headers={"rafs-fail": "fail_closed"})
    assert [choice.finish_reason for choice in reply.choices] == ["content_filter"] * 2


@pytest.mark.parametrize(
    "fields", [{"n": 2}, {"extra_headers": {"rafs-deadline-ms": "1"}}], ids=["several choices", "own deadline"]
)
def test_a_caller_cannot_open_the_proxy_by_what_it_asks_for(fields: dict[str, Any], tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=BAD))
    with proxied(upstream, tmp_path, proxy_policy="abstain", proxy_fail="fail_open") as client:
        reply = ask(client, **fields)
    assert {choice.finish_reason for choice in reply.choices} == {"content_filter"}


def test_earlier_answers_and_instructions_are_no_part_of_the_problem_and_that_is_said(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello!"},
        *QUESTION,
    ]
    stand_in = StandIn()
    with proxied(ScriptedUpstream(Says(content=GOOD)), tmp_path, scores=stand_in) as client:
        reply = ask(client, messages=messages)
    assert stand_in.seen[0].problem == f"Hello.\n\n{PROBLEM}"
    assert reply.rafs["notes"] == ["earlier_answers_left_out", "instructions_left_out"]


def test_the_reasoning_of_an_answer_is_part_of_its_trace_and_its_model_the_writer(tmp_path: Path) -> None:
    stand_in = StandIn()
    says = Says(content="The answer is 50.", message={"reasoning_content": "60 - 10 = 50"})
    with proxied(ScriptedUpstream(says), tmp_path, scores=stand_in) as client:
        ask(client)
    (seen,) = stand_in.seen
    assert seen.trace_text() == "<think>\n60 - 10 = 50\n</think>\nThe answer is 50."
    assert (seen.preset, seen.generator and seen.generator.model) == ("gate", "gpt-4o")


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (BackendError("down"), "backend_failed"),
        (BackendError("slow", timed_out=True), "backend_timeout"),
        (OverloadedError("full", retry_after_s=1), "overloaded"),
    ],
    ids=["down", "slow", "full"],
)
def test_an_answer_that_rafs_failed_to_judge_is_kept_back(error: Exception, failure: str, tmp_path: Path) -> None:
    with proxied(
        ScriptedUpstream(Says(content=GOOD)), tmp_path, scores=StandIn(error=error), proxy_policy="abstain"
    ) as client:
        reply = ask(client)
    assert (reply.rafs["action"], reply.rafs["decision"]["failure"]) == ("abstained", failure)


def test_the_operators_budget_bounds_the_judging(tmp_path: Path) -> None:
    slow = scorer(LengthJudge(delay_s=60))
    with proxied(ScriptedUpstream(Says(content=GOOD)), tmp_path, scores=slow, gate_budget_ms=300) as client:
        decision = ask(client).rafs["decision"]
    assert decision["failure"] == "deadline"


def test_what_the_models_server_refuses_is_passed_on_as_it_is(tmp_path: Path) -> None:
    said = b'{"error": {"message": "max_tokens is too large", "type": "invalid_request_error", "code": "x"}}'
    raw = Response(said, status_code=400, media_type="application/json")
    with proxied(ScriptedUpstream(Says(raw=raw)), tmp_path) as client:
        refusal = refusal_of(client, openai.BadRequestError)
    assert refusal.response.content == said
    assert refusal.response.headers["rafs-origin"] == "upstream"


def test_the_time_to_come_back_is_passed_on_too(tmp_path: Path) -> None:
    said = Response(b"busy", status_code=429, headers={"retry-after": "7"}, media_type="text/html")
    with proxied(ScriptedUpstream(Says(raw=said)), tmp_path) as client:
        refusal = refusal_of(client, openai.RateLimitError, stream=True)
    headers = refusal.response.headers
    assert (headers["retry-after"], headers["content-type"]) == ("7", "text/plain; charset=utf-8")


def test_a_refusal_that_quotes_the_operators_key_is_passed_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "sk-operator")
    said = Response(b"wrong key sk-operator", status_code=401)
    with proxied(ScriptedUpstream(Says(raw=said)), tmp_path, entry={"api_key_env": KEY_VARIABLE}) as client:
        refusal = refusal_of(client, openai.AuthenticationError)
    assert refusal.response.text == "wrong key [key]"


FAULTS = {
    "elsewhere": RedirectResponse("http://127.0.0.1:9/"),
    "no json": Response(b"<html>"),
    "no choices": Response(b'{"choices": []}'),
    "no message": Response(b'{"choices": [{"text": "hi"}]}'),
    "not a number": Response(b'{"choices": [{"message": {}}], "x": NaN}'),
    "too long": Response(b" " * (MAX_REPLY_BYTES + 1)),
    "packed": Response(b"x", headers={"content-encoding": "gzip"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_reply_that_is_no_completion_is_a_failure_of_the_model(fault: str, tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(raw=FAULTS[fault])), tmp_path) as client:
        refusal = refusal_of(client, openai.InternalServerError)
    assert refusal.response.status_code == 503
    assert refusal.response.json()["type"] == "/problems/backend-failed"


def test_a_refusal_without_end_is_not_passed_on(tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(raw=Response(b"x" * 100_000, status_code=418))), tmp_path) as client:
        refusal = refusal_of(client, openai.APIStatusError)
    assert (refusal.status_code, refusal.response.json()["type"]) == (418, "/problems/upstream")


def test_a_model_that_takes_too_long_is_a_504(tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(content=GOOD, delay_s=3)), tmp_path, entry={"timeout_s": 0.2}) as client:
        refusal = refusal_of(client, openai.InternalServerError)
    assert (refusal.status_code, refusal.response.json()["type"]) == (504, "/problems/backend-timeout")


def test_a_failure_on_the_way_to_a_better_answer_leaves_the_decision_on_the_first(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=BAD), Says(raw=Response(status_code=500)))
    with proxied(upstream, tmp_path, proxy_policy="resample") as client:
        reply = ask(client)
    assert (reply.rafs["action"], reply.rafs["notes"]) == ("abstained", ["resampling_failed"])
    assert BAD not in text_of(reply)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"proxy_models": "nobody"}, "no model 'nobody'"),
        ({"proxy_models": "all-minilm-l6-v2"}, "RAFS_PROXY_MODELS"),
        ({"proxy_models": "gpt-4o", "proxy_stream": "after", "proxy_policy": "hold"}, "RAFS_PROXY_STREAM"),
    ],
    ids=["unknown", "no server", "shown and kept back"],
)
def test_a_proxy_that_cannot_work_does_not_start(settings: dict[str, str], named: str, tmp_path: Path) -> None:
    fields = {"models_file": models_file(tmp_path, 9), "database": f"sqlite:///{tmp_path / 'rafs.db'}"} | settings
    with pytest.raises(ConfigError, match=named):
        create_app(StandIn(), Settings.model_validate(fields))
