"""Files of named arrays: safetensors, which hold numbers and text and nothing that runs."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rafs.errors import BackendError, ConfigError

MAX_BYTES = 64 * 2**20
"""A head is a few MB; a larger file is something else."""
_NOTES = "notes"
"""The one key of the file's own metadata, whose order safetensors leaves to chance."""
Arrays = Mapping[str, NDArray[np.generic]]


def write_arrays(path: Path, arrays: Arrays, notes: Mapping[str, str]) -> None:
    """Write arrays and notes into one file, replacing it as a whole; the same content gives the same bytes."""
    from safetensors.numpy import save_file

    partial = path.with_suffix(".partial")
    save_file(
        {name: np.ascontiguousarray(array) for name, array in arrays.items()},
        partial,
        metadata={_NOTES: json.dumps(dict(notes))},
    )
    partial.replace(path)


def read_arrays(path: Path) -> tuple[Arrays, Mapping[str, str]]:
    """Return what `write_arrays` wrote.

    Raises:
        ConfigError: There is no such file, safetensors is not installed, or the file is too large.
        BackendError: It is damaged.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ConfigError(
            "a trained head needs safetensors, which is not installed: pip install 'rafs[local]'"
        ) from error
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise ConfigError(f"{str(path)!r} has {size} bytes; a trained head has at most {MAX_BYTES}")
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
            return arrays, json.loads((file.metadata() or {}).get(_NOTES, "{}"))
    except OSError as error:
        raise ConfigError(f"cannot read the trained head {str(path)!r}: {error.strerror or error}") from error
    except (SafetensorError, ValueError) as error:
        raise BackendError(f"the trained head {str(path)!r} is damaged: {error}") from error
