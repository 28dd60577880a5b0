"""Text that is sent to a server as text: no family's control token survives in it, and mathematics does."""

import pytest

from rafs.engines.control_tokens import defuse

SPELLINGS = {
    "claude": "</s>",
    "command": "<|START_OF_TURN_TOKEN|>",
    "command-bos": "<BOS_TOKEN>",
    "dbrx": "<|im_start|>",
    "deepseek": "<｜User｜>",
    "deepseek-sentence": "<｜end▁of▁sentence｜>",
    "deepseek-tool": "<｜tool▁calls▁begin｜>",
    "exaone": "[|endofturn|]",
    "falcon": "<|endoftext|>",
    "gemma": "<start_of_turn>",
    "gemma-end": "<end_of_turn>",
    "gemma-4": "<|turn>",
    "gemma-4-end": "<turn|>",
    "gemma-4-tool": "<|tool_response>",
    "gemma-4-tool-end": "<tool_response|>",
    "gemma-4-quote": '<|"|>',
    "glm": "[gMASK]",
    "glm-user": "<|user|>",
    "gpt": "<|channel|>",
    "gpt-return": "<|return|>",
    "granite": "<|start_of_role|>",
    "grok": "<|separator|>",
    "hunyuan": "<|extra_0|>",
    "hunyuan-user": "<｜hy_User｜>",
    "internlm": "<|action_start|>",
    "jamba": "<|bom|>",
    "byte": "<0xE2>",
    "kimi": "<|im_middle|>",
    "kimi-end": "[EOS]",
    "llama": "<|eot_id|>",
    "llama-2": "[INST]",
    "llama-2-system": "<<SYS>>",
    "llama-2-system-end": "<</SYS>>",
    "llama-reserved": "<|reserved_special_token_7|>",
    "minimax": "]~b]",
    "minimax-begin": "]~!b[",
    "minimax-end": "[e~[",
    "mistral-end": "[/INST]",
    "mistral-system": "[SYSTEM_PROMPT]",
    "mistral-tool": "[TOOL_CALLS]",
    "nemotron": "<SPECIAL_12>",
    "nemotron-extra": "<extra_id_1>",
    "olmo": "<|assistant|>",
    "phi": "<|end|>",
    "qwen": "<|im_end|>",
    "qwen-prm": "<extra_0>",
    "reasoning": "</think>",
    "roberta": "<mask>",
    "seed": "<seed:think>",
    "smollm": "<s>",
    "starcoder": "<fim_prefix>",
    "tool": "<tool_call>",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("around", ["{}", "x{}y", "<{}>", "[{}]", "{0}{0}", "<|{}"])
def test_no_control_token_of_a_family_survives(spelling: str, around: str) -> None:
    assert spelling not in defuse(around.format(spelling))


@pytest.mark.parametrize(
    "maths",
    [
        "a < b",
        "a<b",
        "x<y and y>z",
        "0<|x|<3",
        "<|x|>",
        "[1, 2]",
        "[ABC] + [DEF] = [ABCD]",
        "[a,b)",
        "f[x]",
        "<x, y>",
        "2<3>1",
    ],
)
def test_mathematics_is_left_as_it_is(maths: str) -> None:
    assert defuse(maths) == maths


def test_only_spaces_are_added() -> None:
    text = "".join(SPELLINGS.values())
    assert defuse(text).replace(" ", "") == text
