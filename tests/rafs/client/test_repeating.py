"""When a request is sent again: against a server that answers as the test says."""

from collections.abc import Callable

import pytest
import tenacity

from rafs.client import ProblemError, ReplyError, UnreachableError
from rafs.client.errors import ProblemError as Problem
from rafs.client.repeating import pause_s
from rafs.client.settings import ClientSettings
from tests.rafs.client.both_clients import Ask
from tests.rafs.engines.scripted_server import Reply, in_turn, serve
from tests.service.stand_in import make_response

GOOD = Reply(body=make_response().model_dump_json().encode())
BROKEN = Reply(headers={"content-length": "1000"})
"""Two lengths at once: no HTTP."""
FAST = {"first_pause_s": 0.0}


def busy(status: int, retry_after: str | None = "0") -> Reply:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(status=status, headers=headers)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(busy(429), id="429"),
        pytest.param(busy(503), id="503"),
        pytest.param(busy(503, None), id="503 that names no pause"),
        pytest.param(busy(409), id="409 of an attempt that is still being worked on"),
        pytest.param(BROKEN, id="broken connection"),
    ],
)
def test_what_may_pass_is_sent_again_with_the_same_key(ask: Ask, first: Reply) -> None:
    with serve(in_turn(first, GOOD)) as server:
        assert ask(server.url, "score", "p", "t", options=FAST).id == "r1"
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 409, 413, 422, 500, 502, 504])
def test_what_will_not_pass_is_not_sent_again(ask: Ask, status: int) -> None:
    with serve(in_turn(busy(status, None), GOOD)) as server, pytest.raises(ProblemError) as caught:
        ask(server.url, "score", "p", "t", options=FAST)
    assert caught.value.status == status
    assert len(server.requests) == 1


def test_attempts_are_counted(ask: Ask) -> None:
    with serve(in_turn(busy(429))) as server, pytest.raises(ProblemError):
        ask(server.url, "score", "p", "t", options={"attempts": 3})
    assert len(server.requests) == 3


def test_a_pause_that_is_too_long_is_left_to_the_caller(ask: Ask) -> None:
    with serve(in_turn(busy(429, "3600"), GOOD)) as server, pytest.raises(ProblemError) as caught:
        ask(server.url, "score", "p", "t", options={"longest_pause_s": 10})
    assert caught.value.retry_after_s == 3600
    assert len(server.requests) == 1


def test_who_asks_once_sends_no_key(ask: Ask) -> None:
    with serve(in_turn(GOOD)) as server:
        ask(server.url, "score", "p", "t", options={"attempts": 1})
    assert "idempotency-key" not in server.requests[0].headers


def test_a_decision_is_asked_for_again_without_a_key(ask: Ask) -> None:
    with serve(in_turn(busy(503), busy(422, None))) as server, pytest.raises(ProblemError):
        ask(server.url, "gate", "p", "t", options=FAST)
    assert ["idempotency-key" in request.headers for request in server.requests] == [False, False]


def test_two_calls_have_two_keys(ask: Ask) -> None:
    with serve(in_turn(GOOD)) as server:
        for _ in range(2):
            ask(server.url, "score", "p", "t")
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 2


def state_of(error: Exception, attempt: int) -> tenacity.RetryCallState:
    state = tenacity.RetryCallState(tenacity.Retrying(), None, (), {})
    state.attempt_number = attempt
    state.set_exception((type(error), error, error.__traceback__))
    return state


def test_the_pause_is_the_one_that_was_asked_for() -> None:
    error = Problem("busy", status=429, type="", title="", detail="", retry_after_s=7.5)
    assert pause_s(state_of(error, 1), ClientSettings(base_url="http://h")) == 7.5


