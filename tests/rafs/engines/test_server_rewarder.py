"""A served reward model: what is sent, and that no reply of another shape becomes a score."""

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from rafs.engines.prm_layouts import PrmLayout
from rafs.engines.server_rewarder import ServerRewarder
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Answer, Reply, ScriptedServer, in_turn, reply_json, serve
from tests.rafs.engines.tiny_models import TINY
from tests.rafs.engines.tiny_prms import QWEN, RLHFLOW, SHEPHERD, SKYWORK, layout

PROBLEM = "Tom has 3 apples and buys 4 more. How many has he?"
STEPS = ["Tom has 3 apples.", "He buys 4 more, so 3 + 4 = 7."]


def pooled(*rows: list[float]) -> Reply:
    """A reply of vLLM's `/pooling`."""
    return reply_json(
        {
            "id": "pool-1",
            "object": "list",
            "created": 1,
            "model": "served",
            "data": [{"index": 0, "object": "pooling", "data": list(rows)}],
            "usage": {"prompt_tokens": 40, "total_tokens": 40, "completion_tokens": 0, "prompt_tokens_details": None},
        }
    )


def completed(logprobs: Mapping[str, float]) -> Reply:
    listed = {"top_logprobs": [dict(logprobs)], "tokens": ["+"], "token_logprobs": [-0.1], "text_offset": [0]}
    return reply_json({"choices": [{"index": 0, "text": "+", "logprobs": listed}], "usage": {"total_tokens": 20}})


def chatted(logprobs: Mapping[str, float]) -> Reply:
    top = [{"token": token, "logprob": value, "bytes": list(token.encode())} for token, value in logprobs.items()]
    content = [{"token": "+", "logprob": -0.1, "bytes": [43], "top_logprobs": top}]
    choice = {"index": 0, "message": {"role": "assistant", "content": "+"}, "logprobs": {"content": content}}
    return reply_json({"choices": [choice], "usage": {"total_tokens": 20}})


@asynccontextmanager
async def served(answer: Answer, shape: PrmLayout) -> AsyncIterator[tuple[ServerRewarder, ScriptedServer]]:
    with serve(answer) as server:
        connection = server.connection()
        try:
            yield ServerRewarder(connection, TINY, shape), server
        finally:
            await connection.close()


def p(verdicts: object) -> list[float]:
    assert isinstance(verdicts, list)
    return [verdict.p_correct for verdict in verdicts if isinstance(verdict, Judged)]


async def test_a_head_is_asked_once_for_all_steps_in_the_models_chat() -> None:
    meter = Meter()
    async with served(in_turn(pooled([0.25, 0.75], [0.5, 0.5])), layout(QWEN)) as (rewarder, server):
        assert p(await rewarder.reward(PROBLEM, STEPS, [0, 1], meter)) == [0.75, 0.5]
    (request,) = server.requests
    assert request.path == "/pooling"
    assert request.body == {
        "model": "served",
        "task": "token_classify",
        "priority": 1,
        "messages": [
            {"role": "system", "content": r"Please reason step by step, and put your final answer within \boxed{}."},
            {"role": "user", "content": PROBLEM},
            {"role": "assistant", "content": f"{STEPS[0]}<extra_0>{STEPS[1]}<extra_0>"},
        ],
    }
    assert (meter.stages["verify"].calls, meter.stages["verify"].tokens) == (1, 40)


async def test_a_head_in_plain_text_is_sent_as_input() -> None:
    shape = replace(layout(QWEN), framing="plain", system=None, opening="{problem}: ")
    async with served(in_turn(pooled([0.25, 0.75])), shape) as (rewarder, server):
        await rewarder.reward(PROBLEM, STEPS, [0], Meter())
    body = server.requests[0].body
    assert (body["input"], body["add_special_tokens"]) == (f"{PROBLEM}: {STEPS[0]}<extra_0>", False)


async def test_a_separator_in_the_text_is_broken_up() -> None:
    async with served(in_turn(pooled([0.5, 0.5])), layout(QWEN)) as (rewarder, server):
        await rewarder.reward("a <extra_0>", ["<extra_0> b <|im_end|>"], [0], Meter())
    sent = str(server.requests[0].body["messages"])
    assert sent.count("<extra_0>") == 1
    assert "<|im_end|>" not in sent


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([[0.5, 0.5]], id="fewer than steps"),
        pytest.param([[0.5, 0.5]] * 3, id="more than steps"),
        pytest.param([], id="none"),
    ],
)
async def test_another_number_of_scores_than_steps_is_no_score(rows: list[list[float]]) -> None:
    async with served(in_turn(pooled(*rows)), layout(QWEN)) as (rewarder, _):
        verdicts = await rewarder.reward(PROBLEM, STEPS, [0, 1], Meter())
    assert [verdict.why for verdict in verdicts if isinstance(verdict, Abstained)] == [Why.UNPARSED] * 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(pooled([2.0, -1.0], [0.5, 0.5]), "no probabilities", id="raw logits that sum to 1"),
        pytest.param(pooled([0.5, 0.4], [0.5, 0.5]), "no probabilities", id="a sum below 1"),
        pytest.param(pooled([1.0], [1.0]), "no probabilities", id="one class"),
        pytest.param(pooled([0.5, 10**400], [0.5, 0.5]), "no probabilities", id="a number that no float holds"),
        pytest.param(reply_json({"data": [{"data": [0.5, 0.5]}]}), "no rows", id="numbers for rows"),
        pytest.param(reply_json({"data": [{"data": "AAAA"}]}), "no rows", id="base64"),
        pytest.param(reply_json({"data": []}), "no rows", id="nothing"),
        pytest.param(reply_json({"choices": []}), "'choices'", id="another endpoint"),
    ],
)
async def test_a_reply_of_another_shape_is_a_backend_error(reply: Reply, said: str) -> None:
    async with served(in_turn(reply), layout(QWEN)) as (rewarder, _):
        with pytest.raises(BackendError, match=said):
            await rewarder.reward(PROBLEM, STEPS, [0, 1], Meter())


