from typing import Any

import pytest

from rafs.engines.server_generator import ServerGenerator
from rafs.errors import BackendError
from rafs.types import Sampled
from rafs.usage import Caller, Meter, Priority
from tests.rafs.engines.scripted_server import Reply, Request, in_turn, reply_json
from tests.rafs.engines.served_engines import CHAT, chatted, engines, refused, strict
from tests.rafs.engines.tiny_models import TINY


def going_on(request: Request) -> Reply:
    """Continue as vLLM does: a message that is gone on with has no end and no new opening in the prompt."""
    return chatted("rest", prompt_tokens=10 if request.body.get("continue_final_message") else 15)


@pytest.mark.parametrize("finish", ["length", "content_filter", "abort", None])
async def test_a_sample_that_did_not_end_by_itself_is_flagged(finish: str | None) -> None:
    async with engines(in_turn(chatted("3 + 4", finish=finish))) as made:
        assert await made.generator.sample("p", 1, 1, Meter()) == [Sampled(text="3 + 4", truncated=True)]


async def test_one_request_draws_n_samples() -> None:
    async with engines(in_turn(chatted("a", "b", "c"))) as made:
        drawn = await made.generator.sample("p", 3, 7, Meter())
    assert [sample.text for sample in drawn] == ["a", "b", "c"]
    (request,) = made.server.requests
    assert (request.path, request.body["n"]) == (CHAT, 3)


async def test_more_samples_than_asked_for_are_left_out() -> None:
    async with engines(in_turn(chatted("a", "b", "c"))) as made:
        assert len(await made.generator.sample("p", 2, 7, Meter())) == 2


async def test_a_server_that_ignores_n_is_asked_for_each_sample_by_its_seed() -> None:
    async with engines(in_turn(chatted("a"))) as made:
        drawn = [await made.generator.sample("p", 3, seed, Meter()) for seed in (7, 20)]
    assert [len(samples) for samples in drawn] == [3, 3]
    assert [body.get("n") for body in made.server.bodies(CHAT)] == [3] + [None] * 5
    seeds = [body["seed"] for body in made.server.bodies(CHAT)]
    assert [seed - seeds[0] for seed in sorted(seeds[:3])] == [0, 1, 2]
    assert len(set(seeds)) == 6


async def test_a_server_that_refuses_n_is_asked_for_each_sample_by_its_seed() -> None:
    async with engines(strict(in_turn(chatted("a")), "n")) as made:
        drawn = await made.generator.sample("p", 3, 7, Meter())
    assert len(drawn) == 3
    seeds = sorted(body["seed"] for body in made.server.bodies(CHAT))
    assert [seed - seeds[0] for seed in seeds] == [0, 0, 1, 2]


async def test_the_samples_of_a_later_round_have_the_seeds_they_would_have_had_at_once() -> None:
    async with engines(in_turn(chatted("a", "b"))) as made:
        await made.generator.sample("p", 2, 7, Meter())
        await made.generator.sample("p", 2, 7, Meter(), first=2)
    first, later = (body["seed"] for body in made.server.bodies(CHAT))
    assert later - first == 2


async def test_a_greedy_server_is_asked_for_one_sample() -> None:
    async with engines(in_turn(chatted("a"))) as made:
        generator = ServerGenerator(made.connection, TINY, temperature=0.0)
        assert [len(await generator.sample("p", 5, 7, Meter(), first=first)) for first in (0, 1)] == [1, 0]
    assert len(made.server.requests) == 1


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"content": [{"logprob": -0.5}, {"logprob": -1.25}]}, (-1.75, 2, -0.875), id="of every token"),
        pytest.param({"content": [{"logprob": -0.5}, {"token": "a"}]}, (None, None, None), id="not of every token"),
        pytest.param({"content": [{"logprob": True}]}, (None, None, None), id="no number"),
        pytest.param({"content": [{"logprob": 0.5}]}, (None, None, None), id="no probability"),
        pytest.param({"content": []}, (None, None, None), id="of no token"),
        pytest.param(None, (None, None, None), id="none"),
    ],
)
async def test_log_probabilities_are_those_of_all_tokens_or_unknown(said: Any, expected: tuple[Any, ...]) -> None:
    choice = {"message": {"content": "7"}, "finish_reason": "stop", "logprobs": said}
    async with engines(in_turn(reply_json({"choices": [choice]}))) as made:
        (sample,) = await made.generator.sample("p", 1, 1, Meter())
    assert (sample.logprob, sample.n_tokens, sample.mean_logprob) == expected


async def test_a_server_without_log_probabilities_still_draws() -> None:
    async with engines(strict(in_turn(chatted("a")), "logprobs")) as made:
        (sample,) = await made.generator.sample("p", 1, 7, Meter())
    assert (sample.text, sample.logprob) == ("a", None)


