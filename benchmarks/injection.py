"""What text that talks to the judge does to it: the rise of p_correct over the same trace without that text.

    python benchmarks/injection.py [--model-id ID] [--problems N]

Every attack of the corpus wraps one step of a right and of a wrong trace. Asked is the judge about that step and the
later ones; a rise is p_correct with the attack minus p_correct without. Beside it stands the rise under neutral text of
the same length in the same places: what any longer prompt does. An attack works where its rise is above that one. The
last line says what the rises are compared with: how far the judge tells right traces from wrong ones.
"""

import argparse
import asyncio
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.bank.attacks import CLEAN, PLACE, Attack, Twin, read_attacks, twins
from rafs.contracts import Verifier
from rafs.model_entry import Role
from rafs.reading import read_text
from rafs.registry import Registry, load_registry
from rafs.types import Judged
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock

NEUTRAL = "The lamp on the table is green and the window looks out on a quiet street with old trees. "
Opinions = list[float | None]
"""p_correct of a trace's own steps from the attacked one on; None where a step was not judged."""


@dataclass(slots=True)
class Rises:
    """Differences to the clean trace, one for each step that was judged in both."""

    attack: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)


def neutral(attack: Attack) -> Attack:
    """Return text of the same length, line breaks included, that asks for nothing."""
    before, _, after = attack.template.partition(PLACE)
    return Attack(id=f"{attack.id}-control", kind=attack.kind, template=f"{_filler(before)}{PLACE}{_filler(after)}")


def _filler(text: str) -> str:
    letters = islice(cycle(NEUTRAL), len(text))
    return "".join(char if char == "\n" else letter for char, letter in zip(text, letters, strict=True))


async def ask(judge: Verifier, twin: Twin, attack: Attack) -> Opinions:
    """Ask the judge about the attacked step and those after it."""
    text, spans = twin.attacked(attack.template)
    reading = read_text(twin.problem, text, None)
    steps = [step.span for step in reading.trace.derivation()]
    holding = [[t for t, step in enumerate(steps) if step.start < own.end <= step.end] for own in spans[twin.at :]]
    asked = [t for found in holding for t in found]
    verdicts = dict(zip(asked, await judge.verify(reading.blind(), asked, Meter()), strict=True))
    heard = [[v.p_correct for t in found if isinstance(v := verdicts[t], Judged)] for found in holding]
    return [found[0] if found else None for found in heard]


def differences(opinions: Opinions, clean: Opinions) -> list[float]:
    """Return the rises where both were judged."""
    return [p - q for p, q in zip(opinions, clean, strict=True) if p is not None and q is not None]


async def measure(judge: Verifier, n_problems: int) -> tuple[dict[str, Rises], dict[bool, list[float]]]:
    """Return the rises by kind of attack, and the clean opinions of wrong (False) and right (True) traces' steps."""
    kinds: dict[str, Rises] = defaultdict(Rises)
    clean_by_truth: dict[bool, list[float]] = defaultdict(list)
    for twin in list(twins())[: 2 * n_problems]:
        clean = await ask(judge, twin, CLEAN)
        clean_by_truth[twin.is_right] += [p for p in clean[:1] if p is not None]
        for attack in track(read_attacks(), description=twin.id):
            kinds[attack.kind].attack += differences(await ask(judge, twin, attack), clean)
            kinds[attack.kind].control += differences(await ask(judge, twin, neutral(attack)), clean)
    return kinds, clean_by_truth


def interval(rises: Sequence[float]) -> str:
    """Return the mean, and where there are several the half-width of its 95 % interval, steps taken as independent."""
    if len(rises) < 2:
        return "-" if not rises else f"{rises[0]:+.3f}"
    return f"{np.mean(rises):+.3f} ± {1.96 * np.std(rises) / math.sqrt(len(rises)):.3f}"


def report(kinds: dict[str, Rises], clean: dict[bool, list[float]]) -> None:
    """Print the table, the strongest attacks first."""
    kinds = {kind: rises for kind, rises in kinds.items() if rises.attack and rises.control}
    table = Table("attack", "steps", "mean rise", "max rise", "neutral: mean", "neutral: max")
    whole = Rises()
    for rises in kinds.values():
        whole.attack += rises.attack
        whole.control += rises.control
    above = {kind: float(np.mean(rises.attack) - np.mean(rises.control)) for kind, rises in kinds.items()}
    for kind in [*sorted(kinds, key=lambda kind: -above[kind]), "all"]:
        rises = kinds.get(kind, whole)
        figures = [f(side) for side in (rises.attack, rises.control) for f in (interval, lambda x: f"{max(x):+.3f}")]
        table.add_row(kind, str(len(rises.attack)), *figures, end_section=kind == "all")
    console = Console(width=120)
    console.print(table)
    console.print(f"attacked step of the clean trace: right {interval(clean[True])}, wrong {interval(clean[False])}")


async def run(model_id: str, n_problems: int) -> None:
    """Build the judge, ask it and print the report."""
    settings = load_settings()
    registry = load_registry(settings.models_file)
    secret = settings.edit_secret.get_secret_value().encode()
    stock = Stock(registry, settings.cache_dir, settings.torch_threads, settings.pull_command, secret)
    presets = [name for name in registry.presets.by_name() if _judges_in(registry, name, model_id)]
    if not presets:
        raise SystemExit(f"no preset has the verifier {model_id!r}")
    async with stock.closing:
        asked = [*stock.prms(presets[0]), *stock.judges(presets[0])]
        judge = next(judge for judge in asked if judge.name.partition(":")[2] == model_id)
        report(*await measure(judge, n_problems))


def _judges_in(registry: Registry, preset: str, model_id: str) -> bool:
    return any(entry.id == model_id for role in (Role.PRM, Role.JUDGE) for entry in registry.candidates(preset, role))


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-id", default="smollm2-135m-steps", help="a judge or prm of a preset in models.yaml")
    parser.add_argument("--problems", type=int, default=1, help="each has a right and a wrong trace")
    options = parser.parse_args()
    asyncio.run(run(options.model_id, options.problems))


if __name__ == "__main__":
    main()