PAST_WINDOW = reply_json({"error": {"message": "This model's maximum context length is 64 tokens."}}, status=400)


@pytest.mark.parametrize("family", [QWEN, SHEPHERD])
async def test_a_trace_past_the_servers_window_is_too_long(family: str) -> None:
    async with served(in_turn(PAST_WINDOW), layout(family)) as (rewarder, _):
        verdicts = await rewarder.reward(PROBLEM, STEPS, [0, 1], Meter())
    assert [verdict.why for verdict in verdicts if isinstance(verdict, Abstained)] == [Why.TOO_LONG] * 2


async def test_of_a_trace_past_the_servers_window_the_first_half_is_scored() -> None:
    async with served(in_turn(PAST_WINDOW, pooled([0.25, 0.75])), layout(QWEN)) as (rewarder, server):
        first, second = await rewarder.reward(PROBLEM, STEPS, [0, 1], Meter())
    assert first == Judged(p_correct=0.75)
    assert isinstance(second, Abstained)
    assert second.why is Why.TOO_LONG
    assert server.requests[-1].body["messages"][-1]["content"] == f"{STEPS[0]}<extra_0>"


async def test_a_token_pair_in_plain_text_is_one_completion_a_step() -> None:
    async with served(in_turn(completed({" +": math.log(0.6), "-": math.log(0.2)})), layout(SHEPHERD)) as (
        rewarder,
        server,
    ):
        assert p(await rewarder.reward(PROBLEM, STEPS, [0, 1], Meter())) == pytest.approx([0.75, 0.75])
    bodies = sorted((request.body for request in server.requests), key=lambda body: len(body["prompt"]))
    first = f"{PROBLEM} Step 1: {STEPS[0]} ки"
    assert [body["prompt"] for body in bodies] == [first, f"{first}\nStep 2: {STEPS[1]} ки"]
    assert {(body["max_tokens"], body["logprobs"], body["add_special_tokens"]) for body in bodies} == {(1, 20, True)}


async def test_a_token_pair_in_turns_is_one_chat_a_step() -> None:
    async with served(in_turn(chatted({"+": math.log(0.6), "-": math.log(0.2)})), layout(RLHFLOW)) as (
        rewarder,
        server,
    ):
        assert p(await rewarder.reward(PROBLEM, STEPS, [1], Meter())) == pytest.approx([0.75])
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["messages"] == [
        {"role": "user", "content": f"{PROBLEM} {STEPS[0]}"},
        {"role": "assistant", "content": "+"},
        {"role": "user", "content": STEPS[1]},
    ]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(completed({"+": -0.1, "x": -3.0}), id="one token missing"),
        pytest.param(completed({"+": -9.0, "-": -9.0}), id="hardly any mass"),
        pytest.param(reply_json({"choices": [{"text": "+", "logprobs": None}]}), id="no logprobs"),
    ],
)
async def test_tokens_that_did_not_come_back_are_no_score(reply: Reply) -> None:
    async with served(in_turn(reply), layout(SHEPHERD)) as (rewarder, _):
        (verdict,) = await rewarder.reward(PROBLEM, STEPS, [0], Meter())
    assert isinstance(verdict, Abstained)
    assert verdict.why is Why.NO_LABELS


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        pytest.param(layout(SKYWORK), "separator: got white space", id="white space cannot be counted"),
        pytest.param(replace(layout(SKYWORK), separator="<s>"), "output 'sigmoid'", id="a sigmoid cannot be checked"),
        pytest.param(replace(layout(RLHFLOW), score=layout(QWEN).score), "framing 'turns'", id="a head in turns"),
        pytest.param(replace(layout(QWEN), score=layout(RLHFLOW).score), "got 'chat'", id="tokens in one chat"),
    ],
)
async def test_what_cannot_be_told_apart_at_a_server_is_refused(shape: PrmLayout, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        async with served(in_turn(pooled()), shape):
            pass


async def test_blank_steps_are_not_sent() -> None:
    async with served(in_turn(pooled([0.5, 0.5])), layout(QWEN)) as (rewarder, server):
        verdicts: list[Verdict] = list(await rewarder.reward(PROBLEM, ["", STEPS[0], " "], [0, 1, 2], Meter()))
        assert list(await rewarder.reward(PROBLEM, ["", " "], [0, 1], Meter())) == [verdicts[0], verdicts[2]]
    assert [isinstance(verdict, Judged) for verdict in verdicts] == [False, True, False]
    assert len(server.requests) == 1
