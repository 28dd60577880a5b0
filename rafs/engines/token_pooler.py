"""A small trained network over a trace's token states: attention from the end of each step to its tokens and prefix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Weights = Mapping[str, NDArray[np.float32]]
N_HEADS = 4
N_SIGNS = 5
"""Beside its state a token shows log p, entropy, their sum, whether it is a digit, and log p if so."""
STATE_LIMIT = 8.0
"""Deviations beyond which a state is read as that many: a few dimensions of a language model are huge."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenStates:
    """One trace as the pooler reads it."""

    states: NDArray[np.float16]
    """Of one layer, shape (n_tokens, d)."""
    signs: NDArray[np.float32]
    """See `N_SIGNS`; zeros for the problem, shape (n_tokens, N_SIGNS)."""
    body: int
    """Where the first step starts."""
    ends: NDArray[np.int32]
    """Where the mark of each step stands."""


def read_signs(
    log_p: NDArray[np.float32], entropy: NDArray[np.float32], is_digit: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return what tokens show beside their states, each of about unit size, shape (n_tokens, N_SIGNS)."""
    rows = [log_p / 4, entropy / 3, (log_p + entropy) / 4, is_digit, is_digit * log_p / 4]
    return np.stack(rows, axis=1).astype(np.float32)


def pool(weights: "Mapping[str, torch.Tensor]", trace: TokenStates, dropout: float = 0.0) -> "torch.Tensor":
    """Return the log-odds of each step's being wrong, shape (n_steps,); that of a step hangs on no later token.

    x_i = LayerNorm(W [state_i; signs_i] + place_i); for the mark e of a step that starts at s, three views of it, x_e,
    attention from x_e over x_s..x_e, and over x_0..x_e, and the mean of x_s..x_e, go through one hidden layer.

    Args:
        weights: See `initial_weights`.
        trace: The trace.
        dropout: Share of the inputs and of the views that is left out, in training.
    """
    import torch
    from torch.nn.functional import dropout as drop
    from torch.nn.functional import gelu, layer_norm, linear

    device = weights["in.weight"].device
    states = torch.from_numpy(np.asarray(trace.states, dtype=np.float32)).to(device)
    states = ((states - weights["state.mean"]) / weights["state.scale"]).clamp(-STATE_LIMIT, STATE_LIMIT)
    signs = torch.from_numpy(trace.signs).to(device)
    n, ends = len(states), torch.from_numpy(trace.ends.astype(np.int64)).to(device)
    at = torch.arange(n, device=device)
    place = (at >= trace.body).long()
    place[ends] = 2
    x = linear(torch.cat([drop(states, dropout / 2), signs], dim=1), weights["in.weight"], weights["in.bias"])
    x = layer_norm(x + weights["place"][place], x.shape[1:], weights["norm.weight"], weights["norm.bias"])  # (n, d)
    starts = torch.cat([torch.tensor([trace.body], device=device), ends[:-1] + 1])
    before = at <= ends[:, None]  # (n_steps, n)
    own = before & (at >= starts[:, None])
    mean = own.float() @ x / own.sum(dim=1, keepdim=True)
    views = torch.cat(
        [x[ends], _attend(weights, "own", x, ends, own), _attend(weights, "all", x, ends, before), mean], 1
    )
    hidden = gelu(linear(drop(views, dropout), weights["hidden.weight"], weights["hidden.bias"]))
    return linear(hidden, weights["out.weight"], weights["out.bias"])[:, 0]


def _attend(
    weights: "Mapping[str, torch.Tensor]", name: str, x: "torch.Tensor", ends: "torch.Tensor", mask: "torch.Tensor"
) -> "torch.Tensor":
    """Return attention from the ends of the steps over what the mask (n_steps, n) lets each see, (n_steps, d)."""
    from torch.nn.functional import linear, scaled_dot_product_attention

    def heads(rows: "torch.Tensor") -> "torch.Tensor":
        return rows.view(len(rows), N_HEADS, -1).transpose(0, 1)  # (heads, rows, d / heads)

    query = linear(x[ends], weights[f"{name}.query.weight"], weights[f"{name}.query.bias"])
    key, value = linear(x, weights[f"{name}.keys.weight"], weights[f"{name}.keys.bias"]).chunk(2, dim=1)
    found = scaled_dot_product_attention(heads(query), heads(key), heads(value), attn_mask=mask[None])
    return found.transpose(0, 1).reshape(len(ends), -1)


def score(weights: Weights, trace: TokenStates) -> Sequence[float]:
    """Return the log-odds of each step, from weights as an artefact holds them."""
    import torch

    with torch.inference_mode():
        tensors = {name: torch.from_numpy(np.asarray(array, dtype=np.float32)) for name, array in weights.items()}
        return [float(value) for value in pool(tensors, trace)]


def shapes(n_states: int, width: int) -> Mapping[str, tuple[int, ...]]:
    """Return the shape of every weight, for states of `n_states` and an inner width."""
    attention = {
        f"{name}.{part}.{kind}": (rows, width) if kind == "weight" else (rows,)
        for name in ("own", "all")
        for part, rows in (("query", width), ("keys", 2 * width))
        for kind in ("weight", "bias")
    }
    return {
        "state.mean": (n_states,),
        "state.scale": (n_states,),
        "in.weight": (width, n_states + N_SIGNS),
        "in.bias": (width,),
        "place": (3, width),
        "norm.weight": (width,),
        "norm.bias": (width,),
        **attention,
        "hidden.weight": (width, 4 * width),
        "hidden.bias": (width,),
        "out.weight": (1, width),
        "out.bias": (1,),
    }
