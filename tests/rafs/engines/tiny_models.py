"""Models small enough to be made in a test: right in shape, random in what they say."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

from rafs.engines.prompt_tokens import PartTokenizer
from rafs.types import ModelIdentity

TINY = ModelIdentity(id="tiny", family="tiny", revision="random")
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CONTROL_TOKENS = ("<|end|>", "<|im_start|>", "<|im_end|>", "<think>")
CORPUS = [
    "Yes No Yes No yes no Is the last step correct? Answer Yes or No.",
    "Tom has 3 apples and buys 4 more, so he has 3 + 4 = 7 apples.",
    "Each box holds 12 pencils; 5 boxes hold 60 pencils. Half of them are red.",
]


@cache
def tiny_tokenizer() -> PartTokenizer:
    """A byte-level BPE tokenizer; `<think>` is an added token that is not marked special."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=alphabet,
        special_tokens=list(CONTROL_TOKENS[:3]),
        min_frequency=1,
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    tokenizer.add_tokens([AddedToken("<think>", special=False, normalized=False)])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    fast.chat_template = CHAT_TEMPLATE
    return PartTokenizer(fast)


def tiny_llama(**changes: Any) -> Any:
    """A random two-layer Llama in fp32, over the tiny tokenizer's vocabulary; two heads share each key."""
    return _random("Llama", **changes)


def tiny_sliding_mistral(window: int, **changes: Any) -> Any:
    """A random Mistral whose layers see only `window` tokens."""
    return _random("Mistral", sliding_window=window, **changes)


def tiny_mixed_gemma3(window: int) -> Any:
    """A random Gemma 3: a layer that sees `window` tokens, and one that sees all."""
    kinds = ["sliding_attention", "full_attention"]
    return _random("Gemma3", "Gemma3TextConfig", sliding_window=window, layer_types=kinds, head_dim=8)


def tiny_chunked_llama4(chunk: int) -> Any:
    """A random Llama 4: a layer that sees its own chunk of the text alone, and one that sees all."""
    kinds, sizes = ["chunked_attention", "full_attention"], {"head_dim": 8, "intermediate_size_mlp": 48}
    experts = {"num_local_experts": 2, "no_rope_layers": [1, 0]}
    return _random("Llama4", "Llama4TextConfig", attention_chunk_size=chunk, layer_types=kinds, **sizes, **experts)


def tiny_eager_gemma2(window: int) -> Any:
    """A random Gemma 2: layers as in Gemma 3, its attention adds the mask instead of applying it."""
    return _random("Gemma2", sliding_window=window, head_dim=8)


def tiny_local_gpt_neo(window: int) -> Any:
    """A random GPT-Neo: a layer that sees all, and one whose own mask counts `window` places back, not positions."""
    return _random("GPTNeo", attention_types=[[["global", "local"], 1]], num_layers=2, num_heads=4, window_size=window)


def tiny_recurrent_gemma() -> Any:
    """A random Recurrent Gemma: its recurrent layers keep their state in themselves, not in the cache."""
    return _random("RecurrentGemma", num_hidden_layers=3, lru_width=32, attention_window_size=16)


def tiny_rwkv() -> Any:
    """A random RWKV: its state is an argument of its own, and a cache that it is given is not used."""
    return _random("Rwkv", attention_hidden_size=32)


def tiny_bloom() -> Any:
    """A random Bloom: it knows positions by the distance between tokens and takes no position ids."""
    return _random("Bloom", n_layer=2, n_head=4)


def tiny_lfm2() -> Any:
    """A random hybrid of attention and short convolutions, whose states can be cut."""
    return _random("Lfm2", layer_types=["conv", "full_attention"])


def tiny_hybrid() -> Any:
    """A random Falcon H1: each layer has attention and a recurrent state, which cannot be cut."""
    sizes: dict[str, Any] = {
        "mamba_d_ssm": 32,
        "mamba_n_heads": 4,
        "mamba_d_head": 8,
        "mamba_d_state": 8,
        "mamba_n_groups": 1,
    }
    return _random("FalconH1", **sizes)


def tiny_mamba() -> Any:
    """A random state-space model: nothing that a mask could steer, and its cache takes one token at a time."""
    return _random("Mamba", state_size=4, hidden_size=16)


def _random(family: str, config: str = "", **changes: Any) -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    settings = {"max_position_embeddings": 512, **_SMALL, **changes}
    made = getattr(transformers, config or f"{family}Config")(**settings)
    return getattr(transformers, f"{family}ForCausalLM")(made).eval()


def tiny_classifier(labels: Sequence[str]) -> Any:
    """A random BERT classifier with these labels, in this order."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=_SMALL["vocab_size"],
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    config.id2label = dict(enumerate(labels))
    config.num_labels = len(labels)
    return BertForSequenceClassification(config).eval()


_SMALL = {
    "vocab_size": 401,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "initializer_range": 0.3,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
"""Weights of 0.3, not 0.02: logits then differ enough that a wrong mask shows."""
