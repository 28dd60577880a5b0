"""Asking one verifier, whatever it does: dies, hangs, or answers rubbish."""

import asyncio
import logging
import traceback
from collections.abc import Sequence
from itertools import islice

from rafs.contracts import Verifier
from rafs.errors import BackendError, OverloadedError
from rafs.types import Abstained, BlindTrace, Judged, MemberVerdicts, Verdict, Why
from rafs.usage import Meter

logger = logging.getLogger(__name__)


async def ask_member(
    member: Verifier, trace: BlindTrace, ask: Sequence[int], budget_s: float, meter: Meter
) -> MemberVerdicts:
    """Return what a verifier says of the asked steps; the others were decided by a checker.

    A failure is a value: the member is silent on every asked step, and says why. It is left alone after `budget_s`,
    also where it does not heed that it was cancelled.

    Raises:
        OverloadedError: Its bounded queue is full.
    """
    verdicts: list[Verdict] = [Abstained(why=Why.DECIDED_BY_CHECKER)] * len(trace.steps)
    answers = await _hear(member, trace, tuple(ask), budget_s, meter) if ask else ()
    for t, verdict in zip(ask, answers, strict=True):
        verdicts[t] = verdict
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=tuple(verdicts))


def silent(member: Verifier, n_steps: int, verdict: Abstained) -> MemberVerdicts:
    """Return the row of a member that says nothing, for one and the same reason."""
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=(verdict,) * n_steps)


async def _hear(
    member: Verifier, trace: BlindTrace, ask: tuple[int, ...], budget_s: float, meter: Meter
) -> Sequence[Verdict]:
    async def call() -> Sequence[Verdict]:
        answers = list(islice(await member.verify(trace, ask, meter), len(ask) + 1))
        if wrong := _complaint(answers, len(ask), is_model=member.identity is not None):
            logger.error("verifier %s: %s", member.name, wrong)
            return [Abstained(why=Why.INVALID, detail=wrong)] * len(ask)
        return answers

    task = asyncio.create_task(call())
    try:
        await asyncio.wait([task], timeout=budget_s)  # unlike a timeout around it, it does not wait for the cancelled
        return task.result() if task.done() else _failed(member, Why.TIMEOUT, f"no answer in {budget_s:.1f} s", ask)
    except OverloadedError:
        raise
    except BackendError as error:
        # What a server said may name addresses and keys: it is for the operator's log, not for the caller.
        return _failed(member, Why.TIMEOUT if error.timed_out else Why.BACKEND_DOWN, str(error), ask)
    except MemoryError as error:
        return _failed(member, Why.OUT_OF_MEMORY, _place(error), ask)
    except Exception as error:  # Task boundary: a fault of one verifier costs its own verdicts, not the request.
        return _failed(member, Why.CRASHED, _place(error), ask)
    except asyncio.CancelledError as error:
        if not task.cancelled():  # it is the request that was cancelled
            raise
        return _failed(member, Why.CRASHED, _place(error), ask)
    finally:
        task.cancel()


def _complaint(answers: Sequence[object], n: int, *, is_model: bool) -> str:
    """Say what is wrong with the answers, `answers` holding at most one too many; nothing where they are sound."""
    if len(answers) != n:
        return f"{'more' if len(answers) > n else len(answers)} verdicts for {n} steps"
    for answer in answers:
        if isinstance(answer, Judged):
            if not 0 <= answer.p_correct <= 1:  # NaN neither
                return "a p_correct outside [0, 1]"
            if answer.refuted and is_model:
                return "a model that refutes: only a checker can prove a step wrong"
        elif not isinstance(answer, Abstained):
            return f"a verdict that is a {type(answer).__name__}"
    return ""


def _failed(member: Verifier, why: Why, what: str, ask: Sequence[int]) -> Sequence[Verdict]:
    logger.warning("verifier %s failed, %s: %s", member.name, why, what)
    return [Abstained(why=why)] * len(ask)


def _place(error: BaseException) -> str:
    """Return type and origin of an error, but not its message, which may quote a trace."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} at {frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__