async def test_top_p_goes_to_the_server() -> None:
    async with engines(in_turn(chatted("a"))) as made:
        await ServerGenerator(made.connection, TINY, top_p=0.9).sample("p", 1, 1, Meter())
    assert made.server.bodies(CHAT)[0]["top_p"] == 0.9


@pytest.mark.parametrize(("asked", "sent"), [(None, 9), (4, 4), (99, 9)], ids=["its own", "fewer", "no more"])
async def test_a_caller_may_ask_for_fewer_tokens(asked: int | None, sent: int) -> None:
    answers = [chatted("a", prompt_tokens=10), chatted("a", prompt_tokens=15), chatted("a")]
    async with engines(in_turn(*answers)) as made:
        generator = ServerGenerator(made.connection, TINY, max_new_tokens=9)
        await generator.continue_trace("p", ["so far"], 1, 1, Meter(), asked)
    assert made.server.bodies(CHAT)[-1]["max_tokens"] == sent


async def test_a_server_without_seeds_still_draws() -> None:
    async with engines(strict(in_turn(chatted("a", "b")), "seed")) as made:
        assert len(await made.generator.sample("p", 2, 7, Meter())) == 2


async def test_stop_texts_go_to_the_server() -> None:
    async with engines(in_turn(chatted("a"))) as made:
        await ServerGenerator(made.connection, TINY, stop=["\n\n"]).sample("p", 1, 1, Meter())
    assert made.server.bodies(CHAT)[0]["stop"] == ["\n\n"]


async def test_the_caller_decides_on_cache_and_priority() -> None:
    async with engines(in_turn(chatted("a"))) as made:
        await made.generator.sample("p", 1, 1, Meter(caller=Caller(tenant="acme", priority=Priority.BATCH)))
    (body,) = made.server.bodies(CHAT)
    assert body["priority"] == 2
    assert body["cache_salt"]


async def test_a_separate_reasoning_channel_is_put_before_the_text() -> None:
    choice = {"message": {"content": "7", "reasoning_content": "3 + 4"}, "finish_reason": "stop"}
    async with engines(in_turn(reply_json({"choices": [choice]}))) as made:
        (sample,) = await made.generator.sample("p", 1, 1, Meter())
    assert sample.text == "<think>3 + 4</think>\n7"


async def test_a_continuation_goes_on_with_the_assistants_message() -> None:
    async with engines(going_on) as made:
        drawn = await made.generator.continue_trace("p", ["so far"], 1, 1, Meter())
    body = made.server.bodies(CHAT)[-1]
    assert body["messages"][-1] == {"role": "assistant", "content": "so far"}
    assert (body["add_generation_prompt"], body["continue_final_message"]) == (False, True)
    assert [sample.text for (sample,) in drawn] == ["rest"]


async def test_whether_a_server_goes_on_is_found_out_once() -> None:
    meter = Meter()
    async with engines(going_on) as made:
        for _ in range(3):
            await made.generator.continue_trace("p", ["so far"], 1, 1, meter)
    assert [body["max_tokens"] for body in made.server.bodies(CHAT)] == [1, 1, 1024, 1024, 1024]
    assert meter.stages["counterfactual"].calls == 5


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(in_turn(chatted("Anew.", prompt_tokens=15)), id="ignores the request"),
        pytest.param(in_turn(refused("add_generation_prompt", "continue_final_message")), id="refuses the fields"),
        pytest.param(in_turn(chatted("rest")), id="counts no tokens"),
    ],
)
async def test_a_server_that_answers_anew_continues_nothing(answer: Any) -> None:
    async with engines(answer) as made:
        with pytest.raises(BackendError, match="answers anew"):
            await made.generator.continue_trace("p", ["so far"], 1, 1, Meter())
    assert all(body["max_tokens"] == 1 for body in made.server.bodies(CHAT))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        pytest.param(Reply(body=b"<html>"), "no JSON", id="malformed JSON"),
        pytest.param(Reply(body=b"\xff\xfe"), "no JSON", id="no text"),
        pytest.param(Reply(body=b"[" * 100_000), "no JSON", id="nested too deep"),
        pytest.param(Reply(body=b"[1]"), "not a JSON object", id="a list"),
        pytest.param(reply_json({}), "choices", id="no choices"),
        pytest.param(reply_json({"choices": []}), "choices", id="empty choices"),
        pytest.param(reply_json({"choices": [7]}), "choices", id="numbers for choices"),
        pytest.param(reply_json({"choices": [{}]}), "message", id="no message"),
        pytest.param(reply_json({"choices": [{"message": {"content": 7}}]}), "no text", id="a number for a text"),
    ],
)
async def test_a_reply_of_another_shape_is_a_backend_error(reply: Reply, said: str) -> None:
    async with engines(in_turn(reply)) as made:
        with pytest.raises(BackendError, match=said):
            await made.generator.sample("p", 1, 1, Meter())
