"""Scoring labelled traces again with other numbers, from what the models said when their records were made."""

from collections.abc import Sequence
from dataclasses import replace

from rafs.calibration import Calibration
from rafs.contracts import Algebra, Verifier
from rafs.errors import InputError
from rafs.evaluation.families import Item
from rafs.evaluation.records import ItemRecord, record_result
from rafs.model_entry import Role
from rafs.pipeline import Pipeline
from rafs.policy import Policy, Reason
from rafs.registry import Registry
from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter
from service.identity import identity_of
from service.labelled_scoring import to_request
from service.scorer import Scorer
from service.wiring import REPLAY_DEADLINE_S, assemble
from verifiers.symbolic import SymbolicVerifier

VERIFIERS = (Role.PRM, Role.JUDGE)
"""In the order in which a pipeline asks them."""
FINAL = {Reason.DEADLINE, Reason.VERIFIER_DOWN}
"""What a record ends with for reasons of that day: it is left as it is, and nothing of it is accepted."""


class RememberedVerifier:
    """Repeats what a model said of each step, by the record of its trace."""

    def __init__(self, name: str, identity: ModelIdentity, row: Sequence[float | None]) -> None:
        self.name = name
        self.identity: ModelIdentity | None = identity
        self._row = row

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Repeat the verdicts on the asked steps."""
        said = [self._row[trace.steps[t].index] for t in ask]
        return [Abstained(why=Why.NOT_APPLICABLE) if p is None else Judged(p_correct=p) for p in said]


class Rescorer:
    """Runs a preset with remembered models; not for presets with a generator, whose words no record holds."""

    def __init__(self, registry: Registry, preset: str, *, seed: int, generator: str | None, secret: str) -> None:
        """Keep what stays the same.

        Args:
            registry: Policy, preset and families.
            preset: Of the records.
            seed: Of their run.
            generator: Taken for the writer of every trace that names none.
            secret: Mixed into the seed of the edits, as when the records were made.
        """
        self._registry = registry
        self._preset = preset
        self._seed = seed
        self._generator = generator
        self._secret = secret

    async def rescore(self, item: Item, calibration: Calibration, policy: Policy, algebra: Algebra) -> ItemRecord:
        """Return the record of an item as other numbers make it.

        One that failed or ran out of time has no score.

        Args:
            item: A trace that is cut into steps, with its record.
            calibration: The numbers.
            policy: The constants.
            algebra: Settles claims.
        """
        record, trace = item.record, item.trace
        assert record is not None  # left out before
        if record.error is not None or FINAL & set(record.reasons):
            return replace(record, score=None)

        def build(name: str) -> Pipeline:
            return assemble(
                policy,
                replace(self._registry.presets.by_name()[name].to_preset(name), deadline_s=REPLAY_DEADLINE_S),
                calibration,
                algebra=algebra,
                checkers=[SymbolicVerifier(calibration.checker)],
                models=self._remembered(record),
                validators=[],
                generators={},
            )

        scorer = Scorer(
            registry=self._registry,
            build_pipeline=build,
            is_ready=lambda _: True,
            close=_nothing_to_close,
            calibration=calibration,
            default_preset=self._preset,
            edit_secret=self._secret,
        )
        try:
            result = await scorer.measure(to_request(trace, self._preset, self._seed, self._generator))
        except InputError:
            return replace(record, score=None)
        return replace(record_result(trace, result), cost=record.cost)

    def _remembered(self, record: ItemRecord) -> list[Verifier]:
        """Return the models that said something; all of them, silent, where none did."""
        named = [
            (f"{role.value}:{entry.id}", identity_of(entry, self._registry))
            for role in VERIFIERS
            for entry in self._registry.candidates(self._preset, role)
        ]
        silent = (None,) * len(record.q)
        everyone = [(name, identity, record.members.get(name, silent)) for name, identity in named]
        speaking = [one for one in everyone if any(p is not None for p in one[2])]
        return [RememberedVerifier(*one) for one in speaking or everyone]


async def _nothing_to_close() -> None:
    pass
