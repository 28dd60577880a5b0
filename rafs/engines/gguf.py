"""Turning a quantised GGUF file, once, into a plain folder that transformers and vLLM load."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from rafs.errors import ConfigError

CONVERSION = "gguf-fp32-1"
"""Part of the cache key; raised when the conversion changes, so that old folders are not taken for new ones."""


def convert_gguf(file: Path, into: Path, progress: Callable[[str], AbstractContextManager[object]]) -> Path:
    """Dequantise `file` into the new folder `into` as fp32 safetensors with its tokenizer, and return `into`.

    fp32 keeps the dequantised values exactly (bf16 would round them); it costs 4 bytes a parameter on disk.

    Raises:
        ConfigError: transformers cannot read this file.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    with progress(f"converting {file.name} to safetensors (once)"):
        try:
            tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name, local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(
                file.parent, gguf_file=file.name, dtype=torch.float32, local_files_only=True
            )
        except (OSError, ValueError, KeyError, NotImplementedError) as error:
            raise ConfigError(f"transformers cannot read the GGUF file {str(file)!r}: {error}") from error
        # Else transformers takes the dequantised weights for quantised ones and refuses to save them.
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(into)
        tokenizer.save_pretrained(into)
    return into
