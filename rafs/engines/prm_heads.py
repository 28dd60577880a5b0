"""The score head of a process reward model, read from its checkpoint by name: no remote code, no pickle."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rafs.engines.prm_layouts import HeadSpec
from rafs.errors import BackendError

if TYPE_CHECKING:
    import torch

MAX_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHead:
    """Linear layers with ReLU between them, in fp32."""

    spec: HeadSpec
    layers: "tuple[tuple[torch.Tensor, torch.Tensor | None], ...]"
    """(weight (out, in), bias (out)) of each."""

    def scores(self, hidden: "torch.Tensor") -> "torch.Tensor":
        """Return P(correct), shape (T,), for hidden states of shape (T, d)."""
        import torch

        rows = hidden.float()
        for place, (weight, bias) in enumerate(self.layers):
            rows = torch.nn.functional.linear(rows.relu() if place else rows, weight, bias)  # (T, out)
        if self.spec.output == "sigmoid":
            return rows[:, 0].sigmoid()
        return rows.softmax(dim=-1)[:, list(self.spec.classes)].sum(dim=-1)


def load_head(folder: Path, spec: HeadSpec, width: int, device: "torch.device | str" = "cpu") -> ScoreHead:
    """Read the layers of `spec` from the safetensors in a folder.

    Args:
        folder: The model's.
        spec: Names of the layers, and what their output is.
        width: Of the model's hidden states.
        device: Where the model runs.

    Raises:
        BackendError: A layer is missing, or its shape does not fit.
    """
    weights = [f"{layer}.weight" for layer in spec.layers]
    biases = [f"{layer}.bias" for layer in spec.layers]
    found = {name: tensor.to(device) for name, tensor in _read_tensors(folder, [*weights, *biases]).items()}
    for place, name in enumerate(weights):
        shape = tuple(found[name].shape)
        least, most = _n_outputs(spec) if place == len(weights) - 1 else (1, math.inf)
        if len(shape) != 2 or shape[1] != width or not least <= shape[0] <= most:
            allowed = f"({least if most == least else f'{least} or more'}, {width})"
            raise BackendError(f"{str(folder)!r}: tensor {name!r} has shape {shape}, allowed {allowed}")
        bias = found.get(biases[place])
        if bias is not None and tuple(bias.shape) != shape[:1]:
            raise BackendError(
                f"{str(folder)!r}: tensor {biases[place]!r} has shape {tuple(bias.shape)}, allowed {shape[:1]}"
            )
        width = shape[0]
    layers = tuple((found[name], found.get(bias)) for name, bias in zip(weights, biases, strict=True))
    return ScoreHead(spec=spec, layers=layers)


def _n_outputs(spec: HeadSpec) -> tuple[int, float]:
    """Return the least and the most outputs that the last layer may have."""
    return (1, 1) if spec.output == "sigmoid" else (max(1, *spec.classes) + 1, math.inf)


def _read_tensors(folder: Path, wanted: Sequence[str]) -> "dict[str, torch.Tensor]":
    """Return the wanted tensors in fp32; a bias may be missing."""
    from safetensors import SafetensorError, safe_open

    found: dict[str, torch.Tensor] = {}
    others: set[str] = set()
    try:
        for file in sorted(folder.glob("*.safetensors")):
            with safe_open(file, framework="pt") as tensors:
                names = set(tensors.keys())
                found |= {name: tensors.get_tensor(name).float() for name in names.intersection(wanted)}
                others |= {name for name in names if not name.startswith("model.")}
    except (OSError, SafetensorError) as error:
        raise BackendError(f"cannot read the score head in {str(folder)!r}: {error}") from error
    if missing := [name for name in wanted if name.endswith(".weight") and name not in found]:
        shown = ", ".join(sorted(others)[:MAX_NAMES_SHOWN]) or "no other"
        raise BackendError(f"{str(folder)!r} has no tensor {missing[0]!r}; beside the model's own it has {shown}")
    return found
