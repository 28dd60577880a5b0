"""A step prober that asks its model only what nobody has asked before."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rafs.contracts import PromptPart, StepProber
from rafs.engines.shared_work import SharedWork
from rafs.types import Abstained, LabelMass, ModelIdentity, Why
from rafs.usage import Meter, Stage

if TYPE_CHECKING:
    from hashlib import _Hash

LASTING = frozenset({Why.TOO_LONG, Why.NO_LABELS, Why.WORD_ONLY})
"""Abstentions that the prompt itself brought about; any other may be gone when it is asked again."""


class RememberingProber:
    """A `StepProber` in front of another: equal prompts are run once, at the same time or later.

    A step appended to a known trace asks for that step alone. Nothing is shared between tenants. The model sees the
    questions that are left in a batch of another shape, so a remembered mass equals the one that would have been
    worked out now to rounding (1e-4 of a logit in fp32), and not to the bit; that of a repeated request equals it to
    the bit. Each caller's meter counts what was run for it, and what it took over as `reused`.
    """

    def __init__(self, prober: StepProber, memory: SharedWork[LabelMass | Abstained] | None = None) -> None:
        """Stand in front of a prober.

        Args:
            prober: Asked for what is not known.
            memory: Where what is known is kept; by default one of its own.
        """
        self._prober = prober
        self._memory = SharedWork(is_lasting) if memory is None else memory

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._prober.identity

    @property
    def fingerprint(self) -> str:
        """That of the prober behind it."""
        return self._prober.fingerprint

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """See `StepProber.probe`."""
        scope = (self.identity.id, self.identity.revision, self.fingerprint, meter.caller.tenant)
        keys = prefix_keys(scope, head, steps, tail, ask)

        async def work(positions: Sequence[int]) -> Sequence[LabelMass | Abstained]:
            return await self._prober.probe(head, steps, tail, [ask[at] for at in positions], meter)

        masses, n_reused = await self._memory.find(keys, meter.caller.priority, work)
        if n_reused:
            meter.add(Stage.VERIFY, reused=n_reused)
        return masses


def is_lasting(mass: LabelMass | Abstained) -> bool:
    """Whether the same prompt would give the same again."""
    return isinstance(mass, LabelMass) or mass.why in LASTING


def prefix_keys(
    scope: Sequence[str],
    head: Sequence[PromptPart],
    steps: Sequence[Sequence[PromptPart]],
    tail: Sequence[PromptPart],
    ask: Sequence[int],
) -> list[bytes]:
    """Return one key per entry of `ask`: SHA-256 of scope and prompt, parts and their trust told apart.

    The text is read once, however many steps are asked: the hash goes on from prefix to prefix.
    """
    prefix = hashlib.sha256()
    _take_in(prefix, [PromptPart(text=text) for text in scope])
    _take_in(prefix, head)
    keys: list[bytes] = []
    for step in steps[: max(ask, default=-1) + 1]:
        _take_in(prefix, step)
        whole = prefix.copy()
        _take_in(whole, tail)
        keys.append(whole.digest())
    return [keys[t] for t in ask]


def _take_in(state: "_Hash", parts: Sequence[PromptPart]) -> None:
    """Hash the parts with their number and lengths, so that no two sequences of them read the same."""
    state.update(len(parts).to_bytes(8))
    for part in parts:
        content = part.text.encode(errors="surrogatepass")
        state.update(part.trusted.to_bytes(1) + len(content).to_bytes(8))
        state.update(content)
