"""Decides identities through sympy, in warm processes that are killed when they run over a limit."""

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from rafs.contracts import Algebra
from rafs.grammar.expressions import Expression, parse_expression, to_tree, variables
from rafs.types import Claim, Truth
from rafs.claims.verdicts import FOR_EVERY, NEEDS_ALGEBRA

WALL_LIMIT_S = 2.0
"""Wall time of one comparison; beyond it the process is killed. The worker itself gives up at 0.25 s of CPU."""
START_LIMIT_S = 20.0
"""Wall time to start a process; importing sympy takes about 0.5 s on an idle core, and far longer on a busy one."""
N_PROCESSES = 2
"""Two, so that one runaway comparison does not hold up everybody."""
MAX_SETTLED = 64
"""Claims of one trace that are asked about; the others stay open. At 0.25 s each that is 16 s of CPU at the worst."""
MAX_WAITING = 64
"""Comparisons that may wait for a process; more are answered UNKNOWN at once."""


class AlgebraWorker:
    """Implements `rafs.contracts.Algebra` with killable `python -m rafs.algebra_worker` processes.

    Processes start with the first comparison, stay warm, and are replaced when they die or are killed. An instance
    belongs to one event loop.
    """

    def __init__(self, *, wall_limit_s: float = WALL_LIMIT_S, n_processes: int = N_PROCESSES) -> None:
        """Prepare; nothing starts yet.

        Args:
            wall_limit_s: Wall time of one comparison in seconds.
            n_processes: Processes, and comparisons at the same time.
        """
        self._wall_limit_s = wall_limit_s
        self._slots = asyncio.Semaphore(n_processes)
        self._idle: list[asyncio.subprocess.Process] = []
        self._waiting = 0

    async def compare(self, left: str, right: str) -> Truth:
        """Say whether two expressions are equal for all values of their variables.

        Returns:
            TRUE when proven, FALSE when they differ at some point where every variable is positive, else UNKNOWN:
            outside the grammar, over a limit, or undecided.
        """
        first, second = parse_expression(left), parse_expression(right)
        if first is None or second is None or self._waiting >= MAX_WAITING:
            return Truth.UNKNOWN
        self._waiting += 1
        try:
            async with self._slots:
                return await self._ask(first, second)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Kill every process; a later comparison starts new ones."""
        while self._idle:
            await _kill(self._idle.pop())

    async def _ask(self, left: Expression, right: Expression) -> Truth:
        process = None
        try:
            process = self._idle.pop() if self._idle else await _start()
            question = json.dumps({"left": to_tree(left), "right": to_tree(right)})
            async with asyncio.timeout(self._wall_limit_s):
                reply = await _exchange(process, question)
            truth = Truth(json.loads(reply)["truth"])
        except (TimeoutError, OSError, ValueError, KeyError):
            truth = Truth.UNKNOWN
        except asyncio.CancelledError:
            if process is not None:
                process.kill()
            raise
        else:
            self._idle.append(process)
            return truth
        if process is not None:
            await _kill(process)
        return truth


async def _start() -> asyncio.subprocess.Process:
    """Start a process and wait until it has imported sympy."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rafs.algebra_worker",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(START_LIMIT_S):
            await _exchange(process, "null")
    except BaseException:
        await _kill(process)
        raise
    return process


async def _exchange(process: asyncio.subprocess.Process, line: str) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line.encode() + b"\n")
    await process.stdin.drain()
    reply = await process.stdout.readline()
    if not reply:
        raise OSError("the algebra process has died")
    return reply


async def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def settle(claims: Sequence[Claim], algebra: Algebra) -> tuple[Claim, ...]:
    """Decide the claims that exact arithmetic had to leave open.

    A claim with free names is TRUE when it is an identity; when it is none it is an equation, which may well hold for
    the values at hand, and stays UNKNOWN, unless it was stated for every value.

    Args:
        claims: Claims as read.
        algebra: What decides identities.

    Returns:
        The same claims in the same order, some of them decided; after `MAX_SETTLED` of them the rest stays open.
    """
    settled = list(claims)
    waiting = [index for index, claim in enumerate(claims) if _needs_algebra(claim)]
    for index in waiting[:MAX_SETTLED]:
        settled[index] = await _settled(claims[index], algebra)
    return tuple(settled)


def _needs_algebra(claim: Claim) -> bool:
    return claim.reason.startswith(NEEDS_ALGEBRA) and claim.relation == "=" and bool(claim.right)


async def _settled(claim: Claim, algebra: Algebra) -> Claim:
    truth = await algebra.compare(claim.left, claim.right)
    if truth is Truth.TRUE:
        return replace(claim, truth=truth, reason="an identity")
    expression = parse_expression(claim.left), parse_expression(claim.right)
    free = any(side is None or variables(side) for side in expression)
    if truth is Truth.FALSE and (not free or FOR_EVERY in claim.reason):
        return replace(claim, truth=truth, reason="the two sides are not equal")
    return claim
