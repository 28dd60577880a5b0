"""One decision within its budget, or the policy's answer."""

import asyncio
import uuid
from dataclasses import dataclass
from time import perf_counter

from rafs.errors import BackendError, OverloadedError
from rafs.gate_wire import GateDecision
from rafs.policy import Reason
from rafs.request import ScoreRequest
from service.gate.decision import conclude_gate, undecided
from service.gate_settings import FailPolicy
from service.observability import logger
from service.routes import ScoringService
from service.terms import Terms

SHARE_FOR_MODELS = 0.9
"""Of a budget; the rest is for concluding from what is known by then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Under which a decision is made."""

    fail: FailPolicy
    """Answers where RAFS could not decide."""
    terms: Terms
    """`deadline_s` is the budget of the decision."""


class Gate:
    """Decides with one scorer."""

    def __init__(self, scorer: ScoringService) -> None:
        self._scorer = scorer

    async def decide(self, request: ScoreRequest, conditions: Conditions) -> GateDecision:
        """Score a trace and say whether its answer may be shown.

        A budget that ends, a model that fails and a full queue are no errors here: the policy answers, and says why.

        Raises:
            InputError: There is no such preset, or the trace has too many steps.
            ConfigError: The operator has something to mend: no policy hides that.
        """
        started, budget_s = perf_counter(), conditions.terms.deadline_s
        within = None if budget_s is None else SHARE_FOR_MODELS * budget_s
        try:
            async with asyncio.timeout(budget_s):
                response = await self._scorer.score(request, conditions.terms.within(within, None))
        except (TimeoutError, BackendError, OverloadedError) as error:
            return self._fall_back(_name_of(error), conditions, started)
        decision = conclude_gate(response, conditions.fail, _milliseconds_since(started))
        if decision.failure is not None:
            _log(decision)
        return decision

    def fall_back(self, failure: str, conditions: Conditions) -> GateDecision:
        """Return the policy's answer to what cannot be scored."""
        return self._fall_back(failure, conditions, perf_counter())

    def _fall_back(self, failure: str, conditions: Conditions, started: float) -> GateDecision:
        decision = undecided(str(uuid.uuid4()), failure, conditions.fail, _milliseconds_since(started))
        _log(decision)
        return decision


def _name_of(error: Exception) -> str:
    match error:
        case OverloadedError():
            return "overloaded"
        case TimeoutError():
            return Reason.DEADLINE.value
        case BackendError(timed_out=True):
            return "backend_timeout"
        case _:
            return "backend_failed"


def _milliseconds_since(started: float) -> float:
    return (perf_counter() - started) * 1000


def _log(decision: GateDecision) -> None:
    logger.warning("not decided by rafs", decision=decision.id, failure=decision.failure, policy=decision.decided_by)
