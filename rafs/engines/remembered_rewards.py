"""A process reward model that is asked only about the steps that nobody has asked about before."""

from collections.abc import Sequence

from rafs.contracts import PromptPart, StepRewarder
from rafs.engines.remembered_probes import prefix_keys
from rafs.engines.shared_work import SharedWork
from rafs.types import Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter, Stage

LASTING = frozenset({Why.TOO_LONG, Why.NOT_APPLICABLE})
"""Abstentions that problem and steps brought about; the cause of UNPARSED may be a later step of the same call."""


class RememberingRewarder:
    """A `StepRewarder` in front of another, as `RememberingProber` is for probers: what is known is not asked again.

    Nothing is shared between tenants. A remembered score equals one worked out now to rounding.
    """

    def __init__(self, rewarder: StepRewarder, memory: SharedWork[Verdict] | None = None) -> None:
        """Stand in front of a rewarder.

        Args:
            rewarder: Asked for what is not known.
            memory: Where what is known is kept; by default one of its own.
        """
        self._rewarder = rewarder
        self._memory = SharedWork(is_lasting) if memory is None else memory

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._rewarder.identity

    @property
    def fingerprint(self) -> str:
        """That of the rewarder behind it."""
        return self._rewarder.fingerprint

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """See `StepRewarder.reward`."""
        scope = (self.identity.id, self.identity.revision, self.fingerprint, meter.caller.tenant)
        texts = [[PromptPart(text=step)] for step in steps]
        keys = prefix_keys(scope, [PromptPart(text=problem)], texts, [], ask)

        async def work(positions: Sequence[int]) -> Sequence[Verdict]:
            return await self._rewarder.reward(problem, steps, [ask[at] for at in positions], meter)

        verdicts, n_reused = await self._memory.find(keys, meter.caller.priority, work)
        if n_reused:
            meter.add(Stage.VERIFY, reused=n_reused)
        return verdicts


def is_lasting(verdict: Verdict) -> bool:
    """Whether the same steps would get the same again."""
    return isinstance(verdict, Judged) or verdict.why in LASTING
