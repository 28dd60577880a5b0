"""Every `Likelihood` keeps the contract: one number per reply, in order, the sum over its tokens."""

import math
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from rafs.contracts import PromptPart
from rafs.engines.likelihood import Likelihood
from rafs.engines.server_likelihood import ServerLikelihood
from rafs.engines.transformers_likelihood import TransformersLikelihood
from rafs.types import Abstained, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Reply, Request, at, reply_json, serve
from tests.rafs.engines.served_engines import COMPLETIONS, TOKENIZE, tokenized
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

TASK = [PromptPart(text="Question: ", trusted=True), PromptPart(text="How many apples has Tom?")]
REPLIES = ["Tom has 7 apples.", "Yes", "No"]
WINDOW = 512


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_llama(initializer_range=0.1)


@pytest.fixture(scope="module")
def local(model: Any) -> Iterator[Likelihood]:
    reader = TransformersLikelihood(model, tiny_tokenizer(), TINY)
    yield reader
    reader.close()


def log_p_of(model: Any, ids: list[int]) -> list[float | None]:
    """Return log p of every token of a text but the first, by one pass of the model."""
    import torch

    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    return [None, *(float(logits[at, index]) for at, index in enumerate(ids[1:]))]


@pytest.fixture(params=["transformers", "server"])
async def reader(request: pytest.FixtureRequest, model: Any, local: Likelihood) -> AsyncIterator[Likelihood]:
    def echo(asked: Request) -> Reply:
        ids = asked.body["prompt"]
        if len(ids) >= WINDOW:
            said = f"This model's maximum context length is {WINDOW} tokens."
            return reply_json({"error": {"message": said}}, status=400)
        logprobs = {"token_logprobs": [*log_p_of(model, ids), -0.5], "tokens": []}
        return reply_json({"choices": [{"logprobs": logprobs}], "usage": {"total_tokens": len(ids) + 1}})

    if request.param == "transformers":
        yield local
        return
    with serve(at({TOKENIZE: tokenized, COMPLETIONS: echo})) as server:
        connection = server.connection()
        yield ServerLikelihood(connection, TINY)
        await connection.close()


def whole(reply: str) -> tuple[list[int], int]:
    """Return the ids of task and reply in the chat template, and how many are the reply's."""
    tokenizer = tiny_tokenizer()
    frame = tokenizer.chat_frame()
    assert frame is not None
    own = tokenizer.ids(PromptPart(text=reply))
    return [*tokenizer.join([frame.before, *TASK, frame.after]), *own], len(own)


async def test_it_is_the_sum_over_the_tokens_of_the_reply(reader: Likelihood, model: Any) -> None:
    found = await reader.logprobs(TASK, REPLIES, Meter())
    for reply, logprob in zip(REPLIES, found, strict=True):
        ids, n = whole(reply)
        assert logprob == pytest.approx(sum(one for one in log_p_of(model, ids)[-n:] if one is not None), abs=1e-3)


async def test_a_reply_depends_on_no_other_reply(reader: Likelihood) -> None:
    together = await reader.logprobs(TASK, REPLIES, Meter())
    alone = [(await reader.logprobs(TASK, [reply], Meter()))[0] for reply in REPLIES]
    assert together == pytest.approx(alone)


async def test_spaces_around_a_reply_are_no_part_of_it(reader: Likelihood) -> None:
    bare, spaced = await reader.logprobs(TASK, ["Yes", "  Yes\n"], Meter())
    assert bare == pytest.approx(spaced)


async def test_a_blank_reply_has_no_probability(reader: Likelihood) -> None:
    blank, other = await reader.logprobs(TASK, [" ", "Yes"], Meter())
    assert isinstance(blank, Abstained) and blank.why is Why.NOT_APPLICABLE
    assert isinstance(other, float) and other < 0


async def test_what_does_not_fit_the_window_is_too_long(reader: Likelihood) -> None:
    long, other = await reader.logprobs(TASK, ["apples " * WINDOW, "Yes"], Meter())
    assert isinstance(long, Abstained) and long.why is Why.TOO_LONG
    assert isinstance(other, float)


async def test_no_replies_cost_nothing(reader: Likelihood) -> None:
    meter = Meter()
    assert list(await reader.logprobs(TASK, [], meter)) == []
    assert sum(stage.tokens for stage in meter.stages.values()) == 0


async def test_a_reply_cannot_hold_a_control_token(reader: Likelihood) -> None:
    (found,) = await reader.logprobs(TASK, ["<|im_end|>"], Meter())
    assert isinstance(found, float) and math.isfinite(found)


@pytest.mark.parametrize(
    "logprobs",
    [None, {"token_logprobs": [-1.0]}, {"token_logprobs": [None] * 500}],
    ids=["none", "of the new token alone", "of other tokens"],
)
async def test_a_server_that_echoes_nothing_gives_no_probability(logprobs: object) -> None:
    def silent(request: Request) -> Reply:
        return reply_json({"choices": [{"text": "", "logprobs": logprobs}]})

    with serve(at({TOKENIZE: tokenized, COMPLETIONS: silent})) as server:
        connection = server.connection()
        (found,) = await ServerLikelihood(connection, TINY).logprobs(TASK, ["Yes"], Meter())
        await connection.close()
    assert isinstance(found, Abstained) and found.why is Why.NOT_APPLICABLE


async def test_a_server_that_does_not_tokenise_gives_no_probability() -> None:
    with serve(at({})) as server:
        connection = server.connection()
        (found,) = await ServerLikelihood(connection, TINY).logprobs(TASK, ["Yes"], Meter())
        await connection.close()
    assert isinstance(found, Abstained) and found.why is Why.NOT_APPLICABLE
