"""Checkers first, models second, one calibrated number a step."""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from rafs.calibration import Calibration, combine
from rafs.contracts import Verifier
from rafs.errors import BackendError
from rafs.types import Abstained, BlindTrace, Judged, MemberVerdicts, ModelIdentity, StepVerdicts, Verdict, Why
from rafs.usage import Meter


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
    def models(self) -> Sequence[ModelIdentity]:
        """The models that may be asked."""
        return [model.identity for model in self._models if model.identity is not None]

    async def verify(self, trace: BlindTrace, refused: Collection[ModelIdentity], meter: Meter) -> StepVerdicts:
        """Judge every step of the derivation; a member that fails or is refused is left out with its reason."""
        everything = range(len(trace.steps))
        rows = [await _ask(checker, trace, everything, meter) for checker in self._checkers]
        pending = [t for t in everything if not any(_refutes(row.verdicts[t]) for row in rows)]
        chosen = _first_of_each_kind(model for model in self._models if model.identity not in refused)
        rows += await asyncio.gather(*(_ask(model, trace, pending, meter) for model in chosen))
        rows += [_refuse(model, len(trace.steps)) for model in self._models if model.identity in refused]
        return StepVerdicts(combined=tuple(self._combine(rows, t) for t in everything), members=tuple(rows))

    def _combine(self, rows: Sequence[MemberVerdicts], t: int) -> Verdict:
        opinions = [(row.member, row.verdicts[t]) for row in rows]
        judged = [(member, verdict) for member, verdict in opinions if isinstance(verdict, Judged)]
        if not judged:
            return Abstained(why=_first_failure(verdict for _, verdict in opinions), detail="no member judged the step")
        pooled = combine([(kind_of(member), verdict.p_correct) for member, verdict in judged], self._calibration)
        refuting = [verdict for _, verdict in judged if verdict.refuted]
        q = min(pooled, self._q_refuted) if refuting else pooled
        reason = (
            refuting[0].reason if refuting else "; ".join(verdict.reason for _, verdict in judged if verdict.reason)
        )
        return Judged(p_correct=q, refuted=bool(refuting), reason=reason)


async def _ask(member: Verifier, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> MemberVerdicts:
    verdicts: list[Verdict] = [Abstained(why=Why.DECIDED_BY_CHECKER)] * len(trace.steps)
    try:
        answers = await member.verify(trace, ask, meter) if ask else []
    except BackendError as error:
        why = Why.TIMEOUT if error.timed_out else Why.BACKEND_DOWN
        answers = [Abstained(why=why, detail=str(error))] * len(ask)
    for t, verdict in zip(ask, answers, strict=True):
        verdicts[t] = verdict
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=tuple(verdicts))


def _first_of_each_kind(models: Iterable[Verifier]) -> list[Verifier]:
    """The operator lists models in order of preference: later ones of a kind stand in for a refused one."""
    chosen: dict[str, Verifier] = {}
    for model in models:
        chosen.setdefault(kind_of(model.name), model)
    return list(chosen.values())


def kind_of(member: str) -> str:
    """Return the kind of a member: `judge` for `judge:smollm2-135m-instruct`."""
    return member.partition(":")[0]


def _refuse(member: Verifier, n_steps: int) -> MemberVerdicts:
    verdict = Abstained(why=Why.SAME_FAMILY, detail="of the family that wrote the trace")
    return MemberVerdicts(member=member.name, identity=member.identity, verdicts=(verdict,) * n_steps)


def _refutes(verdict: Verdict) -> bool:
    return isinstance(verdict, Judged) and verdict.refuted


def _first_failure(verdicts: Iterable[Verdict]) -> Why:
    """The most telling reason: a failure of a back-end before a claim that nobody could read."""
    reasons = [verdict.why for verdict in verdicts if isinstance(verdict, Abstained)]
    telling = [why for why in reasons if why is not Why.NOT_APPLICABLE]
    return (telling or reasons or [Why.NOT_APPLICABLE])[0]
