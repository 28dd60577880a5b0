"""Training the network of `token_pooler` on labelled steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rafs.engines.token_pooler import TokenStates, Weights, pool, shapes

if TYPE_CHECKING:
    import torch

TRACES_A_STEP = 12
"""Traces whose gradients are summed; they run one by one, so that none is padded."""
WARM_UP = 0.15
"""Share of the training in which the rate rises."""
MAX_GRADIENT = 1.0
PLACE_SCALE = 0.1
LEAST_SCALE = 1e-3
SAMPLED_EVERY = 8
"""Of so many tokens one is looked at for mean and scale: all of them in fp32 are gigabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolerRecipe:
    """Settings of a training."""

    seed: int = 0
    width: int = 64
    epochs: int = 6
    rate: float = 2e-3
    decay: float = 0.05
    dropout: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledStates:
    """A trace and what is known of its steps."""

    trace: TokenStates
    wrong: NDArray[np.int8]
    """1 wrong, 0 right, -1 not known, shape (n_steps,)."""
    weights: NDArray[np.float32]
    """Of each step in the loss, shape (n_steps,)."""
    offset: NDArray[np.float32]
    """Log-odds of each step by what else is known of it, shape (n_steps,): the network learns what they lack."""


def train_pooler(traces: Sequence[LabelledStates], recipe: PoolerRecipe) -> Weights:
    """Return weights that minimise the cross-entropy of the labelled steps, by AdamW with a rate that rises and falls.

    The same traces and recipe give the same weights on one machine. Source: Loshchilov and Hutter 2019,
    "Decoupled Weight Decay Regularization", arXiv:1711.05101.
    """
    import torch

    learned = [one for one in traces if (one.wrong >= 0).any()]
    generator = np.random.default_rng(recipe.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        weights = _initial(learned, recipe)
        trained = [tensor for name, tensor in weights.items() if not name.startswith("state.")]
        optimizer = torch.optim.AdamW(trained, lr=recipe.rate, weight_decay=recipe.decay)
        n_steps = recipe.epochs * math.ceil(len(learned) / TRACES_A_STEP)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, recipe.rate, total_steps=max(2, n_steps), pct_start=WARM_UP
        )
        for _ in range(recipe.epochs):
            order = generator.permutation(len(learned))
            for start in range(0, len(order), TRACES_A_STEP):
                batch = [learned[place] for place in order[start : start + TRACES_A_STEP]]
                optimizer.zero_grad()
                _loss(weights, batch, recipe.dropout).backward()
                torch.nn.utils.clip_grad_norm_(trained, MAX_GRADIENT)
                optimizer.step()
                schedule.step()
    return {name: tensor.detach().numpy().astype(np.float32) for name, tensor in weights.items()}


def _loss(weights: "dict[str, torch.Tensor]", batch: Sequence[LabelledStates], dropout: float) -> "torch.Tensor":
    """Return the weighted mean of the cross-entropy over the labelled steps of some traces."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    total, weight = torch.zeros(()), 0.0
    for one in batch:
        known = one.wrong >= 0
        odds = (pool(weights, one.trace, dropout) + torch.from_numpy(one.offset))[torch.from_numpy(known)]
        target, each = torch.from_numpy(one.wrong[known]).float(), torch.from_numpy(one.weights[known])
        total = total + binary_cross_entropy_with_logits(odds, target, weight=each, reduction="sum")
        weight += float(each.sum())
    return total / max(weight, LEAST_SCALE)


def _initial(traces: Sequence[LabelledStates], recipe: PoolerRecipe) -> "dict[str, torch.Tensor]":
    """Return the weights before training: the states' own mean and scale, and random ones as torch draws a layer's."""
    import torch

    states = np.concatenate([one.trace.states[::SAMPLED_EVERY].astype(np.float32) for one in traces])
    found: dict[str, torch.Tensor] = {
        "state.mean": torch.from_numpy(states.mean(axis=0)),
        "state.scale": torch.from_numpy(states.std(axis=0) + LEAST_SCALE),
    }
    wanted = shapes(states.shape[1], recipe.width)
    for name, shape in wanted.items():
        if name in found:
            continue
        if name == "norm.weight":
            tensor = torch.ones(shape)
        elif name == "norm.bias":
            tensor = torch.zeros(shape)
        elif name == "place":
            tensor = PLACE_SCALE * torch.randn(shape)
        else:
            bound = 1 / math.sqrt(
                wanted[name.removesuffix("bias") + "weight"][1] if name.endswith("bias") else shape[1]
            )
            tensor = bound * (2 * torch.rand(shape) - 1)
        found[name] = tensor.requires_grad_()
    return found
