"""The file of a trained head: arrays, and notes that say what it belongs to."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rafs.engines.head_files import read_arrays, write_arrays
from rafs.engines.surprisal import SURPRISAL
from rafs.engines.token_pooler import N_HEADS, shapes
from rafs.errors import BackendError, ConfigError
from verifiers.trained.features import FEATURES
from verifiers.trained.head import Projection, StepHead
from verifiers.trained.trees import Trees

FOLDER = Path(__file__).parent
"""Where the heads that ship with RAFS lie."""
FORMAT = "rafs step head 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseNeeded:
    """What the base of a head has to be."""

    weights_sha256: str
    """Of all weights, by `TransformersStepReader.weights_sha256`."""
    dtype: str
    """Precision in which it was read."""
    layers: tuple[int, ...]
    """Whose states the head looks at."""


def save_head(path: Path, head: StepHead, base: BaseNeeded, about: Mapping[str, str]) -> None:
    """Write a head.

    Args:
        path: A `.safetensors` file; replaced as a whole.
        head: The head.
        base: What it was trained on.
        about: Further notes, such as the data and its licences.
    """
    notes = {
        **about,
        "format": FORMAT,
        "weights_sha256": base.weights_sha256,
        "dtype": base.dtype,
        "layers": json.dumps(base.layers),
        "features": json.dumps(FEATURES),
        "surprisal": json.dumps(SURPRISAL),
        "scalars": json.dumps([head.bias, head.trees_bias, head.intercept, head.slope, head.trees_share]),
    }
    write_arrays(path, _arrays(head), notes)


def load_head(path: Path) -> tuple[StepHead, BaseNeeded]:
    """Read a head and what it needs; nothing in the file is run.

    Args:
        path: What `save_head` wrote; a relative one lies with RAFS.

    Raises:
        ConfigError: There is no such file, or another version of RAFS wrote it.
        BackendError: It is damaged.
    """
    arrays, notes = read_arrays(FOLDER / path)
    expected = {"format": FORMAT, "features": json.dumps(FEATURES), "surprisal": json.dumps(SURPRISAL)}
    for key, value in expected.items():
        if notes.get(key) != value:
            raise ConfigError(
                f"the trained head {str(path)!r} was made by another version of RAFS ({key} differ): train it again"
            )
    try:
        head = _head(arrays, json.loads(notes["scalars"]))
        base = BaseNeeded(
            weights_sha256=notes["weights_sha256"], dtype=notes["dtype"], layers=tuple(json.loads(notes["layers"]))
        )
    except (KeyError, ValueError, TypeError) as error:
        raise BackendError(f"the trained head {str(path)!r} is damaged: {error}") from error
    if not _fits_together(head):
        raise BackendError(f"the trained head {str(path)!r} is damaged: its arrays do not fit together")
    return head, base


def check_base(path: Path, needed: BaseNeeded, weights_sha256: str) -> None:
    """Refuse a base that the head was not trained on: its numbers would look right and mean nothing.

    Raises:
        ConfigError: The hashes differ.
    """
    if weights_sha256 != needed.weights_sha256:
        raise ConfigError(
            f"the trained head {str(path)!r} belongs to a base with weights {needed.weights_sha256[:16]}..., got "
            f"{weights_sha256[:16]}...: pull the model again, or train a head for this one with `rafs train-verifier`"
        )


_TREES = ("column", "threshold", "left", "right", "value")
_PROJECTION = ("mean", "scale", "directions")
_POOLER = "pooler."
_LINEAR = ("mean", "scale", "weights")


def _arrays(head: StepHead) -> dict[str, NDArray[np.generic]]:
    return {
        **{f"trees.{name}": getattr(head.trees, name) for name in _TREES},
        **{f"projection.{name}": getattr(head.projection, name) for name in _PROJECTION},
        **{f"linear.{name}": getattr(head, name) for name in _LINEAR},
        **{f"{_POOLER}{name}": array.astype(np.float16) for name, array in head.pooler.items()},
    }


def _head(arrays: Mapping[str, NDArray[np.generic]], scalars: list[float]) -> StepHead:
    bias, trees_bias, intercept, slope, trees_share = map(float, scalars)
    return StepHead(
        projection=Projection(**{name: arrays[f"projection.{name}"] for name in _PROJECTION}),  # type: ignore[arg-type]
        trees=Trees(**{name: arrays[f"trees.{name}"] for name in _TREES}),  # type: ignore[arg-type]
        **{name: arrays[f"linear.{name}"] for name in _LINEAR},  # type: ignore[arg-type]
        bias=bias,
        trees_bias=trees_bias,
        pooler={
            name.removeprefix(_POOLER): array.astype(np.float32)
            for name, array in arrays.items()
            if name.startswith(_POOLER)
        },
        trees_share=trees_share,
        intercept=intercept,
        slope=slope,
    )


def _fits_together(head: StepHead) -> bool:
    """Say whether the shapes agree, every number is finite, and the trees end."""
    projection, n_columns = head.projection, len(head.mean)
    n_states, n_components = projection.directions.shape if projection.directions.ndim == 2 else (0, 0)
    numbers = (*(getattr(head, name) for name in _LINEAR), *(getattr(projection, name) for name in _PROJECTION))
    numbers += (
        *head.pooler.values(),
        np.array([head.bias, head.trees_bias, head.intercept, head.slope, head.trees_share]),
    )
    width = len(head.pooler.get("norm.bias", ()))
    n_token_states = len(head.pooler.get("state.mean", ()))
    pooler_shapes = {name: array.shape for name, array in head.pooler.items()}
    return (
        n_columns == len(FEATURES) + len(SURPRISAL) + n_components
        and projection.mean.shape == projection.scale.shape == (n_states,)
        and head.mean.shape == head.scale.shape == head.weights.shape
        and all(bool(np.isfinite(array).all()) for array in (*numbers, head.trees.value))
        and bool((head.scale > 0).all() and (projection.scale > 0).all())
        and head.trees.check(n_columns)
        and pooler_shapes == shapes(n_token_states, width)
        and width % N_HEADS == 0
    )
