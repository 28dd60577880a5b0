"""What the model cards of the four families compute, plainly: one whole text, one forward pass, scores by hand.

Each function returns the scores and the number of tokens up to the last one that a score is read from.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.rafs.engines.tiny_prms import QWEN, RLHFLOW, SHEPHERD, SKYWORK

SYSTEM = r"Please reason step by step, and put your final answer within \boxed{}."
Scored = tuple[list[float], int]


def shepherd(folder: Path, problem: str, steps: Sequence[str]) -> Scored:
    import torch

    model, tokenizer = _load(folder, "AutoModelForCausalLM")
    text = f"{problem} " + "\n".join(f"Step {n}: {step} ки" for n, step in enumerate(steps, 1))
    ids = torch.tensor([tokenizer.encode(text)])
    pair = tokenizer.encode("+ -")[1:]
    with torch.inference_mode():
        p = model(ids).logits[0][:, pair].softmax(-1)[:, 0]
    tag = tokenizer.encode("ки")[-1]
    return p[ids[0] == tag].tolist(), ids.shape[1]


def rlhflow(folder: Path, problem: str, steps: Sequence[str]) -> Scored:
    import torch

    model, tokenizer = _load(folder, "AutoModelForCausalLM")
    plus, minus = (tokenizer.encode(sign)[-1] for sign in "+-")
    talk: list[dict[str, str]] = []
    scores, n_tokens = [], 0
    for place, step in enumerate(steps):
        talk.append({"role": "user", "content": step if place else f"{problem} {step}"})
        talk.append({"role": "assistant", "content": "+"})
        ids = tokenizer(tokenizer.apply_chat_template(talk, tokenize=False), add_special_tokens=False)["input_ids"]
        n_tokens = len(ids) - 1 - ids[::-1].index(plus)  # all before the last "+"
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0, n_tokens - 1]
        scores.append(float(logits[[plus, minus]].softmax(-1)[0]))
    return scores, n_tokens


def skywork(folder: Path, problem: str, steps: Sequence[str]) -> Scored:
    import torch

    model, tokenizer = _load(folder, "AutoModel")
    ids = tokenizer.encode(tokenizer.bos_token + problem + "\n")
    ends = []
    for step in steps:
        ids += [*tokenizer.encode(step), tokenizer.encode("\n")[-1]]
        ends.append(len(ids) - 1)
    weights = _weights(folder)
    with torch.inference_mode():
        hidden = model(torch.tensor([ids])).last_hidden_state[0, ends]
        values = hidden @ weights["v_head.summary.weight"].T + weights["v_head.summary.bias"]
    return values[:, 0].sigmoid().tolist(), len(ids)


def qwen(folder: Path, problem: str, steps: Sequence[str]) -> Scored:
    import torch

    model, tokenizer = _load(folder, "AutoModel")
    talk = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": problem},
        {"role": "assistant", "content": "<extra_0>".join(steps) + "<extra_0>"},
    ]
    ids = torch.tensor([tokenizer.encode(tokenizer.apply_chat_template(talk, tokenize=False))])
    weights = _weights(folder)
    at = (ids[0] == tokenizer.convert_tokens_to_ids("<extra_0>")).nonzero()[:, 0]
    with torch.inference_mode():
        hidden = model(ids).last_hidden_state[0, at]
        inner = (hidden @ weights["score.0.weight"].T + weights["score.0.bias"]).relu()
        classes = (inner @ weights["score.2.weight"].T + weights["score.2.bias"]).softmax(-1)
    return classes[:, 1].tolist(), int(at[-1]) + 1


PUBLISHED: Mapping[str, Callable[[Path, str, Sequence[str]], Scored]] = {
    SHEPHERD: shepherd,
    RLHFLOW: rlhflow,
    SKYWORK: skywork,
    QWEN: qwen,
}


def _load(folder: Path, auto_class: str) -> tuple[Any, Any]:
    import transformers

    return getattr(transformers, auto_class).from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


def _weights(folder: Path) -> Any:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")
