from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

from rafs.contracts import PromptPart
from rafs.engines.label_mass import label_ids
from rafs.engines.prompt_tokens import PartTokenizer, load_tokenizer
from rafs.errors import BackendError
from tests.rafs.engines.tiny_models import CONTROL_TOKENS, tiny_tokenizer
from tests.rafs.engines.tiny_prms import sentencepiece_tokenizer


def control_ids() -> set[int]:
    tokenizer = tiny_tokenizer().tokenizer
    return {tokenizer.convert_tokens_to_ids(token) for token in CONTROL_TOKENS}


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_trusted_text_may_spell_a_control_token(token: str) -> None:
    assert len(tiny_tokenizer().ids(PromptPart(text=token, trusted=True))) == 1


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_untrusted_text_cannot_spell_a_control_token(token: str) -> None:
    assert not control_ids() & set(tiny_tokenizer().ids(PromptPart(text=f"a {token}b")))


pieces = st.lists(st.sampled_from([*CONTROL_TOKENS, "<", "|", "im_end", ">", " ", "x", "<|", "|>"]), max_size=12)


@given(pieces)
def test_no_mixture_of_untrusted_pieces_makes_a_control_token(parts: list[str]) -> None:
    assert not control_ids() & set(tiny_tokenizer().ids(PromptPart(text="".join(parts))))


@given(pieces)
def test_untrusted_text_is_kept_to_the_character(parts: list[str]) -> None:
    text = "".join(parts)
    assert tiny_tokenizer().text(tiny_tokenizer().ids(PromptPart(text=text))) == text


def test_parts_are_joined_as_ids() -> None:
    tokenizer = tiny_tokenizer()
    left, right = PromptPart(text="app"), PromptPart(text="les")
    assert tokenizer.join([left, right]) == tokenizer.ids(left) + tokenizer.ids(right)


def test_a_plain_text_starts_with_what_its_tokenizer_adds() -> None:
    started = PartTokenizer(sentencepiece_tokenizer())
    assert started.ids(started.plain_frame().before) == [started.tokenizer.bos_token_id]
    assert tiny_tokenizer().ids(tiny_tokenizer().plain_frame().before) == []


def test_a_label_is_counted_with_and_without_the_space_that_a_tokenizer_adds() -> None:
    tokenizer = PartTokenizer(sentencepiece_tokenizer())
    spelled = tokenizer.tokenizer.convert_ids_to_tokens(label_ids(tokenizer, "Yes"))
    assert {"▁Yes", "Yes"} <= set(spelled)


def test_a_word_that_the_vocabulary_lacks_is_no_token() -> None:
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({"<unk>": 0, "Yes": 1}, unk_token="<unk>"))
    tokenizer = PartTokenizer(PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>"))
    assert tokenizer.single_ids(["Yes", "Ja", ""]) == (1,)


def test_a_damaged_tokenizer_is_a_backend_error(tmp_path: Path) -> None:
    tiny_tokenizer().tokenizer.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(BackendError, match="no tokenizer in"):
        load_tokenizer(tmp_path)


def test_the_chat_frame_stands_around_the_user_message() -> None:
    frame = tiny_tokenizer().chat_frame()
    assert frame is not None
    assert frame.before.text == "<|im_start|>user\n"
    assert frame.after.text == "<|im_end|>\n<|im_start|>assistant\n"
    assert frame.before.trusted
