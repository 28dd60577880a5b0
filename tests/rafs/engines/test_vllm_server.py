import asyncio
import math
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import pytest

from rafs.contracts import PromptPart
from rafs.engines.server_connection import RejectedError
from rafs.engines.vllm_server import ServerGenerator, ServerProber
from rafs.errors import BackendError, ConfigError
from rafs.types import Abstained, LabelMass, Sampled, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Answer, Reply, ScriptedServer, in_turn, reply_json, serve
from tests.rafs.engines.tiny_models import TINY, tiny_tokenizer

HEAD = [PromptPart(text="P: ", trusted=True), PromptPart(text="one")]
STEPS = [[PromptPart(text=f" s{n}")] for n in range(3)]
TAIL = [PromptPart(text=" ok?", trusted=True)]
TOP = {" Yes": math.log(0.6), " No": math.log(0.3), "x": math.log(0.1)}


def probed(top: object = None, **usage: object) -> Reply:
    listed = {"top_logprobs": [TOP if top is None else top]}
    spent: dict[str, object] = {"total_tokens": 9, **usage}
    return reply_json({"choices": [{"logprobs": listed}], "usage": spent})


def chatted(*texts: str, finish: str = "stop") -> Reply:
    choices = [{"message": {"content": text}, "finish_reason": finish} for text in texts]
    return reply_json({"choices": choices, "usage": {"total_tokens": 9}})


class Engines:
    def __init__(self, server: ScriptedServer, settings: dict[str, Any]) -> None:
        self.server = server
        self.connection = server.connection(**settings)
        self.generator = ServerGenerator(self.connection, TINY)
        self.prober = ServerProber(self.connection, TINY)


@asynccontextmanager
async def engines(answer: Answer, **settings: Any) -> AsyncIterator[Engines]:
    with serve(answer) as server:
        made = Engines(server, settings)
        try:
            yield made
        finally:
            await made.connection.close()


async def test_probes_are_sent_shortest_first_with_one_new_token() -> None:
    async with engines(in_turn(probed()), max_concurrent=1) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [2, 0, 1], Meter())
    bodies = [request.body for request in made.server.requests]
    assert [body["prompt"] for body in bodies] == ["P: one s0 ok?", "P: one s0 s1 ok?", "P: one s0 s1 s2 ok?"]
    assert bodies[0] == {
        "model": "served",
        "prompt": "P: one s0 ok?",
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": 20,
    }


