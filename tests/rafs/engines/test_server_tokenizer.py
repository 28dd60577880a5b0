from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rafs.contracts import PromptPart
from rafs.engines.control_tokens import LOOKS_CONTROL, break_up
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.server_tokenizer import NoTokenizerError, ServedFrame, ServerTokenizer
from rafs.usage import Priority
from tests.rafs.engines.scripted_server import Answer, Reply, at, reply_json, serve
from tests.rafs.engines.served_engines import TOKENIZE, tokenized, tokenized_by
from tests.rafs.engines.tiny_models import CONTROL_TOKENS, tiny_tokenizer
from tests.rafs.engines.tiny_prms import sentencepiece_tokenizer


async def encode(answer: Answer, *parts: PromptPart) -> tuple[list[list[int]], list[Any]]:
    """Return the ids of the parts, and what the server was asked."""
    with serve(answer) as server:
        connection = server.connection()
        try:
            ids = await ServerTokenizer(connection).encode(parts, Priority.SCORE)
        finally:
            await connection.close()
    return [ids[part] for part in parts], server.bodies(TOKENIZE)


def control_ids() -> set[int]:
    return {tiny_tokenizer().tokenizer.convert_tokens_to_ids(token) for token in CONTROL_TOKENS}


async def test_plain_text_has_the_ids_of_a_local_tokenizer() -> None:
    parts = [PromptPart(text="Tom has 3 apples.\n"), PromptPart(text="Is it < 4 [or not]?", trusted=True)]
    ids, _ = await encode(at({TOKENIZE: tokenized}), *parts)
    assert ids == [tiny_tokenizer().ids(part) for part in parts]


async def test_a_trusted_part_keeps_its_control_tokens() -> None:
    ids, _ = await encode(at({TOKENIZE: tokenized}), PromptPart(text="<|im_start|>user\n", trusted=True))
    assert control_ids() & set(ids[0])


async def test_no_part_gets_a_token_that_marks_the_beginning_of_a_text() -> None:
    _, bodies = await encode(at({TOKENIZE: tokenized}), PromptPart(text="a"))
    assert bodies[0]["add_special_tokens"] is False


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=15)
@given(
    st.lists(st.sampled_from([*CONTROL_TOKENS, "<", "|", "im_end", ">", " ", "a", "[INST]"]), min_size=1, max_size=8)
)
async def test_untrusted_text_holds_no_control_token(pieces: list[str]) -> None:
    ids, bodies = await encode(at({TOKENIZE: tokenized}), PromptPart(text="".join(pieces)))
    assert not control_ids() & set(ids[0])
    assert len(bodies) <= 2


async def test_what_spelled_a_control_token_stays_readable() -> None:
    ids, _ = await encode(at({TOKENIZE: tokenized}), PromptPart(text="a <think> b"))
    assert tiny_tokenizer().text(ids[0]) == "a < think> b"


async def test_a_control_token_that_only_the_tokenizer_sees_is_left_out() -> None:
    def normalising(request: Any) -> Reply:
        return reply_json({"tokens": [5, 6], "token_strs": ["a", "<|im_end|>"]})

    ids, _ = await encode(at({TOKENIZE: normalising}), PromptPart(text="a＜|im_end|＞"))
    assert ids == [[5]]


async def test_trusted_parts_are_asked_for_once() -> None:
    with serve(at({TOKENIZE: tokenized})) as server:
        connection = server.connection()
        tokenizer = ServerTokenizer(connection)
        for _ in range(3):
            await tokenizer.encode([PromptPart(text="fixed", trusted=True), PromptPart(text="step")], Priority.SCORE)
        await connection.close()
    assert [body["prompt"] for body in server.bodies(TOKENIZE)].count("fixed") == 1


async def test_an_empty_part_asks_nothing() -> None:
    ids, bodies = await encode(at({TOKENIZE: tokenized}), PromptPart(text=""))
    assert (ids, bodies) == ([[]], [])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(at({}), id="no such path"),
        pytest.param(lambda _: reply_json({"error": "prompt?"}, status=422), id="another request format"),
        pytest.param(lambda _: reply_json({"tokens": [1, 2], "count": 2}), id="no spellings"),
        pytest.param(lambda _: reply_json({"tokens": [1, 2], "token_strs": ["a"]}), id="spellings missing"),
        pytest.param(lambda _: reply_json({"tokens": ["a"], "token_strs": ["a"]}), id="no ids"),
        pytest.param(lambda _: reply_json({"tokens": [-1], "token_strs": ["a"]}), id="a negative id"),
        pytest.param(lambda _: reply_json({"tokens": [], "token_strs": []}), id="nothing"),
    ],
)
async def test_a_server_that_does_not_spell_its_tokens_has_no_tokenizer(answer: Answer) -> None:
    with pytest.raises(NoTokenizerError):
        await encode(answer, PromptPart(text="a"), PromptPart(text="b"))


async def frame(answer: Answer, *, chat: bool) -> tuple[ServedFrame, list[Any]]:
    """Return what the server puts around a prompt, and what it was asked in two calls."""
    with serve(answer) as server:
        connection = server.connection()
        tokenizer = ServerTokenizer(connection)
        try:
            found = [await tokenizer.frame(chat, Priority.SCORE) for _ in range(2)]
        finally:
            await connection.close()
    assert found[0] == found[1]
    return found[0], server.bodies(TOKENIZE)


@pytest.mark.parametrize(
    ("local", "chat"),
    [
        pytest.param(PartTokenizer(sentencepiece_tokenizer()), False, id="a text that starts with a token"),
        pytest.param(tiny_tokenizer(), False, id="a text that starts with none"),
        pytest.param(tiny_tokenizer(), True, id="a chat"),
    ],
)
async def test_what_stands_around_a_prompt_is_what_a_local_tokenizer_puts_there(
    local: PartTokenizer, chat: bool
) -> None:
    expected = local.chat_frame() if chat else local.plain_frame()
    assert expected is not None
    found, bodies = await frame(at({TOKENIZE: tokenized_by(local)}), chat=chat)
    assert found == ServedFrame(before=tuple(local.ids(expected.before)), after=tuple(local.ids(expected.after)))
    assert len(bodies) == 4  # asked once


@pytest.mark.parametrize(
    ("framed", "bare"),
    [
        pytest.param([[1, 5, 9], [1, 6, 8]], [[5], [6]], id="different ends"),
        pytest.param([[1, 7, 9], [1, 8, 9]], [[5], [6]], id="tokens that reach over the seam"),
        pytest.param([[], []], [[5], [6]], id="nothing"),
    ],
)
async def test_a_frame_that_depends_on_the_prompt_is_none(framed: list[list[int]], bare: list[list[int]]) -> None:
    left = iter([*bare, *framed])

    def answer(_: Any) -> Reply:
        ids = next(left)
        return reply_json({"tokens": ids, "token_strs": ["x"] * len(ids)})

    with pytest.raises(NoTokenizerError):
        await frame(answer, chat=False)


@given(
    st.text("<|im_end>s[]/ ", max_size=30),
    st.sets(st.sampled_from(["<|im_end|>", "<s>", "</s>", "[INST]"]), min_size=1),
)
def test_broken_up_text_spells_none_of_them(text: str, spelled: set[str]) -> None:
    assert not any(each in break_up(text, spelled) for each in spelled)


@pytest.mark.parametrize("token", [*CONTROL_TOKENS, "</s>", "[INST]", "<｜User｜>", "[|assistant|]", "<unused7>"])
def test_a_control_token_is_known_by_its_spelling(token: str) -> None:
    assert LOOKS_CONTROL.fullmatch(token)
