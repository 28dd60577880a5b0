"""A served model reads what the same model reads in this process: start of text and chat template included."""

import pytest

from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.server_prober import ServerProber
from rafs.engines.transformers_lm import TransformersProber
from rafs.errors import ConfigError
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Answer, at, in_turn
from tests.rafs.engines.served_engines import (
    CHAT,
    COMPLETIONS,
    HEAD,
    STEPS,
    TAIL,
    TOKENIZE,
    chat_probed,
    engines,
    listing_labels,
    probed,
    refused,
    tokenized,
    tokenized_by,
    vllm,
    yes_no,
)
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.rafs.engines.tiny_prms import sentencepiece_tokenizer


@pytest.mark.parametrize(
    ("local", "chat"),
    [
        pytest.param(PartTokenizer(sentencepiece_tokenizer()), False, id="a text that starts with a token"),
        pytest.param(tiny_tokenizer(), True, id="a chat"),
    ],
)
async def test_a_served_model_reads_what_it_would_read_in_this_process(local: PartTokenizer, chat: bool) -> None:
    read: list[tuple[int, ...]] = []
    model = tiny_llama(vocab_size=500)
    near = TransformersProber(model, local, TINY, chat=chat, known_bytes=0)
    model.register_forward_pre_hook(
        lambda _, __, given: read.append((*given["input_ids"][0].tolist(),)), with_kwargs=True
    )
    await near.probe(HEAD, STEPS, TAIL, [0], Meter())
    near.close()
    async with engines(at({TOKENIZE: tokenized_by(local), COMPLETIONS: listing_labels})) as made:
        for tokenizer in (None, local):
            far = ServerProber(made.connection, TINY, tokenizer=tokenizer, chat=chat)
            await far.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert [tuple(body["prompt"]) for body in made.server.bodies(COMPLETIONS)] == read * 2


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({}, id="no tokenizer to ask"),
        pytest.param({TOKENIZE: tokenized, COMPLETIONS: in_turn(refused("prompt"))}, id="token ids refused"),
    ],
)
async def test_a_chat_whose_tokens_cannot_be_sent_is_left_to_the_server(others: dict[str, Answer]) -> None:
    async with engines(at({CHAT: in_turn(chat_probed()), COMPLETIONS: in_turn(probed()), **others})) as made:
        opinions = await ServerProber(made.connection, TINY, chat=True).probe(HEAD, STEPS, TAIL, range(3), Meter())
    assert [yes_no(opinion) for opinion in opinions] == [pytest.approx([0.6, 0.3])] * 3
    assert made.server.bodies(CHAT)[0]["messages"] == [{"role": "user", "content": "P: one s0 ok?"}]
    assert all(isinstance(body["prompt"], list) for body in made.server.bodies(COMPLETIONS))


async def test_chat_with_a_tokenizer_that_has_no_template_is_refused() -> None:
    async with engines(vllm()) as made:
        with pytest.raises(ConfigError, match="no chat template"):
            ServerProber(made.connection, TINY, tokenizer=PartTokenizer(sentencepiece_tokenizer()), chat=True)


async def test_the_chat_template_of_a_local_tokenizer_is_sent_as_control_tokens() -> None:
    async with engines(vllm()) as made:
        prober = ServerProber(made.connection, TINY, tokenizer=tiny_tokenizer(), chat=True)
        await prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    frame = tiny_tokenizer().chat_frame()
    assert frame is not None
    parts = [frame.before, *HEAD, *STEPS[0], *TAIL, frame.after]
    assert made.server.bodies(COMPLETIONS)[0]["prompt"] == tiny_tokenizer().join(parts)
