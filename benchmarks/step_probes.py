"""The one-pass judge against the floor and against one prompt a step, on the embedded model.

    python benchmarks/step_probes.py [--repeats N]

For T steps of s tokens after a head of P tokens, with a question of q tokens. Tokens through the model against the
ideal P + T(s + q); the largest difference of logits; processor time over that of the floor (one causal pass over as
many tokens) and that of one prompt a step over ours, each the minimum of interleaved repeats in one process; the
exponent of T in our time; and what a step appended to a known trace costs.
"""

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from rafs.engines.exactness import plan_packing
from rafs.engines.loading import load_model
from rafs.engines.packed import Branch, Packed
from rafs.engines.strategies import PromptLogits, Strategy, head_of, last_logits
from rafs.engines.weights import locate
from rafs.registry import load_registry
from service.settings import load_settings

if TYPE_CHECKING:
    from transformers import PreTrainedModel

HEAD, STEP, QUESTION = 80, 40, 16
"""Tokens of problem, step and question."""
STEPS = (8, 16, 32)
REPEATS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCost:
    """What judging a trace of `n_steps` costs; times are seconds of one core."""

    n_steps: int
    strategy: Strategy
    tokens: int
    ideal_tokens: int
    naive_tokens: int
    difference: float
    """Max |logit difference| against one prompt a step."""
    floor_s: float
    chosen_s: float
    naive_s: float
    appended_tokens: int
    """Tokens of one step more, when the trace is known."""
    appended_s: float


def load_embedded() -> "PreTrainedModel":
    """Return the embedded judge's model; exits when it is not on this machine."""
    settings = load_settings()
    source = load_registry(settings.models_file).model("smollm2-135m-instruct").to_source()
    folder = None if source is None else locate(source, settings.cache_dir)
    if folder is None:
        raise SystemExit("the judge is not on this machine: run `rafs models pull`")
    return load_model(folder, "AutoModelForCausalLM", threads=settings.torch_threads)


def random_trace(n_steps: int, vocabulary: int) -> Packed:
    """Return a trace of random tokens with one question after each step."""
    draw = random.Random(n_steps)
    ids = [draw.randrange(100, vocabulary) for _ in range(HEAD + n_steps * STEP)]
    question = tuple(draw.randrange(100, vocabulary) for _ in range(QUESTION))
    ends = range(HEAD + STEP, len(ids) + 1, STEP)
    return Packed(trunk=tuple(ids), branches=tuple(Branch(leaves_at=end, ids=question) for end in ends))


def fastest(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the least processor time of each call, the calls interleaved."""
    least = [math.inf] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            started = process_time()
            call()
            least[place] = min(least[place], process_time() - started)
    return least


def measure(model: "PreTrainedModel", n_steps: int, repeats: int = REPEATS) -> ProbeCost:
    """Judge a random trace by the strategy that is chosen for it, by separate prompts, and at the floor."""
    import torch

    packed = random_trace(n_steps, model.config.vocab_size)
    strategy = plan_packing(model, "embedded").choose(packed.n_tokens)
    chosen, naive = last_logits(model, packed, strategy), list[PromptLogits]()
    floor_ids = torch.tensor([[*packed.trunk, *packed.trunk][: packed.n_tokens]])

    def floor() -> None:
        with torch.inference_mode():
            model(input_ids=floor_ids, use_cache=False, logits_to_keep=n_steps)

    def append() -> PromptLogits:
        assert chosen.trunk_cache is not None, "the embedded model keeps its trunks"
        known = head_of(chosen.trunk_cache, len(packed.trunk) - STEP)
        return last_logits(model, replace(packed, branches=packed.branches[-1:]), strategy, known=known)

    floor_s, chosen_s, naive_s, appended_s = fastest(
        [
            floor,
            lambda: last_logits(model, packed, strategy),
            lambda: naive.append(last_logits(model, packed, Strategy.NAIVE)),
            append,
        ],
        repeats,
    )
    return ProbeCost(
        n_steps=n_steps,
        strategy=strategy,
        tokens=chosen.tokens,
        ideal_tokens=HEAD + n_steps * (STEP + QUESTION),
        naive_tokens=naive[0].tokens,
        difference=float((chosen.logits - naive[0].logits).abs().max()),
        floor_s=floor_s,
        chosen_s=chosen_s,
        naive_s=naive_s,
        appended_tokens=append().tokens,
        appended_s=appended_s,
    )


def exponent(first: ProbeCost, last: ProbeCost) -> float:
    """Return e where our time grows as T ** e."""
    return math.log(last.chosen_s / first.chosen_s) / math.log(last.n_steps / first.n_steps)


def main() -> None:
    """Measure and print one row for each number of steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    model = load_embedded()
    costs = [measure(model, n_steps, repeats) for n_steps in STEPS]
    table = Table(
        "steps", "strategy", "tokens / ideal", "max |dlogit|", "time / floor", "naive / time", "step appended"
    )
    for cost in costs:
        table.add_row(
            str(cost.n_steps),
            cost.strategy,
            f"{cost.tokens} / {cost.ideal_tokens}",
            f"{cost.difference:.1e}",
            f"{cost.chosen_s / cost.floor_s:.2f}",
            f"{cost.naive_s / cost.chosen_s:.1f}",
            f"{cost.appended_tokens} tokens, {1000 * cost.appended_s:.0f} of {1000 * cost.chosen_s:.0f} ms",
        )
    console = Console()
    console.print(table)
    console.print(f"exponent in T: {exponent(costs[0], costs[-1]):.2f}")


if __name__ == "__main__":
    main()
