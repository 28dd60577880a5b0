"""Load the algebra worker: honest identities, wrong ones, hard and hostile ones, and processes that are killed at work.

    python benchmarks/algebra_load.py [--tasks 10000] [--callers 16] [--seed 7]

Linux only: processes, memory and descriptors are read from /proc. Exits with 1 where an answer is wrong, a zombie or a
descriptor is left, or the parent has grown by more than `MAX_GROWTH_MIB`.
"""

import argparse
import asyncio
import logging
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rafs.algebra import AlgebraWorker
from rafs.types import Truth

Case = tuple[str, str, Truth | None]
"""Two expressions and the only answer but UNKNOWN that is right; None where any limit may come first."""

KILL_EVERY = 50
"""One comparison in so many is followed by SIGKILL for a process, whatever it is doing."""
MAX_GROWTH_MIB = 64
HOSTILE = (
    ("9^9^9^9", "1"),
    ("((9!)!)!", "1"),
    ("(x+1)^{400}", "(x^2+2x+1)^{200}"),
    ("((x^{400})^{400})^{400}", "1"),
    ("a^{b^{c^{d^e}}}", "1"),
    (r"\sqrt{2+" * 18 + "x" + "}" * 18, "x"),
    ("+".join(f"x^{{{n}}}" for n in range(300)), "x"),
    ("*".join(f"(x+{n})" for n in range(100)), "x"),
    ("(((x+1)^{399}+1)^{399}+1)^{399}", "x"),
    (r"\sqrt[3]{" + "7" * 900 + "}", "x"),
    (r"\sum_{k=0}^{x} \sum_{j=0}^{k} \sum_{m=0}^{j} m^{20}", "x"),
    (r"\prod_{k=1}^{100000} k", "1"),
    (r"\int_0^1 \frac{1}{x^7+x+1} dx", "x"),
    (r"\lfloor \exp(\exp(\exp(3))) \rfloor", "x"),
    (r"\exp(\exp(\exp(\exp(10))))", "x"),
)


def honest(draw: random.Random) -> Case:
    """Return an identity, or something near one, of a kind that derivations state."""
    a, b, off = draw.randint(2, 999), draw.randint(2, 999), draw.choice((0, 0, 1))
    truth = Truth.FALSE if off else Truth.TRUE
    kinds: tuple[Callable[[], Case], ...] = (
        lambda: (f"(x+{a})^2", f"x^2 + {2 * a}x + {a * a + off}", truth),
        lambda: (f"(x-{a})(x+{b})", f"x^2 + {b - a + off}x - {a * b}", truth),
        lambda: (rf"\sqrt{{{a * a * b}}}", rf"{a + off}\sqrt{{{b}}}", truth),
        lambda: (rf"\frac{{1}}{{\sqrt{{{b}}}}}", rf"\frac{{\sqrt{{{b}}}}}{{{b + off}}}", truth),
        lambda: (f"{a}(n+{b})", f"{a}n + {a * b + off}", truth),
        lambda: (rf"\frac{{x^2-{a * a}}}{{x-{a}}}", f"x + {a + off}", truth),
    )
    return draw.choice(kinds)()


def hard(draw: random.Random) -> Case:
    """Return an identity of hundreds of thousands of terms, which runs over the CPU limit."""
    half = draw.randint(30, 150)
    return f"(x+y+z+a)^{{{2 * half}}}", f"((x+y)^2 + 2(x+y)(z+a) + (z+a)^2)^{{{half}}}", Truth.TRUE


def cases(n_tasks: int, seed: int) -> Iterator[Case]:
    """Yield 93 % honest, 6 % hostile and 1 % hard comparisons."""
    draw = random.Random(seed)
    for _ in range(n_tasks):
        lot = draw.random()
        if lot < 0.01:
            yield hard(draw)
        elif lot < 0.07:
            yield *draw.choice(HOSTILE), None
        else:
            yield honest(draw)


def children(state: str = "") -> list[int]:
    """Return the processes that this one started, or those of them in one state, such as Z."""
    listed = " ".join(map(_read, Path("/proc/self/task").glob("*/children")))
    return [pid for pid in map(int, listed.split()) if state in _state(pid)]


def _state(pid: int) -> str:
    return _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].lstrip()[:1]


def _read(path: Path) -> str:
    """Return the text of a file; none where its thread or process has gone."""
    try:
        return path.read_text()
    except OSError:
        return ""


