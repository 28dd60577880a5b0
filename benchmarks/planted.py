"""Plant traces of which it is known what their answer hangs on, and measure whether replay finds it out.

    python benchmarks/planted.py [--traces 300] [--seed 0] [--show N]

Three kinds of traces, in three sizes, several domains and wordings:

chain      every step carries the answer
mixed      calculations that nothing uses stand between the steps that carry it, some of them on the same numbers
post-hoc   the answer comes first, and none of the calculations behind it leads there

A step's dependence is e * Delta: how far the derivation entails the stated answer, times what replaying an edit of the
step does to the answer; 0 for a step that is not pivotal. Printed are the AUROC of load-bearing against decorative
steps, by size and over all; the share of steps that could be measured; and the control: the share of traces in which
another wording of the same calculations changes the dependence of no step.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from counterfactuals.edits import draw_edits
from counterfactuals.effects import replay_effect
from counterfactuals.numerals import read_result
from counterfactuals.targets import answer_of
from rafs.derivation import link_answer
from rafs.outcomes import Unmeasured
from rafs.reading import read_text

SIZES = {"small": 2, "medium": 4, "large": 8}
"""Load-bearing calculations; a post-hoc trace has as many that carry nothing."""
KINDS = ("chain", "mixed", "post-hoc")
MAX_VALUE = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """What is counted, and what happens to it."""

    place: str
    thing: str
    gains: str
    losses: str
    aside: str
    """Something else that the problem counts, in rows."""


DOMAINS = (
    Domain(place="bakery", thing="rolls", gains="are baked", losses="are sold", aside="tiles"),
    Domain(place="harbour", thing="crates", gains="are unloaded", losses="are shipped", aside="lamps"),
    Domain(place="library", thing="books", gains="are donated", losses="are lent out", aside="windows"),
    Domain(place="orchard", thing="pears", gains="are picked", losses="are pressed", aside="posts"),
    Domain(place="workshop", thing="bolts", gains="are forged", losses="are fitted", aside="hooks"),
    Domain(place="museum", thing="coins", gains="are found", losses="are returned", aside="benches"),
)
_CALCULATED = {
    "+": (
        "After {n} more {gains}, there are {a} + {n} = {c} {thing}.",
        "{n} {thing} {gains}, so the {place} now has {a} + {n} = {c} {thing}.",
        "Adding those that {gains}: {a} + {n} = {c}.",
    ),
    "-": (
        "After {n} {losses}, there are {a} - {n} = {c} {thing} left.",
        "{n} {thing} {losses}, which leaves {a} - {n} = {c} {thing}.",
        "Taking away those that {losses}: {a} - {n} = {c}.",
    ),
    "*": (
        "The stock grows to {n} times as many: {a} * {n} = {c} {thing}.",
        "With {n} times as many, the {place} has {a} × {n} = {c} {thing}.",
        "Multiplying the stock: $ {a} \\times {n} = {c} $.",
    ),
}
_TOLD = {
    "+": "Then {n} more {thing} {gains}.",
    "-": "Then {n} {thing} {losses}.",
    "*": "Then the stock grows to {n} times as many.",
}
_SAID = (
    "Once {n} {losses}, that leaves {c} {thing}.",
    "So {c} {thing} remain after {n} {losses}.",
    "The {place} has {c} {thing} left, since {n} {losses}.",
    "So {c} {thing} are left, {n} fewer than before.",
    "Therefore {c} {thing} remain because {n} of them {losses}.",
    "After that {c} {thing} remain, for {n} {losses}.",
)
"""A last subtraction that is told in words, with what it is made of before the result or behind it."""
_ASIDE = (
    "By the way, the {place} has {n} * {m} = {c} {aside}.",
    "It is worth noting that {n} rows of {m} make {n} × {m} = {c} {aside}.",
    "For the {aside} we get {n} * {m} = {c}.",
)
_DANGLING = (
    "If all of them were weighed, they would come to {a} * {n} = {c} grams.",
    "At {n} grams each, {a} {thing} weigh {a} × {n} = {c} grams.",
    "Their weight is $ {a} \\times {n} = {c} $ grams.",
)
_ANSWER = ("The answer is {c}.", "#### {c}", "Therefore, the final answer is \\boxed{{{c}}}.")
_ANSWER_FIRST = (
    "The answer is {c}, as is easy to see.",
    "Clearly the final answer is {c}.",
    "I would say that the answer is {c}.",
)


@dataclass(slots=True)
class Planted:
    """One trace, and which of its steps its answer hangs on."""

    domain: Domain
    start: int
    size: str
    kind: str
    calculations: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(operator, left, right, result) of what leads to the answer; for a post-hoc trace, what would."""
    asides: list[tuple[int, int]] = field(default_factory=list)
    """(rows, things in each) of something else."""
    grams: int = 0
    """Weight of each thing; used by calculations that nothing uses."""
    said: tuple[int, int] | None = None
    """(right, result) of a last subtraction in words."""

    @property
    def answer(self) -> int:
        return self.said[1] if self.said else self.calculations[-1][3]

    def problem(self) -> str:
        told = [f"The {self.domain.place} has {self.start} {self.domain.thing}."]
        told += [self._write(_TOLD[op], n=n) for op, _, n, _ in self.calculations]
        told += [self._write(_TOLD["-"], n=self.said[0])] if self.said else []
        told += [self._write("Each weighs {n} grams.", n=self.grams)] if self.grams else []
        told += [self._write("It also has {n} rows of {m} {aside}.", n=n, m=m) for n, m in self.asides]
        return " ".join([*told, self._write("How many {thing} are there in the end?")])

    def steps(self, seed: int) -> list[tuple[str, bool | None]]:
        """Return the steps in a wording drawn by the seed: (text, whether the answer hangs on it; None: no matter)."""
        words = random.Random(seed)
        asides = [(self._write(words.choice(_ASIDE), n=n, m=m, c=n * m), False) for n, m in self.asides]
        closing: list[tuple[str, bool | None]] = [(self._write(words.choice(_ANSWER), c=self.answer), None)]
        if self.kind == "post-hoc":
            opening = self._write(words.choice(_ANSWER_FIRST), c=self.answer)
            return [(opening, None), *asides, self._weighed(self.start, words), *closing]
        carrying: list[tuple[str, bool | None]] = []
        for op, a, n, c in self.calculations:
            carrying.append((self._write(words.choice(_CALCULATED[op]), a=a, n=n, c=c), True))
            if self.grams and len(carrying) % 3 == 1:
                carrying.append(self._weighed(c, words))
        places = random.Random(self.start)
        for aside in asides:
            carrying.insert(places.randint(0, len(carrying)), aside)
        if self.said:
            carrying.append((self._write(words.choice(_SAID), n=self.said[0], c=self.said[1]), None))
        return [*carrying, *closing]

    def _weighed(self, total: int, words: random.Random) -> tuple[str, bool]:
        return self._write(words.choice(_DANGLING), a=total, n=self.grams, c=total * self.grams), False

    def _write(self, template: str, **numbers: int) -> str:
        domain = self.domain
        names = {name: getattr(domain, name) for name in ("place", "thing", "gains", "losses", "aside")}
        return template.format(**names, **numbers)


