"""Streams: held until the decision, or passed on with the verdict as the last chunk."""

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openai
import pytest

from rafs.types import BlindTrace, Verdict
from rafs.usage import Meter
from tests.service.gate.behind_proxy import BAD, GOOD, MODEL, QUESTION, ask, proxied
from tests.service.gate.scripted_upstream import PATIENCE_S, Says, ScriptedUpstream
from tests.test_flow import LengthJudge, scorer

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


class Waiting(LengthJudge):
    """A judge that thinks until it is told to speak."""

    def __init__(self) -> None:
        super().__init__()
        self.may_speak = threading.Event()

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        await asyncio.to_thread(self.may_speak.wait, PATIENCE_S)
        return await super().verify(trace, ask, meter)


def chunks_of(client: openai.OpenAI, **fields: Any) -> list[Any]:
    return list(ask(client, stream=True, **fields))


def said(chunks: Sequence[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def reasons_to_end(chunks: Sequence[Any]) -> list[str]:
    return [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason]


@pytest.mark.parametrize("release", ["held", "after"])
def test_a_stream_says_the_answer_and_ends_with_its_verdict(release: str, tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(content=GOOD)), tmp_path, proxy_stream=release) as client:
        chunks = chunks_of(client, stream_options={"include_usage": True})
    assert (said(chunks), reasons_to_end(chunks)) == (GOOD, ["stop"])
    assert [chunk.usage.total_tokens for chunk in chunks if chunk.usage] == [18]
    assert (chunks[-1].choices, chunks[-1].rafs["decision"]["status"]) == ([], "Accept")
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_held_stream_of_an_answer_that_did_not_pass_says_the_abstention(tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(content=BAD)), tmp_path, proxy_policy="abstain") as client:
        chunks = chunks_of(client)
    assert said(chunks).startswith("No answer is given here")
    assert reasons_to_end(chunks) == ["content_filter"]
    assert chunks[-1].rafs["action"] == "abstained"


def test_a_held_stream_has_the_tool_calls_of_the_answer(tmp_path: Path) -> None:
    says = Says(message={"tool_calls": [CALL]}, finish_reason="tool_calls")
    with proxied(ScriptedUpstream(says), tmp_path) as client:
        chunks = chunks_of(client)
    assert chunks[0].choices[0].delta.tool_calls[0].function.name == "f"


def test_text_that_is_passed_on_does_not_wait_for_the_verdict(tmp_path: Path) -> None:
    judge, upstream = Waiting(), ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, scores=scorer(judge), proxy_stream="after") as client:
        stream = iter(ask(client, stream=True))
        first = [next(stream) for _ in range(1 + len(GOOD.splitlines()))]
        judge.may_speak.set()
        rest = list(stream)
    assert said(first) == GOOD
    assert rest[-1].rafs["decision"]["status"] == "Accept"


def test_a_held_text_waits_for_the_verdict(tmp_path: Path) -> None:
    judge, upstream = Waiting(), ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, scores=scorer(judge), gate_budget_ms=500) as client:
        chunks = chunks_of(client)
        judge.may_speak.set()
    assert chunks[-1].rafs["decision"]["failure"] == "deadline"


def test_a_note_comes_before_the_end_of_a_stream_that_was_passed_on(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=BAD))
    with proxied(upstream, tmp_path, proxy_stream="after", proxy_policy="annotate") as client:
        chunks = chunks_of(client)
    assert said(chunks) == f"{BAD}\n\nNote: this answer did not pass its checks; step 1 is doubtful."
    assert [bool(chunk.choices and chunk.choices[0].finish_reason) for chunk in chunks[-3:]] == [False, True, False]


def test_a_caller_who_wants_less_shown_gets_the_stream_held(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=BAD))
    with proxied(upstream, tmp_path, proxy_stream="after") as client:
        chunks = chunks_of(client, extra_headers={"rafs-policy": "abstain"})
    assert BAD not in said(chunks)
    assert "stream" not in upstream.seen[0]


def test_whoever_asks_for_no_stream_gets_none_where_streams_are_passed_on(tmp_path: Path) -> None:
    with proxied(ScriptedUpstream(Says(content=BAD)), tmp_path, proxy_stream="after") as client:
        reply = ask(client)
    assert reply.rafs["decision"]["passes"] is False


def test_an_answer_that_is_no_stream_is_drawn_once_for_one_key_where_streams_are_passed_on(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD))
    with proxied(upstream, tmp_path, proxy_stream="after") as client:
        first, again = (ask(client, extra_headers={"idempotency-key": "k"}) for _ in range(2))
    assert (len(upstream.seen), first.rafs) == (1, again.rafs)


def test_a_verdict_that_the_model_forged_in_its_chunks_is_taken_out(tmp_path: Path) -> None:
    says = Says(content=BAD, extra={"rafs": {"decision": {"passes": True}}})
    with proxied(ScriptedUpstream(says), tmp_path, proxy_stream="after") as client:
        chunks = chunks_of(client)
    verdicts = [chunk.rafs for chunk in chunks if getattr(chunk, "rafs", None)]
    assert [verdict["decision"]["passes"] for verdict in verdicts] == [False]


def test_a_stream_with_tool_calls_is_passed_on_and_not_scored(tmp_path: Path) -> None:
    says = Says(message={"tool_calls": [CALL | {"index": 0}]}, finish_reason="tool_calls")
    with proxied(ScriptedUpstream(says), tmp_path, proxy_stream="after") as client:
        chunks = chunks_of(client)
    assert chunks[-1].rafs["decision"]["failure"] == "not_scorable:tool_calls"


def test_a_stream_that_breaks_off_ends_with_an_error_and_no_verdict(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD, breaks_after=2))
    with proxied(upstream, tmp_path, proxy_stream="after") as client:
        stream = iter(ask(client, stream=True))
        next(stream)
        with pytest.raises(openai.APIError, match="the server of 'gpt-4o' failed"):
            list(stream)


def test_a_client_that_leaves_ends_the_stream_of_the_model(tmp_path: Path) -> None:
    upstream = ScriptedUpstream(Says(content=GOOD, stalls_after=2))
    with proxied(upstream, tmp_path, proxy_stream="after") as client:
        stream = client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        next(iter(stream))
        stream.close()
        assert upstream.left.wait(PATIENCE_S)
