import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.contracts import PromptPart
from tests.rafs.engines.tiny_models import CONTROL_TOKENS, tiny_tokenizer


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


def test_the_chat_frame_stands_around_the_user_message() -> None:
    frame = tiny_tokenizer().chat_frame()
    assert frame is not None
    assert frame.before.text == "<|im_start|>user\n"
    assert frame.after.text == "<|im_end|>\n<|im_start|>assistant\n"
    assert frame.before.trusted
