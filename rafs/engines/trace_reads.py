"""A causal model's output at some places of one trace, run in slices from what is known of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rafs.engines.exactness import DOES_NOT_RUN, MAX_LOGIT_DIFFERENCE, check_tokens, checked_tokens, random_ids
from rafs.engines.packed import SLICE_TOKENS, Packed, Pass, layer_kinds, pass_inputs, with_cache
from rafs.engines.strategies import head_of

if TYPE_CHECKING:
    import torch
    from transformers import DynamicCache, PreTrainedModel

ROUNDED_DIFFERENCE = 0.02
"""In bfloat16, relative to the largest value: five roundings. It would hide a small window, so that such a model is
sliced only where all its layers see everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceReads:
    """The output at the asked places, and what it cost."""

    rows: "torch.Tensor"
    """(T, V) logits of a model with a language model head, (T, d) hidden states of one without."""
    tokens: int
    passes: int
    cache: "DynamicCache | None"
    """Keys and values of the whole trace, where it was run in slices."""


def read_sliced(
    model: "PreTrainedModel",
    trace: Packed,
    reads: Sequence[int],
    *,
    known: "DynamicCache | None" = None,
    slice_tokens: int = SLICE_TOKENS,
) -> TraceReads:
    """Run what is not known of a trace, in slices, giving way before each.

    Args:
        model: In evaluation mode.
        trace: A trunk without branches.
        reads: Places in the trunk, in order, none of them known.
        known: Cache of the first tokens; it is used up.
        slice_tokens: Bound of the new tokens of one pass.

    Raises:
        BackendError: The trace was abandoned between two passes.
    """
    import torch
    from transformers import DynamicCache

    cache = DynamicCache() if known is None else known
    n_known, end = cache.get_seq_length(), len(trace.trunk)
    rows: list[torch.Tensor] = []
    starts = range(n_known, end, slice_tokens)
    with torch.inference_mode():
        for start in starts:
            trace.pause()
            stop = min(start + slice_tokens, end)
            inputs = pass_inputs(model, trace.trunk, Pass(start=start, stop=stop, branches=()))
            wanted = [read - start for read in reads if start <= read < stop]
            found = _rows(model, inputs, wanted, with_cache(model, cache))
            rows += [found] if wanted else []
    return TraceReads(rows=torch.cat(rows), tokens=end - n_known, passes=len(starts), cache=cache)


def read_whole(model: "PreTrainedModel", trace: Packed, reads: Sequence[int]) -> TraceReads:
    """Run a trace in one pass, with the model's own masks; always right, whatever the architecture."""
    import torch

    trace.pause()
    inputs = {"input_ids": torch.tensor([trace.trunk], device=model.device)}
    with torch.inference_mode():
        rows = _rows(model, inputs, reads, {"use_cache": False})
    return TraceReads(rows=rows, tokens=len(trace.trunk), passes=1, cache=None)


def sliced_limit(model: "PreTrainedModel", max_tokens: int) -> int:
    """Return the longest trace that `read_sliced` reads as `read_whole` does, tried on random tokens; 0 where none.

    Args:
        model: In evaluation mode, in the precision it will run in.
        max_tokens: Longest trace that will be run.
    """
    import torch

    if model.dtype != torch.float32 and layer_kinds(model.config.get_text_config()) != {"full_attention"}:
        return 0
    n = min(check_tokens(model, max_tokens), max_tokens)
    third = n // 3
    trace, reads = Packed(trunk=random_ids(model, n), branches=()), [third, third + 1, n // 2, n - 1]
    expected = read_whole(model, trace, reads).rows.float()
    try:
        first = read_sliced(model, trace, reads, slice_tokens=third)
        assert first.cache is not None, "it was run in slices"
        again = read_sliced(model, trace, reads, known=head_of(first.cache, third), slice_tokens=third)
    except DOES_NOT_RUN:
        return 0
    difference = float((torch.stack([first.rows, again.rows]).float() - expected).abs().max())
    allowed = MAX_LOGIT_DIFFERENCE if model.dtype == torch.float32 else ROUNDED_DIFFERENCE
    is_exact = difference < allowed * max(1.0, float(expected.abs().max()))  # not where it is NaN
    return checked_tokens(model, max_tokens) if is_exact else 0


def _rows(
    model: "PreTrainedModel", inputs: dict[str, Any], reads: Sequence[int], cached: dict[str, Any]
) -> "torch.Tensor":
    """Return the output at `reads`, places in this pass; what it is where there are none says nothing."""
    import torch

    places = torch.tensor(list(reads) or [0], device=model.device)
    if model.get_output_embeddings() is None:
        inputs = {name: value for name, value in inputs.items() if name != "logits_to_keep"}
        hidden: torch.Tensor = model(**inputs, **cached).last_hidden_state
        return hidden[0, places]
    logits: torch.Tensor = model(**{**inputs, "logits_to_keep": places}, **cached).logits
    return logits[0]
