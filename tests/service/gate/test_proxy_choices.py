"""Which of several answers the proxy passes on, and what is charged before a model is asked."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import openai
import pytest
from fastapi.responses import Response

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.progress import Tell
from service.terms import DEFAULT_TERMS, Terms
from tests.service.gate.behind_proxy import BAD, GOOD, ask, proxied, refusal_of, text_of
from tests.service.gate.scripted_upstream import Says, ScriptedUpstream
from tests.service.stand_in import StandIn, make_response


class Rating(StandIn):
    """Accepts from 50 on; the score is the first number of a trace."""

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        self.seen.append(request)
        found = re.search(r"\d+", str(request.trace_text()))
        assert found is not None
        score = float(found.group())
        status = "Accept" if score >= 50 else "Review"
        return make_response().model_copy(update={"score": score, "status": status, "reasons": []})


class Hurried(Rating):
    """Has no time to look at what is worth 90."""

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        response = await super().score(request, terms, tell)
        late = {"status": "Abstain", "reasons": ["deadline"], "steps": []}
        return response.model_copy(update=late) if response.score == 90 else response


def rated(*scores: int) -> ScriptedUpstream:
    """A model whose draws are worth so much, by the seed that each is asked with."""
    return ScriptedUpstream(by_seed={seed: Says(content=f"This is worth {n}.") for seed, n in enumerate(scores)})


def test_of_an_answer_and_its_samples_the_accepted_one_with_the_highest_score_is_passed_on(tmp_path: Path) -> None:
    upstream = rated(60, 55, 90, 10)
    with proxied(upstream, tmp_path, scores=Rating(), proxy_policy="resample", proxy_samples=3) as client:
        reply = ask(client, seed=0)
    assert (text_of(reply), reply.rafs["decision"]["score"]) == ("This is worth 90.", 90.0)
    assert (reply.rafs["attempts"], reply.rafs["upstream_calls"]) == (4, 4)


def test_what_was_accepted_goes_before_what_passes_because_it_could_not_be_judged(tmp_path: Path) -> None:
    upstream, fail = rated(90, 60), "fail_open"
    with proxied(
        upstream, tmp_path, scores=Hurried(), proxy_policy="resample", proxy_samples=1, proxy_fail=fail
    ) as client:
        reply = ask(client, seed=0)
    assert (text_of(reply), reply.rafs["decision"]["decided_by"]) == ("This is worth 60.", "rafs")


def test_each_is_judged_against_the_others(tmp_path: Path) -> None:
    rating = Rating()
    with proxied(rated(60, 70, 80), tmp_path, scores=rating, proxy_policy="resample", proxy_samples=2) as client:
        ask(client, seed=0)
    against = [[re.findall(r"\d+", one.text)[0] for one in request.sampled()] for request in rating.seen]
    assert against == [["70", "80"], ["60", "80"], ["60", "70"]]


def test_drawing_ends_with_the_draw_that_has_an_accepted_answer(tmp_path: Path) -> None:
    upstream = rated(10, 20, 30, 60, 99, 99)
    with proxied(upstream, tmp_path, scores=Rating(), proxy_policy="resample", proxy_samples=1) as client:
        reply = ask(client, seed=0)
    assert (text_of(reply), reply.rafs["attempts"], len(upstream.seen)) == ("This is worth 60.", 4, 4)


@pytest.mark.parametrize("policy", ["pass", "abstain"])
def test_by_another_policy_a_sample_is_never_passed_on(policy: str, tmp_path: Path) -> None:
    with proxied(rated(60, 90), tmp_path, scores=Rating(), proxy_policy=policy, proxy_samples=1) as client:
        reply = ask(client, seed=0)
    assert (text_of(reply), reply.rafs["attempts"]) == ("This is worth 60.", 1)


@pytest.mark.parametrize("fields", [{}, {"messages": [{"role": "system", "content": "Hi."}]}], ids=["scored", "not"])
def test_a_key_without_quota_asks_no_model(fields: dict[str, object], tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, traces_per_day=1) as client:
        ask(client, **fields)
        refusal = refusal_of(client, openai.RateLimitError, **fields)
    assert (refusal.response.json()["type"], len(upstream.seen)) == ("/problems/quota-exceeded", 1)


def test_a_stream_that_comes_before_its_verdict_is_charged_before_it_begins(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, traces_per_day=1, proxy_stream="after") as client:
        list(ask(client, stream=True))
        refusal_of(client, openai.RateLimitError, stream=True)
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_what_a_model_refused_is_not_charged(stream: bool, tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(raw=Response(status_code=400)), Says(content=GOOD))
    with proxied(upstream, tmp_path, traces_per_day=1, proxy_stream="after") as client:
        refusal_of(client, openai.BadRequestError, stream=stream)
        assert text_of(ask(client)) == GOOD


def test_what_a_model_was_too_slow_for_is_charged(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD, delay_s=3))
    with proxied(upstream, tmp_path, traces_per_day=1, entry={"timeout_s": 0.2}) as client:
        assert refusal_of(client, openai.InternalServerError).status_code == 504
        refusal_of(client, openai.RateLimitError)
    assert len(upstream.seen) == 1


@contextmanager
def deaf_port() -> Iterator[int]:
    """Yield a port whose line of callers is full, so that nobody is let in or sent away."""
    with socket.socket() as deaf, ExitStack() as callers:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(2):
            caller = callers.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(deaf.getsockname())
        yield deaf.getsockname()[1]


def test_a_model_that_was_not_reached_in_time_is_not_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.gate.upstream.CONNECT_S", 0.2)
    with deaf_port() as port:
        entry: dict[str, object] = {"source": f"endpoint:http://127.0.0.1:{port}/v1"}
        with proxied(ScriptedUpstream(), tmp_path, traces_per_day=1, entry=entry) as client:
            for _ in range(2):
                refusal = refusal_of(client, openai.InternalServerError)
                assert (refusal.status_code, "ConnectTimeout" in refusal.message) == (503, True)


def test_a_quota_that_ends_on_the_way_to_a_better_answer_leaves_the_decision_on_the_first(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=BAD))
    with proxied(upstream, tmp_path, proxy_policy="resample", traces_per_day=1) as client:
        reply = ask(client)
    assert (reply.rafs["action"], reply.rafs["notes"], len(upstream.seen)) == ("abstained", ["resampling_failed"], 1)
