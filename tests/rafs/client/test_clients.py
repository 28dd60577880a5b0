"""Both clients against the real application on a real socket."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletion

from rafs.client import ProblemError
from rafs.errors import BackendError, InputError
from rafs.progress_wire import ScoreBounds, StepsRead
from rafs.request import GeneratorInfo
from tests.rafs.client.both_clients import Ask
from tests.service.stand_in import StandIn, make_response

PROBLEM, TRACE = "What is 2 + 2?", "2 + 2 = 4"
MESSAGE = {"role": "assistant", "content": TRACE, "reasoning_content": "I add."}
CHOICE = {"index": 0, "finish_reason": "stop", "message": MESSAGE, "logprobs": None}
COMPLETION = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}


def test_a_score_comes_back_as_the_service_has_it(ask: Ask, url: str) -> None:
    assert ask(url, "score", PROBLEM, TRACE) == make_response(PROBLEM, TRACE)


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("answer", "4"),
        ("rules", [{"rule": "words", "at_most": 9}]),
        ("preset", "gate"),
        ("seed", 7),
        ("include", ["interventions"]),
        ("deadline_s", 9.0),
        ("token_budget", 100),
        ("generator", GeneratorInfo(model="gpt-4o-mini", family="gpt")),
    ],
)
def test_a_field_of_the_request_arrives(ask: Ask, url: str, scorer: StandIn, field: str, sent: object) -> None:
    ask(url, "score", PROBLEM, TRACE, **{field: sent})
    assert getattr(scorer.seen[0], field) == sent


def test_the_writer_may_be_named_alone(ask: Ask, url: str, scorer: StandIn) -> None:
    ask(url, "score", PROBLEM, TRACE, generator="gpt-4o-mini")
    assert scorer.seen[0].generator == GeneratorInfo(model="gpt-4o-mini")


@pytest.mark.parametrize(
    "trace",
    [
        pytest.param(MESSAGE, id="message"),
        pytest.param([{"role": "user", "content": PROBLEM}, MESSAGE], id="conversation"),
        pytest.param(COMPLETION, id="completion"),
        pytest.param(CHOICE, id="choice"),
        pytest.param(ChatCompletion.model_validate(COMPLETION), id="completion of the openai library"),
        pytest.param(ChatCompletion.model_validate(COMPLETION).choices[0].message, id="message of the openai library"),
    ],
)
def test_a_trace_may_come_as_the_model_library_gave_it(ask: Ask, url: str, scorer: StandIn, trace: object) -> None:
    ask(url, "score", PROBLEM, trace)
    assert scorer.seen[0].trace_text() == f"<think>\nI add.\n</think>\n{TRACE}"


@pytest.mark.parametrize(
    "sample", [CHOICE, ChatCompletion.model_validate(COMPLETION).choices[0]], ids=["mapping", "of the openai library"]
)
def test_samples_may_be_the_choices_of_a_reply(ask: Ask, url: str, scorer: StandIn, sample: object) -> None:
    ask(url, "score", PROBLEM, TRACE, samples=[sample, TRACE])
    assert [sampled.text for sampled in scorer.seen[0].sampled()] == [f"<think>\nI add.\n</think>\n{TRACE}", TRACE]


@pytest.mark.parametrize("trace", [None, 5, object(), "\ud800"], ids=["nothing", "number", "object", "lone surrogate"])
def test_what_cannot_be_sent_is_refused_before_anybody_is_asked(
    ask: Ask, url: str, scorer: StandIn, trace: Any
) -> None:
    with pytest.raises(InputError):
        ask(url, "score", PROBLEM, trace)
    assert scorer.seen == []


def test_a_wrong_request_says_which_field_and_what_is_allowed(ask: Ask, url: str) -> None:
    with pytest.raises(ProblemError) as caught:
        ask(url, "score", PROBLEM, TRACE, seed=-1)
    problem = caught.value
    assert (problem.status, problem.type, problem.title) == (422, "/problems/invalid-input", "Invalid input")
    assert [(fault.field, fault.got) for fault in problem.errors] == [("seed", "the number -1")]
    assert problem.request_id
    assert str(problem) == (
        "Invalid input (status 422): field `seed`: got the number -1, allowed: greater than or equal to 0"
    )


def test_a_detail_without_its_fault_is_told_with_it(ask: Ask, url: str, scorer: StandIn) -> None:
    scorer.error = InputError("there is no such preset", field="preset", got="'gat'", allowed="gate, deep")
    with pytest.raises(ProblemError) as caught:
        ask(url, "score", PROBLEM, TRACE)
    assert str(caught.value).endswith(": there is no such preset: preset: got 'gat', allowed gate, deep")


def test_a_model_that_fails_is_told_with_the_pause_the_service_asks_for(ask: Ask, url: str, scorer: StandIn) -> None:
    scorer.error = BackendError("the judge is down")
    with pytest.raises(ProblemError, match="the judge is down") as caught:
        ask(url, "score", PROBLEM, TRACE, options={"attempts": 1})
    assert (caught.value.status, caught.value.retry_after_s) == (503, 5)


def test_a_stream_tells_what_was_read_and_ends_in_the_response(ask: Ask, url: str) -> None:
    events = ask(url, "stream", PROBLEM, TRACE)
    assert isinstance(events[0], StepsRead)
    assert isinstance(events[1], ScoreBounds)
    assert events[-1] == make_response(PROBLEM, TRACE)


def test_a_failure_within_a_stream_is_the_same_error(ask: Ask, url: str, scorer: StandIn) -> None:
    scorer.error = BackendError("the judge is down")
    with pytest.raises(ProblemError, match="the judge is down") as caught:
        ask(url, "stream", PROBLEM, TRACE)
    assert (caught.value.status, caught.value.type) == (503, "/problems/backend-failed")


def test_a_wrong_request_for_a_stream_is_refused_before_it_begins(ask: Ask, url: str) -> None:
    with pytest.raises(ProblemError) as caught:
        ask(url, "stream", PROBLEM, TRACE, seed=-1)
    assert caught.value.status == 422


def test_the_models_are_listed(ask: Ask, url: str, scorer: StandIn) -> None:
    assert ask(url, "models") == scorer.models()


def test_it_is_ready_when_the_models_are_there(ask: Ask, url: str, scorer: StandIn) -> None:
    ask(url, "score", PROBLEM, TRACE)  # by then the application has started
    assert ask(url, "ready") is True
    scorer.warmed = False
    assert ask(url, "ready") is False


def test_one_key_has_one_answer(ask: Ask, url: str, scorer: StandIn) -> None:
    for _ in range(2):
        ask(url, "score", PROBLEM, TRACE, idempotency_key="once")
    assert len(scorer.seen) == 1
