"""Random reward models in the four published formats: the layouts are the examples of models.yaml."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from rafs.engines.prm_layouts import PrmLayout
from rafs.engines.transformers_prm import TransformersRewarder
from rafs.model_entry import ModelEntry
from tests.rafs.engines.tiny_models import CORPUS, TINY

MODELS_YAML = Path(__file__).parents[3] / "models.yaml"
SHEPHERD, RLHFLOW = "math-shepherd-mistral-7b-prm", "llama3.1-8b-prm-deepseek-data"
SKYWORK, QWEN = "skywork-o1-open-prm-qwen-2.5-7b", "qwen2.5-math-prm-7b"
FAMILIES = (SHEPHERD, RLHFLOW, SKYWORK, QWEN)
HEADS: Mapping[str, tuple[tuple[str, int], ...]] = {
    SKYWORK: (("v_head.summary", 1),),
    QWEN: (("score.0", 32), ("score.2", 2)),
}
"""Layers of each published head, and their outputs."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def examples() -> Mapping[str, ModelEntry]:
    """Return the commented examples of models.yaml that have a layout."""
    text = "\n".join(re.findall(r"^  # ?(.*)$", MODELS_YAML.read_text("utf-8"), re.MULTILINE))
    blocks = re.findall(r"^- id:.*\n(?:  .*\n)+", text + "\n", re.MULTILINE)
    entries = [entry for block in blocks for entry in yaml.safe_load(block) if "prm" in entry]
    return {entry["id"]: ModelEntry.model_validate(entry) for entry in entries}


def layout(family: str) -> PrmLayout:
    """Return the layout that models.yaml shows for a family."""
    shown = examples()[family].prm
    assert shown is not None
    return shown.to_layout()


def byte_level_tokenizer() -> Any:
    """A tokenizer as Qwen and Llama 3 have: bytes, cut at spaces and line feeds, control tokens added."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    cut = pre_tokenizers.Split(Regex(r" ?[^\s\d]+|\d|\s*[\r\n]+|\s+(?!\S)|\s+"), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([cut, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=380, initial_alphabet=alphabet, min_frequency=1, show_progress=False)
    tokenizer.train_from_iterator(["? \n system user assistant", *CORPUS], trainer)
    tokenizer.add_special_tokens(["<|end|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("<extra_0>", special=False, normalized=False)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|end|>", eos_token="<|end|>", pad_token="<|end|>"
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def sentencepiece_tokenizer() -> Any:
    """A tokenizer as Mistral 7B has: a space before the text, spaces as marks, line feeds as bytes, `<s>` added."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=special, min_frequency=1, show_progress=False)
    tokenizer.train_from_iterator([" ки ки ки + - Step 1: Step 2: кино", *CORPUS], trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\0", "isolated")  # the published one cuts nowhere
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = spec["added_tokens"][:3]  # bytes are plain tokens, not control tokens
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def save_tiny(family: str, folder: Path, *, window: int = 512, n_heads: int = 4) -> None:
    """Write a random model of a family's format: configuration, safetensors with the published names, tokenizer."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import (
        LlamaConfig,
        LlamaForCausalLM,
        MistralConfig,
        MistralForCausalLM,
        Qwen2Config,
        Qwen2ForCausalLM,
    )

    tokenizer = sentencepiece_tokenizer() if family == SHEPHERD else byte_level_tokenizer()
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": n_heads,
        "num_key_value_heads": max(1, n_heads // 2),
        "initializer_range": 0.3,
        "max_position_embeddings": window,
    }
    torch.manual_seed(0)
    made = {
        SHEPHERD: lambda: MistralForCausalLM(MistralConfig(**settings, sliding_window=None)),
        RLHFLOW: lambda: LlamaForCausalLM(LlamaConfig(**settings)),
    }.get(family, lambda: Qwen2ForCausalLM(Qwen2Config(**settings)))()
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    width, weights = 32, load_file(folder / "model.safetensors")
    for name, n_outputs in HEADS.get(family, ()):
        weights |= {f"{name}.weight": torch.randn(n_outputs, width) / 4, f"{name}.bias": torch.randn(n_outputs)}
        width = n_outputs
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def load_tiny(family: str, folder: Path, **settings: Any) -> TransformersRewarder:
    """Load what `save_tiny` wrote, as the service does."""
    return TransformersRewarder.load(folder, TINY, layout(family), **settings)
