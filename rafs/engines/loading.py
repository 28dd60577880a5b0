"""Loading transformers models for inference on the CPU, threads set explicitly."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rafs.errors import BackendError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Precision = Literal["float32", "bfloat16"]

DEFAULT_THREADS = 1
"""torch's own default is every core; with other work on those cores its barriers wait for descheduled threads, and
two spinning threads were measured five times slower than one. More is worth setting where cores are free."""


def set_threads(threads: int) -> None:
    """Set torch's threads, and let idle ones sleep instead of spinning where torch is not loaded yet.

    Process-wide, as torch has it.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    import torch

    torch.set_num_threads(threads)


def load_model(folder: Path, auto_class: str, *, threads: int = DEFAULT_THREADS) -> "PreTrainedModel":
    """Load a local model folder in fp32 for inference.

    Args:
        folder: Holds config.json and safetensors.
        auto_class: Name in transformers, such as `AutoModelForCausalLM`.
        threads: For torch, process-wide.

    Raises:
        BackendError: The folder is missing or transformers cannot load it.
    """
    set_threads(threads)
    import torch
    import transformers
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    loader: Any = getattr(transformers, auto_class)
    try:
        # sdpa: eager attention adds a boolean mask as numbers and is silently wrong.
        model: PreTrainedModel = loader.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="sdpa", local_files_only=True
        )
    except (OSError, ValueError, KeyError) as error:
        raise BackendError(f"cannot load a model from {str(folder)!r}: {error}") from error
    return model.eval()
