"""Decides identities through sympy, in warm processes that are killed when they run over a limit.

The pool is our own because no library limits CPU, memory and wall time of one task and gives it up with its asyncio
caller. Pebble 5.2 comes closest, but all its workers share one pipe and its lock: in one of six runs with twenty tasks
that ended their worker, fifty others were lost with them. Here each process has pipes of its own.

A comparison can be given up by three hands: the worker's own CPU timer (the process survives), the kernel (a limit on
CPU and address space), and this side (wall time, or a caller that leaves). What is given up is UNKNOWN.
"""

import asyncio
import hashlib
import json
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from rafs.claims.verdicts import FOR_EVERY, NEEDS_ALGEBRA
from rafs.contracts import Algebra
from rafs.grammar.expressions import parse_expression
from rafs.grammar.terms import to_tree, variables
from rafs.types import Claim, Truth

WALL_LIMIT_S = 2.0
"""Wall time of one comparison; beyond it the process is killed. The worker itself gives up at 0.25 s of CPU."""
START_LIMIT_S = 20.0
"""Wall time to start a process; importing sympy takes about 0.5 s on an idle core, and far longer on a busy one."""
BURIAL_LIMIT_S = 10.0
"""Wall time to wait for the end of a killed process, which no caller is to hang on."""
WAIT_LIMIT_S = 10.0
"""Wall time a comparison waits for a process: half of what `MAX_WAITING` hard ones take, and an age for honest ones."""
N_PROCESSES = 2
"""Two, so that one runaway comparison does not hold up everybody."""
MAX_SETTLED = 64
"""Claims of one trace that are asked about; the others stay open. At 0.25 s each that is 16 s of CPU at the worst."""
MAX_WAITING = 160
"""Comparisons that may wait for a process; more are UNKNOWN at once. `settle` has `N_PROCESSES` per trace there."""
MAX_KNOWN = 4096
"""Answers that are kept: samples of one problem state the same identities again. Half a megabyte."""
MAX_LAST_WORDS = 500
"""Characters of a dying process's last words that are logged."""

logger = logging.getLogger(__name__)


class AlgebraWorker:
    """Implements `rafs.contracts.Algebra` with killable `python -m rafs.algebra_worker` processes.

    Processes start with the first comparison, stay warm, and are replaced when they die, are killed, or have worked
    long enough. An instance belongs to one event loop. Should its owner vanish without `close`, the processes end with
    their input.
    """

    def __init__(self, *, wall_limit_s: float = WALL_LIMIT_S, n_processes: int = N_PROCESSES) -> None:
        """Prepare; nothing starts yet.

        Args:
            wall_limit_s: Wall time of one comparison in seconds.
            n_processes: Processes, and comparisons at the same time.
        """
        self._wall_limit_s = wall_limit_s
        self._slots = asyncio.Semaphore(n_processes)
        self._processes: set[Process] = set()
        self._idle: list[Process] = []
        self._waiting = 0
        self._known: OrderedDict[bytes, Truth] = OrderedDict()

    async def compare(self, left: str, right: str) -> Truth:
        """Say whether two expressions are equal for all values of their variables.

        Returns:
            TRUE when proven, FALSE when they differ at some point where every variable is positive, else UNKNOWN:
            outside the grammar, over a limit, or undecided.
        """
        first, second = parse_expression(left), parse_expression(right)
        if first is None or second is None:
            return Truth.UNKNOWN
        question = json.dumps({"left": to_tree(first), "right": to_tree(second)}).encode()
        key = hashlib.blake2b(question, digest_size=16).digest()
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if not await self._has_slot():
            return Truth.UNKNOWN
        try:
            truth = await self._ask(question)
        finally:
            self._slots.release()
        if truth is None:
            return Truth.UNKNOWN
        self._known[key] = truth
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return truth

    async def close(self) -> None:
        """Kill every process: a comparison under way is UNKNOWN, a later one starts new processes."""
        while self._processes:
            _kill(self._processes.pop())
        while self._idle:
            await self._bury(self._idle.pop())

    async def _has_slot(self) -> bool:
        """Wait for a slot; False where too many wait already, or the wait was too long."""
        if self._waiting >= MAX_WAITING:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_LIMIT_S):
                return await self._slots.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    async def _ask(self, question: bytes, attempts: int = 2) -> Truth | None:
        """Return the answer of a process, which is kept for the next question; None where it gave none.

        A process may have died of no fault of the question, an idle one unnoticed: then it is asked once more.
        """
        process, why, spent, died = None, "", True, False
        try:
            process = await self._warm_process()
            async with asyncio.timeout(self._wall_limit_s):
                reply = json.loads(await _exchange(process, question))
            truth, spent = Truth(reply["truth"]), reply["spent"]
            return truth
        except (TimeoutError, OSError, ValueError, KeyError, TypeError) as error:
            why = repr(error)
            if process is None:
                logger.warning("no algebra process: %s", why)
            died = self._died(process, error)
            if died:
                why = f"it died between two comparisons, or in this one: {why}"
        finally:
            if process is not None and spent:
                await self._bury(process, why)
            elif process is not None:
                self._idle.append(process)
        return await self._ask(question, attempts - 1) if died and attempts > 1 else None

    async def _warm_process(self, attempts: int = 2) -> Process:
        """Return a process that has imported sympy; one that dies while it starts is started once more."""
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None:
                return process
            await self._bury(process, "it died between two comparisons")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "ignore", "-m", "rafs.algebra_worker", stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        self._processes.add(process)
        try:
            async with asyncio.timeout(START_LIMIT_S):
                await _exchange(process, b"")
        except BaseException as error:
            died = self._died(process, error)
            await self._bury(process, f"at its start: {error!r}")
            if not died or attempts == 1:
                raise
        else:
            return process
        return await self._warm_process(attempts - 1)

    def _died(self, process: Process | None, error: BaseException) -> bool:
        """Whether a process that nobody here has killed is gone: an exchange with it ended in this error."""
        is_broken = isinstance(error, OSError) and not isinstance(error, TimeoutError)
        return is_broken and process in self._processes

    async def _bury(self, process: Process, why: str = "") -> None:
        """Kill a process, wait for its end, and log what it said on its way out."""
        assert process.stdout is not None
        if not process.stdout.at_eof():  # else it is ending; `kill` would take its status from under asyncio's watcher
            _kill(process)
        said = b""
        try:
            async with asyncio.timeout(BURIAL_LIMIT_S):
                _, said = await process.communicate()
        except TimeoutError:
            logger.error("algebra process %s was killed and has not ended", process.pid)
        finally:
            self._processes.discard(process)
        if why:
            last_words = said.decode(errors="replace")[-MAX_LAST_WORDS:]
            logger.warning("algebra process ended: %s, exit %s, %r", why, process.returncode, last_words)


async def _exchange(process: Process, line: bytes) -> bytes:
    """Send a line, where there is one, and read one."""
    assert process.stdin is not None and process.stdout is not None
    if line:
        process.stdin.write(line + b"\n")
        await process.stdin.drain()
    reply = await process.stdout.readline()
    if not reply:
        raise OSError("it died")
    return reply


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()


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
    open_claims = [index for index, claim in enumerate(claims) if _needs_algebra(claim)]
    waiting = iter(open_claims[:MAX_SETTLED])

    async def settle_next(indices: Iterable[int]) -> None:
        for index in indices:
            settled[index] = await _settled(claims[index], algebra)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(N_PROCESSES):
                group.create_task(settle_next(waiting))  # they share the iterator
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from failed
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
