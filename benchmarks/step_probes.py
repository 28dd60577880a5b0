"""Counts and ratios of the one-pass judge against one prompt a step, on the embedded model.

    python benchmarks/step_probes.py [--repeats N]

For T steps of s tokens after a head of P tokens, with a question of q tokens: tokens through the model against the
ideal P + T(s + q), the largest difference of logits, and time of separate prompts over time of one packed pass, the
minimum of interleaved repeats in one process.
"""

import argparse
import random
from time import perf_counter

from rich.console import Console
from rich.table import Table

from rafs.engines.loading import load_model
from rafs.engines.packed import Branch, Packed, Strategy, last_logits
from rafs.engines.weights import locate
from rafs.registry import load_registry
from service.settings import load_settings

HEAD, STEP, QUESTION = 80, 40, 16
"""Tokens of problem, step and question."""
STEPS = (8, 16, 32)


def random_trace(n_steps: int, vocabulary: int) -> Packed:
    """Return a trace of random tokens with one question after each step."""
    draw = random.Random(n_steps)
    ids = [draw.randrange(100, vocabulary) for _ in range(HEAD + n_steps * STEP)]
    question = tuple(draw.randrange(100, vocabulary) for _ in range(QUESTION))
    ends = range(HEAD + STEP, len(ids) + 1, STEP)
    return Packed(trunk=tuple(ids), branches=tuple(Branch(leaves_at=end, ids=question) for end in ends))


def main() -> None:
    """Measure and print one row for each number of steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    settings = load_settings()
    source = load_registry(settings.models_file).model("smollm2-135m-instruct").to_source()
    folder = None if source is None else locate(source, settings.cache_dir)
    if folder is None:
        raise SystemExit("the judge is not on this machine: run `rafs models pull`")
    model = load_model(folder, "AutoModelForCausalLM", threads=settings.torch_threads)
    table = Table("steps", "tokens", "ideal", "naive tokens", "max |dlogit|", "time naive / packed")
    for n_steps in STEPS:
        packed = random_trace(n_steps, model.config.vocab_size)
        times = dict.fromkeys((Strategy.NAIVE, Strategy.PACKED), float("inf"))
        found = {}
        for _ in range(repeats):
            for strategy in times:
                started = perf_counter()
                found[strategy] = last_logits(model, packed, strategy)
                times[strategy] = min(times[strategy], perf_counter() - started)
        one, many = found[Strategy.PACKED], found[Strategy.NAIVE]
        table.add_row(
            str(n_steps),
            str(one.tokens),
            str(HEAD + n_steps * (STEP + QUESTION)),
            str(many.tokens),
            f"{float((one.logits - many.logits).abs().max()):.1e}",
            f"{times[Strategy.NAIVE] / times[Strategy.PACKED]:.1f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