def resident_mib(pid: int) -> float:
    """Return the memory that a process holds now; 0 when it has gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


@dataclass(slots=True)
class Footprint:
    """What this process and its children hold."""

    parent_mib: float = field(default_factory=lambda: resident_mib(os.getpid()))
    workers_mib: list[int] = field(default_factory=lambda: sorted(round(resident_mib(pid)) for pid in children()))
    descriptors: int = field(default_factory=lambda: len(os.listdir("/proc/self/fd")))
    zombies: int = field(default_factory=lambda: len(children("Z")))


@dataclass(slots=True, kw_only=True)
class Load:
    """What a run showed. `warm` and `worked` are taken with the processes running, `closed` after `close`."""

    warm: Footprint
    worked: Footprint
    closed: Footprint
    answers: Counter[Truth]
    wrong: list[Case]
    lost: int
    """Honest comparisons without an answer: those whose process was killed, and no others."""
    slowest_s: float
    killed: int
    started: int
    seconds: float


async def run_load(n_tasks: int, n_callers: int, seed: int, kill_every: int = KILL_EVERY) -> Load:
    """Run the comparisons with so many callers at a time, and kill a process now and then."""
    algebra = AlgebraWorker()
    await asyncio.gather(*(algebra.compare(f"x+{n}+x", f"2x+{n}") for n in range(4)))
    warm, began = Footprint(), time.monotonic()
    answers: Counter[Truth] = Counter()
    wrong: list[Case] = []
    tally: Counter[str] = Counter()
    slowest_s, seen = 0.0, set(children())
    numbered = enumerate(cases(n_tasks, seed), start=1)

    async def call() -> None:
        nonlocal slowest_s
        for number, case in numbered:
            started = time.monotonic()
            asking = asyncio.create_task(algebra.compare(case[0], case[1]))
            if number % kill_every == 0:
                await asyncio.sleep(0.002)
                tally["killed"] += _kill_one(seed + number)
            truth = await asking
            slowest_s = max(slowest_s, time.monotonic() - started)
            seen.update(children())
            answers[truth] += 1
            if case[2] not in (None, truth) and truth is not Truth.UNKNOWN:
                wrong.append(case)
            tally["lost"] += truth is Truth.UNKNOWN and case[2] is not None and "^{" not in case[0]

    await asyncio.gather(*(call() for _ in range(n_callers)))
    worked, seconds = Footprint(), time.monotonic() - began
    await algebra.close()
    return Load(
        warm=warm, worked=worked, closed=Footprint(), answers=answers, wrong=wrong, lost=tally["lost"],
        slowest_s=slowest_s, killed=tally["killed"], started=len(seen), seconds=seconds,
    )  # fmt: skip


def _kill_one(seed: int) -> int:
    running = sorted(set(children()) - set(children("Z")))
    if not running:
        return 0
    os.kill(random.Random(seed).choice(running), signal.SIGKILL)
    return 1


def faults(load: Load, before: Footprint) -> list[str]:
    """Return what must not be after a run, as sentences."""
    grown = load.worked.parent_mib - load.warm.parent_mib
    return [
        sentence
        for sentence, broken in (
            (f"wrong answers: {load.wrong[:3]}", load.wrong),
            (f"{load.lost} honest answers lost, {load.killed} processes killed", load.lost > load.killed),
            (f"zombies: {load.worked.zombies}, {load.closed.zombies}", load.worked.zombies + load.closed.zombies),
            (
                f"descriptors {before.descriptors} -> {load.closed.descriptors}",
                before.descriptors != load.closed.descriptors,
            ),
            (f"processes left: {load.closed.workers_mib}", load.closed.workers_mib),
            (f"the parent grew by {grown:.0f} MiB", grown > MAX_GROWTH_MIB),
        )
        if broken
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--callers", type=int, default=16)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    logging.getLogger("rafs.algebra").setLevel(logging.ERROR)  # each killed process would be a line

    async def run() -> tuple[Load, Footprint]:
        await (await asyncio.create_subprocess_exec("true")).wait()  # what asyncio opens once is no leak
        before = Footprint()
        return await run_load(args.tasks, args.callers, args.seed), before

    load, before = asyncio.run(run())
    unknown = load.answers[Truth.UNKNOWN]
    table = Table("figure", "value")
    for name, value in (
        ("comparisons", f"{args.tasks} by {args.callers} callers"),
        ("per second", f"{args.tasks / load.seconds:.0f}"),
        ("slowest", f"{load.slowest_s:.2f} s, the wait included"),
        ("unknown", f"{unknown / args.tasks:.1%}"),
        ("honest ones lost", str(load.lost)),
        ("processes killed", str(load.killed)),
        ("processes started", str(load.started)),
        ("parent MiB", f"{load.warm.parent_mib:.0f} -> {load.worked.parent_mib:.0f}"),
        ("workers MiB", f"{load.warm.workers_mib} -> {load.worked.workers_mib}"),
        ("zombies", f"{load.worked.zombies}, after close {load.closed.zombies}"),
        ("descriptors", f"{before.descriptors}, warm {load.warm.descriptors}, after close {load.closed.descriptors}"),
    ):
        table.add_row(name, value)
    Console().print(table)
    if found := faults(load, before):
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