async def test_mass_is_read_from_the_listed_tokens() -> None:
    async with engines(in_turn(probed())) as made:
        (mass,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(mass, LabelMass)
    assert mass.yes == pytest.approx(0.6)
    assert mass.no == pytest.approx(0.3)


async def test_tokens_found_in_the_prefix_cache_are_not_counted() -> None:
    meter = Meter()
    async with engines(in_turn(probed(prompt_tokens_details={"cached_tokens": 5}))) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [0, 1], meter)
    assert (meter.stages["verify"].calls, meter.stages["verify"].tokens) == (2, 8)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(reply_json({"choices": [{"text": " Yes", "logprobs": None}]}), id="no logprobs"),
        pytest.param(reply_json({"choices": [{"logprobs": {"top_logprobs": []}}]}), id="empty list"),
        pytest.param(probed({" Yes": -0.1, "x": -3.0}), id="one label missing"),
    ],
)
async def test_labels_that_did_not_come_back_are_no_verdict(reply: Reply) -> None:
    async with engines(in_turn(reply)) as made:
        (opinion,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.NO_LABELS


async def test_a_prompt_beyond_the_servers_window_is_too_long() -> None:
    said = {"error": {"message": "This model's maximum context length is 2048 tokens."}}
    async with engines(in_turn(reply_json(said, status=400))) as made:
        (opinion,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.TOO_LONG


async def test_with_a_tokenizer_ids_are_sent_and_the_labels_ids_asked_for() -> None:
    async with engines(in_turn(probed())) as made:
        prober = ServerProber(made.connection, TINY, tokenizer=tiny_tokenizer())
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    body = made.server.requests[0].body
    assert body["prompt"] == tiny_tokenizer().join([*HEAD, *STEPS[0], *TAIL])
    assert set(body["logprob_token_ids"]) >= set(tiny_tokenizer().single_ids(["Yes", " Yes", "No", " No"]))


async def test_a_server_that_refuses_label_ids_is_asked_without_them_from_then_on() -> None:
    refusal = reply_json({"error": "unexpected field logprob_token_ids"}, status=400)
    async with engines(in_turn(refusal, probed())) as made:
        prober = ServerProber(made.connection, TINY, tokenizer=tiny_tokenizer())
        opinions = [(await prober.probe(HEAD, STEPS, TAIL, [t], Meter()))[0] for t in (0, 1)]
    assert [("logprob_token_ids" in request.body) for request in made.server.requests] == [True, False, False]
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


async def test_a_local_window_refuses_before_asking() -> None:
    async with engines(in_turn(probed())) as made:
        prober = ServerProber(made.connection, TINY, tokenizer=tiny_tokenizer(), window=4)
        (opinion,) = await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert made.server.requests == []


async def test_chat_without_a_tokenizer_is_refused() -> None:
    async with engines(in_turn(probed())) as made:
        with pytest.raises(ConfigError, match="tokenizer"):
            ServerProber(made.connection, TINY, chat=True)


async def test_a_cut_sample_is_flagged() -> None:
    async with engines(in_turn(chatted("3 + 4", finish="length"))) as made:
        assert await made.generator.sample("p", 1, 1, Meter()) == [Sampled(text="3 + 4", truncated=True)]


async def test_one_request_draws_n_samples() -> None:
    async with engines(in_turn(chatted("a", "b", "c"))) as made:
        assert len(await made.generator.sample("p", 3, 7, Meter())) == 3
    (request,) = made.server.requests
    assert (request.path, request.body["n"], request.body["seed"]) == ("/v1/chat/completions", 3, 7)


async def test_a_server_that_ignores_n_is_asked_again_with_other_seeds() -> None:
    async with engines(in_turn(chatted("a"), chatted("b"), chatted("c"))) as made:
        drawn = await made.generator.sample("p", 3, 7, Meter())
    assert [sample.text for sample in drawn] == ["a", "b", "c"]
    assert [request.body["seed"] for request in made.server.requests] == [7, 8, 9]


async def test_a_continuation_goes_on_with_the_assistants_message() -> None:
    async with engines(in_turn(chatted("rest"))) as made:
        await made.generator.continue_trace("p", ["so far"], 1, 1, Meter())
    body = made.server.requests[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": "so far"}
    assert (body["add_generation_prompt"], body["continue_final_message"]) == (False, True)


async def test_a_separate_reasoning_channel_is_put_before_the_text() -> None:
    choice = {"message": {"content": "7", "reasoning_content": "3 + 4"}, "finish_reason": "stop"}
    async with engines(in_turn(reply_json({"choices": [choice]}))) as made:
        (sample,) = await made.generator.sample("p", 1, 1, Meter())
    assert sample.text == "<think>3 + 4</think>\n7"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_passing_fault_is_retried(status: int) -> None:
    fault = Reply(status=status, headers={"retry-after": "0.01"})
    async with engines(in_turn(fault, fault, chatted("a"))) as made:
        (sample,) = await made.generator.sample("p", 1, 1, Meter())
    assert sample.text == "a"
    assert len(made.server.requests) == 3


async def test_retry_after_is_honoured() -> None:
    async with engines(in_turn(Reply(status=429, headers={"retry-after": "0.3"}), chatted("a"))) as made:
        started = perf_counter()
        await made.generator.sample("p", 1, 1, Meter())
    assert perf_counter() - started >= 0.3


async def test_a_lasting_fault_ends_after_the_last_attempt() -> None:
    fault = Reply(status=503, body=b"queue full", headers={"retry-after": "0"})
    async with engines(in_turn(fault), attempts=3) as made:
        with pytest.raises(BackendError, match=r"failed 3 times.*503.*queue full"):
            await made.generator.sample("p", 1, 1, Meter())
    assert len(made.server.requests) == 3


async def test_waiting_ends_at_the_deadline() -> None:
    held = threading.Event()
    async with engines(in_turn(Reply(wait=held)), deadline_s=0.2) as made:
        with pytest.raises(BackendError) as failed:
            await made.generator.sample("p", 1, 1, Meter())
        held.set()
    assert failed.value.timed_out


async def test_retries_stay_within_the_deadline() -> None:
    fault = Reply(status=503, headers={"retry-after": "10"})
    async with engines(in_turn(fault), deadline_s=0.2) as made:
        started = perf_counter()
        with pytest.raises(BackendError) as failed:
            await made.generator.sample("p", 1, 1, Meter())
    assert perf_counter() - started < 2
    assert failed.value.timed_out


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(Reply(body=b"<html>"), "no JSON", id="malformed JSON"),
        pytest.param(Reply(body=b"[1]"), "not a JSON object", id="a list"),
        pytest.param(reply_json({}), "choices", id="no choices"),
        pytest.param(reply_json({"choices": []}), "choices", id="empty choices"),
        pytest.param(reply_json({"choices": [{}]}), "message", id="no message"),
        pytest.param(reply_json({"choices": [{"message": {"content": 7}}]}), "no text", id="a number for a text"),
    ],
)
async def test_a_reply_of_another_shape_is_a_backend_error(reply: Reply, said: str) -> None:
    async with engines(in_turn(reply)) as made:
        with pytest.raises(BackendError, match=said):
            await made.generator.sample("p", 1, 1, Meter())


async def test_a_refused_request_is_not_repeated() -> None:
    async with engines(in_turn(Reply(status=404))) as made:
        with pytest.raises(RejectedError, match=r"models\.yaml"):
            await made.generator.sample("p", 1, 1, Meter())
    assert len(made.server.requests) == 1


async def test_an_unreachable_server_is_a_backend_error() -> None:
    with serve(in_turn(Reply())) as server:
        connection = server.connection(attempts=1)
    with pytest.raises(BackendError, match="no connection"):
        await ServerGenerator(connection, TINY).sample("p", 1, 1, Meter())
    await connection.close()


async def test_requests_at_once_are_bounded() -> None:
    at_once, most, lock = 0, 0, threading.Lock()

    def answer(request: object) -> Reply:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        threading.Event().wait(0.02)
        with lock:
            at_once -= 1
        return probed()

    async with engines(answer, max_concurrent=2) as made:
        await made.prober.probe(HEAD, STEPS * 3, TAIL, range(9), Meter())
    assert most == 2


async def test_one_failed_probe_fails_the_call_as_itself() -> None:
    async with engines(in_turn(Reply(status=401))) as made:
        with pytest.raises(RejectedError):
            await made.prober.probe(HEAD, STEPS, TAIL, [0, 1, 2], Meter())


async def test_a_caller_that_leaves_stops_waiting() -> None:
    held = threading.Event()
    async with engines(in_turn(Reply(wait=held))) as made:
        task = asyncio.create_task(made.generator.sample("p", 1, 1, Meter()))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        held.set()
