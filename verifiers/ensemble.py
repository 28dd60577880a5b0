"""Checkers first, models second, one calibrated number a step."""

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence

from rafs.calibration import Calibration, combine
from rafs.contracts import Verifier
from rafs.errors import BackendError
from rafs.types import (
    Abstained,
    BlindTrace,
    Judged,
    MemberVerdicts,
    ModelIdentity,
    StepVerdicts,
    Verdict,
    Why,
    judged_only,
)
from rafs.usage import Meter

logger = logging.getLogger(__name__)


class VerifierEnsemble:
    """Asks every member and pools their log-odds; what a checker refuted is not sent to a model."""

    def __init__(
        self,
        checkers: Sequence[Verifier],
        models: Sequence[Verifier],
        calibration: Calibration,
        q_refuted: float,
    ) -> None:
        self._checkers = checkers
        self._models = models
        self._calibration = calibration
        self._q_refuted = q_refuted

    @property
    def models(self) -> Sequence[tuple[str, ModelIdentity]]:
        """Name and identity of every model that may be asked, in order of preference."""
        return [(model.name, model.identity) for model in self._models if model.identity is not None]

    async def verify(
        self, trace: BlindTrace, asked: Collection[str], refused: Collection[str], meter: Meter
    ) -> StepVerdicts:
        """Judge every step of the derivation; see `contracts.Ensemble`."""
        everything = range(len(trace.steps))
        rows = [await _ask(checker, trace, everything, meter) for checker in self._checkers]
        pending = [t for t in everything if not any(_refutes(row.verdicts[t]) for row in rows)]
        judging = [model for model in self._models if model.name in asked]
        rows += await asyncio.gather(*(_ask(model, trace, pending, meter) for model in judging))
        for model in self._models:
            if model.name not in asked:
                rows.append(_pass_over(model, len(trace.steps), is_refused=model.name in refused))
        heard = [row.member for row in rows if row.identity is not None and self._is_heard(row)]
        combined = tuple(self._combine(rows, t) for t in everything)
        return StepVerdicts(combined=combined, members=tuple(rows), heard_models=tuple(heard))

    def _is_heard(self, row: MemberVerdicts) -> bool:
        return self._calibration.hears(row.member) and bool(judged_only(row.verdicts))

    def _combine(self, rows: Sequence[MemberVerdicts], t: int) -> Verdict:
        judged = [(row.member, verdict) for row in rows if isinstance(verdict := row.verdicts[t], Judged)]
        heard = [(member, verdict) for member, verdict in judged if self._calibration.hears(member)]
        if not heard:
            why = Why.AT_CHANCE if judged else _first_failure(row.verdicts[t] for row in rows)
            return Abstained(why=why, detail=_UNHEARD.get(why, "no member judged the step"))
        pooled = combine([(member, verdict.p_correct) for member, verdict in heard], self._calibration)
        refuting = [verdict for _, verdict in heard if verdict.refuted]
        q = min(pooled, self._q_refuted) if refuting else pooled
        reasons = [verdict.reason for verdict in refuting or [verdict for _, verdict in heard] if verdict.reason]
        return Judged(p_correct=q, refuted=bool(refuting), reason="; ".join(reasons))


_UNHEARD = {Why.AT_CHANCE: "only a verifier that is at chance judged it"}


async def _ask(member: Verifier, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> MemberVerdicts:
    verdicts: list[Verdict] = [Abstained(why=Why.DECIDED_BY_CHECKER)] * len(trace.steps)
    try:
        answers = await member.verify(trace, ask, meter) if ask else []
    except BackendError as error:
        # What a server said may name addresses and keys: it is for the operator's log, not for the caller.
        logger.warning("verifier %s failed: %s", member.name, error)
        answers = [Abstained(why=Why.TIMEOUT if error.timed_out else Why.BACKEND_DOWN)] * len(ask)
    for t, verdict in zip(ask, answers, strict=True):
        verdicts[t] = verdict
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=tuple(verdicts))


def _pass_over(member: Verifier, n_steps: int, *, is_refused: bool) -> MemberVerdicts:
    refused = Abstained(why=Why.SAME_FAMILY, detail="of the family that wrote the trace")
    verdict = refused if is_refused else Abstained(why=Why.NOT_NEEDED)
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=(verdict,) * n_steps)


def _refutes(verdict: Verdict) -> bool:
    return isinstance(verdict, Judged) and verdict.refuted


def _first_failure(verdicts: Iterable[Verdict]) -> Why:
    """The most telling reason: a failure of a back-end before a claim that nobody could read."""
    reasons = [verdict.why for verdict in verdicts if isinstance(verdict, Abstained)]
    telling = [why for why in reasons if why not in (Why.NOT_APPLICABLE, Why.NOT_NEEDED)]
    return (telling or reasons or [Why.NOT_APPLICABLE])[0]
