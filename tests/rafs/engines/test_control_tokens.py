from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.control_tokens import defuse
from tests.rafs.engines.tiny_models import CONTROL_TOKENS


@given(st.lists(st.sampled_from([*CONTROL_TOKENS, "[INST]", "<s>", "</s>", "<", "a"]), max_size=8))
def test_no_control_token_survives_in_untrusted_text(parts: list[str]) -> None:
    text = defuse("".join(parts))
    assert not any(token in text for token in (*CONTROL_TOKENS, "[INST]", "<s>", "</s>"))


def test_plain_comparisons_are_left_alone() -> None:
    assert defuse("3 < 4, 3<4 and [1, 2]") == "3 < 4, 3<4 and [1, 2]"
