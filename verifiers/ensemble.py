"""Checkers first, models second, one calibrated number a step."""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from rafs.calibration import Calibration, combine, spread
from rafs.contracts import Verifier
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
    kind_of,
)
from rafs.usage import Meter
from verifiers.member import ask_member, silent
from verifiers.panel import ask_panel

CHECKER_BUDGET_S = 10.0
"""A checker only looks at what has been read; one that takes this long hangs."""
JUDGE = "judge"


class VerifierEnsemble:
    """Asks every member and pools their log-odds; what a checker refuted is not sent to a model."""

    def __init__(
        self,
        checkers: Sequence[Verifier],
        models: Sequence[Verifier],
        calibration: Calibration,
        q_refuted: float,
        *,
        n_judges: int = 1,
    ) -> None:
        self._checkers = checkers
        self._models = models
        self._calibration = calibration
        self._q_refuted = q_refuted
        self._n_judges = n_judges

    @property
    def models(self) -> Sequence[tuple[str, ModelIdentity]]:
        """Name and identity of every model that may be asked, in order of preference."""
        return [(model.name, model.identity) for model in self._models if model.identity is not None]

    async def check(self, trace: BlindTrace, refused: Collection[str], meter: Meter) -> StepVerdicts:
        """Judge by the checkers alone; see `contracts.Ensemble`."""
        steps = range(len(trace.steps))
        asking = (ask_member(checker, trace, steps, CHECKER_BUDGET_S, meter) for checker in self._checkers)
        rows = await asyncio.gather(*asking)
        rest = self._passed_over((), refused, Why.NOT_EVALUATED, len(steps))
        return self._conclude([*rows, *rest], len(steps))

    async def verify(
        self, trace: BlindTrace, checked: StepVerdicts, refused: Collection[str], deadline: float, meter: Meter
    ) -> StepVerdicts:
        """Judge every step that no checker refuted; see `contracts.Ensemble`."""
        pending = [t for t, verdict in enumerate(checked.combined) if not _refutes(verdict)]
        seats = {JUDGE: self._n_judges}
        rows = await ask_panel(self._models, seats, trace, pending, refused, deadline, meter)
        checkers = [row for row in checked.members if row.identity is None]
        rest = self._passed_over(rows, refused, Why.NOT_NEEDED, len(trace.steps))
        return self._conclude([*checkers, *rows.values(), *rest], len(trace.steps))

    def _passed_over(
        self, asked: Collection[str], refused: Collection[str], why: Why, n_steps: int
    ) -> Iterable[MemberVerdicts]:
        kin = Abstained(why=Why.SAME_FAMILY, detail="of the family that wrote the trace")
        for model in self._models:
            if model.name not in asked:
                yield silent(model, n_steps, kin if model.name in refused else Abstained(why=why))

    def _conclude(self, rows: Sequence[MemberVerdicts], n_steps: int) -> StepVerdicts:
        columns = [[row.verdicts[t] for row in rows] for t in range(n_steps)]
        heard = [self._heard(rows, column) for column in columns]
        members = {member for opinions in heard for member, _ in opinions}
        judges = [[one for one in opinions if kind_of(one[0]) == JUDGE] for opinions in heard]
        return StepVerdicts(
            combined=tuple(map(self._combine, heard, columns)),
            members=tuple(rows),
            heard_models=tuple(row.member for row in rows if row.identity is not None and row.member in members),
            decided_by=tuple(tuple(member for member, _ in _deciding(opinions)) for opinions in heard),
            disagreement=tuple(
                spread([(member, verdict.p_correct) for member, verdict in opinions], self._calibration)
                for opinions in judges
            ),
        )

    def _heard(self, rows: Sequence[MemberVerdicts], column: Sequence[Verdict]) -> list[tuple[str, Judged]]:
        """Return the opinions on a step that count, with whose they are."""
        return [
            (row.member, verdict)
            for row, verdict in zip(rows, column, strict=True)
            if isinstance(verdict, Judged) and self._calibration.hears(row.member)
        ]

    def _combine(self, heard: Sequence[tuple[str, Judged]], column: Sequence[Verdict]) -> Verdict:
        if not heard:
            why = Why.AT_CHANCE if judged_only(column) else _first_failure(column)
            return Abstained(why=why, detail=_UNHEARD.get(why, "no member judged the step"))
        q = combine([(member, verdict.p_correct) for member, verdict in heard], self._calibration)
        deciding = [verdict for _, verdict in _deciding(heard)]
        refuted = any(verdict.refuted for verdict in deciding)
        return Judged(
            p_correct=min(q, self._q_refuted) if refuted else q,
            refuted=refuted,
            reason="; ".join(verdict.reason for verdict in deciding if verdict.reason),
        )


_UNHEARD = {
    Why.AT_CHANCE: "only a verifier that is at chance judged it",
    Why.FAILED_AUDIT: "no judge is left that passed its audit",
}


def _deciding(heard: Sequence[tuple[str, Judged]]) -> Sequence[tuple[str, Judged]]:
    """Return the opinions that make the verdict: a proof against the step, where there is one, leaves no other."""
    return [(member, verdict) for member, verdict in heard if verdict.refuted] or heard


def _refutes(verdict: Verdict) -> bool:
    return isinstance(verdict, Judged) and verdict.refuted


def _first_failure(verdicts: Iterable[Verdict]) -> Why:
    """The most telling reason: a failure of a back-end before a claim that nobody could read."""
    reasons = [verdict.why for verdict in verdicts if isinstance(verdict, Abstained)]
    telling = [why for why in reasons if why not in (Why.NOT_APPLICABLE, Why.NOT_NEEDED, Why.NOT_EVALUATED)]
    return (telling or reasons or [Why.NOT_APPLICABLE])[0]
