"""Loading transformers models for inference, CPU threads set explicitly."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rafs.engines.tall_linear import speed_up_few_rows
from rafs.errors import BackendError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Precision = Literal["float32", "bfloat16"]

DEFAULT_THREADS = 1
"""torch's own default is every core; with other work on those cores its barriers wait for descheduled threads, and
two spinning threads were measured five times slower than one. More is worth setting where cores are free."""

MAX_WINDOW_TOKENS = 8192
"""Bound of one prompt, for memory, where a model's own window is larger or it has none."""


def set_threads(threads: int) -> None:
    """Set torch's threads, and let idle ones sleep instead of spinning where torch is not loaded yet.

    Process-wide, as torch has it.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    import torch

    torch.set_num_threads(threads)


def load_model(
    folder: Path, auto_class: str, *, threads: int = DEFAULT_THREADS, dtype: Precision = "float32"
) -> "PreTrainedModel":
    """Load a local model folder for inference, without running code from it or unpickling.

    Args:
        folder: Holds config.json and safetensors.
        auto_class: Name in transformers, such as `AutoModelForCausalLM`.
        threads: For torch, process-wide.
        dtype: Precision of the weights.

    Raises:
        BackendError: The folder is missing, transformers cannot load it, or it lacks weights of that class.
    """
    set_threads(threads)
    import torch
    import transformers
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()  # what its report says of missing weights is checked below
    loader: Any = getattr(transformers, auto_class)
    try:
        model: PreTrainedModel
        model, report = loader.from_pretrained(
            folder,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except Exception as error:  # Whatever a damaged or foreign folder makes its many readers raise, or no memory.
        raise BackendError(f"cannot load a model from {str(folder)!r}: {error}") from error
    # transformers fills what is missing with random numbers; a pooler that a folder lacks is one that nothing reads.
    if missing := sorted(key for key in report["missing_keys"] if not key.startswith("pooler.")):
        raise BackendError(
            f"the weights in {str(folder)!r} lack {missing[0]!r} ({len(missing)} missing) of {auto_class}"
        )
    speed_up_few_rows(model)
    return model.eval()


def onto_device(model: "PreTrainedModel") -> "PreTrainedModel":
    """Move a model to CUDA where torch has it, for engines that put their inputs where the model is.

    Raises:
        BackendError: It does not fit there.
    """
    import torch

    try:
        moved: PreTrainedModel = model.to("cuda") if torch.cuda.is_available() else model
    except RuntimeError as error:
        raise BackendError(f"cannot move a model of {model.num_parameters()} parameters to CUDA: {error}") from error
    return moved


def window_tokens(model: "PreTrainedModel") -> int:
    """Return the bound of one prompt: the model's own window, where it has one and it is not larger than ours.

    A model with other positions for long prompts (LongRoPE) is kept to the short ones: the keys of a trunk would be
    wrong for one of two prompts that share it.
    """
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    long = rope.get("original_max_position_embeddings") if rope.get("rope_type") == "longrope" else None
    own = long or getattr(config, "max_position_embeddings", None)
    return min(int(own or MAX_WINDOW_TOKENS), MAX_WINDOW_TOKENS)
