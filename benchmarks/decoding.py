"""Continuing M edits of one trace in one batch against M calls of transformers' own generate, on the embedded model.

    python benchmarks/decoding.py [--repeats N]

Tokens of the prefill against one trunk + M s', whether the greedy fp32 tokens are the same, and processor time of the
M calls over that of the batch, each the minimum of interleaved repeats in one process.
"""

import argparse
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.step_probes import REPEATS, fastest, load_embedded
from rafs.engines.decoding import Decoded, DecodeJob, Decoding, Row, decode
from rafs.engines.row_cache import Prefill, prefill_tokens

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TRUNK, STEP, EDITED_STEP, NEW = 280, 40, 24, 32
"""Tokens of problem and steps, of one step, of an edited step, and of what is drawn."""
EDITS = (3, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeCost:
    """What continuing `n_edits` edits of one trace costs; times are seconds of one core."""

    n_edits: int
    prefill_tokens: int
    ideal_tokens: int
    naive_tokens: int
    same_rows: int
    """Edits whose tokens are those that generate draws."""
    batch_s: float
    calls_s: float


def edited_prompts(n_edits: int, vocabulary: int) -> list[tuple[int, ...]]:
    """Return prompts that leave one random trace at different steps."""
    draw = random.Random(n_edits)

    def ids(n: int) -> tuple[int, ...]:
        return tuple(draw.randrange(100, vocabulary) for _ in range(n))

    trunk = ids(TRUNK)
    return [(*trunk[: TRUNK - STEP * (place % 4)], *ids(EDITED_STEP)) for place in range(n_edits)]


def measure(model: "PreTrainedModel", n_edits: int, repeats: int = REPEATS) -> DecodeCost:
    """Draw greedily after every edit, in one batch and in a call for each."""
    import torch

    prompts = edited_prompts(n_edits, model.config.vocab_size)
    job = DecodeJob(rows=tuple(Row(prompt=prompt, seed=0, max_new_tokens=NEW) for prompt in prompts))
    how = Decoding(temperature=0.0, end_ids=frozenset(), prefill=Prefill.SHARED)
    together: list[Decoded] = []
    alone: list[list[int]] = []

    def generate() -> None:
        alone.clear()
        for prompt in prompts:
            ids = torch.tensor([prompt])
            mask = torch.ones_like(ids)
            drawn = model.generate(  # type: ignore[operator]
                ids, attention_mask=mask, do_sample=False, max_new_tokens=NEW, min_new_tokens=NEW, eos_token_id=None
            )
            alone.append(drawn[0, len(prompt) :].tolist())

    batch_s, calls_s = fastest([lambda: together.extend(decode(model, [job], how)), generate], repeats)
    return DecodeCost(
        n_edits=n_edits,
        prefill_tokens=prefill_tokens(prompts, Prefill.SHARED),
        ideal_tokens=TRUNK + n_edits * EDITED_STEP,
        naive_tokens=prefill_tokens(prompts, Prefill.ALONE),
        same_rows=sum(list(row) == text for row, text in zip(together[0].rows, alone, strict=True)),
        batch_s=batch_s,
        calls_s=calls_s,
    )


def main() -> None:
    """Measure and print one row for each number of edits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    model = load_embedded()
    table = Table("edits", "prefill / ideal (separate)", "same greedy tokens", "time of calls / batch")
    for n_edits in EDITS:
        cost = measure(model, n_edits, repeats)
        table.add_row(
            str(n_edits),
            f"{cost.prefill_tokens} / {cost.ideal_tokens} ({cost.naive_tokens})",
            f"{cost.same_rows} of {n_edits}",
            f"{cost.calls_s / cost.batch_s:.1f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