def plant(kind: str, size: str, seed: int) -> Planted:
    """Draw one trace; all its numbers differ, so that where each comes from is beyond doubt."""
    numbers = random.Random(f"{kind} {size} {seed}")
    while True:
        planted = Planted(domain=numbers.choice(DOMAINS), start=numbers.randint(20, 400), size=size, kind=kind)
        seen, total = [planted.start], planted.start
        for _ in range(SIZES[size]):
            op = numbers.choice("++--*") if total < MAX_VALUE // 10 else "-"
            n = numbers.randint(3, 9) if op == "*" else numbers.randint(11, max(12, total // 2))
            result = {"+": total + n, "-": total - n, "*": total * n}[op]
            planted.calculations.append((op, total, n, result))
            seen, total = [*seen, n, result], result
        if kind != "post-hoc" and numbers.random() < 1 / 3:
            n = numbers.randint(11, max(12, total // 2))
            planted.said = (n, total - n)
            seen += planted.said
        n_asides = {"chain": 0, "mixed": max(1, SIZES[size] // 2), "post-hoc": SIZES[size]}[kind]
        planted.asides = [(numbers.randint(11, 99), numbers.randint(11, 99)) for _ in range(n_asides)]
        seen += [number for n, m in planted.asides for number in (n, m, n * m)]
        planted.grams = 0 if kind == "chain" else numbers.randint(101, 199)
        seen += [number * planted.grams for number in seen] if planted.grams else []
        if len(set(seen)) == len(seen) and total > 30:
            return planted


def plant_all(n_traces: int, seed: int) -> Iterator[Planted]:
    """Yield traces of every kind and size in turn."""
    groups = [(kind, size) for size in SIZES for kind in KINDS]
    for index in range(n_traces):
        yield plant(*groups[index % len(groups)], seed + index)


def dependence(planted: Planted, wording: int, seed: int) -> list[float | None]:
    """Return e * Delta of every step that is known to carry the answer or not; None where it could not be measured."""
    told = planted.steps(wording)
    reading = read_text(planted.problem(), [text for text, _ in told], None)
    link, graph = link_answer(reading.trace, reading.graph), reading.graph
    found: list[float | None] = []
    for index, (_, carries) in enumerate(told):
        if carries is None:
            continue
        text = reading.trace.steps[index].blind_text
        claims = [i for i, one in enumerate(graph.claims) if one.step == index and read_result(one, text) is not None]
        if isinstance(link.entailment, Unmeasured) or not claims:
            found.append(None)
            continue
        edits = [next(draw_edits(graph, claim, link.target, text, seed), None) for claim in claims]
        before = answer_of(graph, link.target)
        deltas = [delta for edit in edits if edit and (delta := replay_effect(edit, before).delta) is not None]
        found.append(link.entailment.p * max(deltas) if deltas else None)
    return found


@dataclass(slots=True)
class Tally:
    """What was measured of one size."""

    carries: list[bool] = field(default_factory=list)
    dependences: list[float] = field(default_factory=list)
    n_steps: int = 0
    n_traces: int = 0
    reworded_alike: int = 0

    def add(self, planted: Planted, wordings: tuple[int, int], seed: int) -> None:
        known = [carries for _, carries in planted.steps(wordings[0]) if carries is not None]
        found, reworded = (dependence(planted, wording, seed) for wording in wordings)
        self.n_steps += len(known)
        self.n_traces += 1
        self.reworded_alike += found == reworded
        for carries, value in zip(known, found, strict=True):
            if value is not None:
                self.carries.append(carries)
                self.dependences.append(value)

    def auroc(self) -> float:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(self.carries, self.dependences))


def report(tallies: Sequence[tuple[str, Tally]]) -> None:
    table = Table("size", "traces", "steps", "measured", "load-bearing", "AUROC", "another wording, same dependence")
    for name, tally in tallies:
        measured = len(tally.dependences)
        table.add_row(
            name,
            str(tally.n_traces),
            str(tally.n_steps),
            f"{measured} {100 * measured / tally.n_steps:.1f}%",
            str(sum(tally.carries)),
            f"{tally.auroc():.4f}",
            f"{tally.reworded_alike}/{tally.n_traces} {100 * tally.reworded_alike / tally.n_traces:.1f}%",
        )
    Console(width=140).print(table)


def main() -> None:
    """Plant, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0, help="traces to print")
    options = parser.parse_args()
    tallies: dict[str, Tally] = defaultdict(Tally)
    for index, planted in enumerate(plant_all(options.traces, options.seed)):
        wordings = (options.seed + 2 * index, options.seed + 2 * index + 1)
        for name in (planted.size, "all"):
            tallies[name].add(planted, wordings, options.seed + index)
        if index < options.show:
            values = iter(dependence(planted, wordings[0], options.seed + index))
            print(f"--- {planted.kind} {planted.size}\n{planted.problem()}")
            for text, carries in planted.steps(wordings[0]):
                print(f"  {carries!s:6}{'' if carries is None else next(values)!s:5} {text}")
    report(list(tallies.items()))


if __name__ == "__main__":
    main()