def test_without_one_it_doubles_up_to_the_longest() -> None:
    error = UnreachableError("gone", may_repeat=True)
    settings = ClientSettings(base_url="http://h", first_pause_s=1.0, longest_pause_s=3.0)
    pauses = [pause_s(state_of(error, attempt), settings) for attempt in (1, 2, 3, 9)]
    for pause, most in zip(pauses, (1.0, 2.0, 3.0, 3.0), strict=True):
        assert most / 2 <= pause <= most


def test_a_service_that_does_not_run_is_an_error_that_says_how_to_start_it(ask: Ask, closed_port: int) -> None:
    address = f"http://127.0.0.1:{closed_port}"
    with pytest.raises(UnreachableError, match=rf"^nobody answers at {address}: .rafs serve. starts .* RAFS_URL"):
        ask(address, "score", "p", "t", options=FAST)


def test_a_silent_service_is_given_up(ask: Ask, never: Callable[[], Reply]) -> None:
    with serve(lambda _: never()) as server, pytest.raises(UnreachableError) as caught:
        ask(server.url, "score", "p", "t", options={"timeout_s": 0.1})
    assert caught.value.timed_out
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(Reply(body=b"x" * 2000), r"more than 1000 bytes \(max_reply_bytes\)", id="too long"),
        pytest.param(Reply(body=b"<html>"), "no reply of RAFS", id="no JSON"),
        pytest.param(Reply(body=b'{"id": "r1"}'), "no reply of RAFS: score: Field required", id="another document"),
    ],
)
def test_what_is_no_reply_of_ours_is_an_error(ask: Ask, reply: Reply, said: str) -> None:
    with serve(in_turn(reply)) as server, pytest.raises(ReplyError, match=said):
        ask(server.url, "score", "p", "t", options={"max_reply_bytes": 1000})


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        pytest.param(Reply(body=b"{}"), ReplyError, "no stream of RAFS", id="no stream"),
        pytest.param(
            Reply(headers={"content-type": "text/event-stream"}, body=b"event: bounds\ndata: {}\n\n"),
            ReplyError,
            "the event 'bounds' is none of RAFS",
            id="another event",
        ),
        pytest.param(
            Reply(headers={"content-type": "text/event-stream"}, body=b"event: news\ndata: {}\n\n"),
            UnreachableError,
            "ended before its result",
            id="ends early, after an event of a newer service",
        ),
        pytest.param(
            Reply(headers={"content-type": "text/event-stream"}, body=b"data: " + b"x" * 2000),
            ReplyError,
            "more than 1000 bytes",
            id="a line without end",
        ),
    ],
)
def test_what_is_no_stream_of_ours_is_an_error(ask: Ask, reply: Reply, error: type[Exception], said: str) -> None:
    with serve(in_turn(reply)) as server, pytest.raises(error, match=said):
        ask(server.url, "stream", "p", "t", options={"max_reply_bytes": 1000})


def test_what_a_newer_service_adds_is_left_out(ask: Ask) -> None:
    newer = make_response().model_dump_json().encode().replace(b'"id":"r1"', b'"id":"r1","mood":{"x":[1]}')
    with serve(in_turn(Reply(body=newer))) as server:
        assert ask(server.url, "score", "p", "t") == make_response()


def test_a_page_of_something_on_the_way_is_a_problem_with_its_status(ask: Ask) -> None:
    with serve(in_turn(Reply(status=502, body=b"<html>\x1b[31m"))) as server, pytest.raises(ProblemError) as caught:
        ask(server.url, "score", "p", "t")
    assert (caught.value.type, str(caught.value)) == ("about:blank", "Bad Gateway (status 502)")


def test_what_a_service_says_is_escaped(ask: Ask) -> None:
    body = b'{"title": "Busy\\u001b[31m", "detail": "\\u202e"}'
    with serve(in_turn(Reply(status=400, body=body))) as server, pytest.raises(ProblemError) as caught:
        ask(server.url, "score", "p", "t")
    assert str(caught.value) == "Busy\\x1b[31m (status 400): \\u202e"
