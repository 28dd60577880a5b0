"""A validator that classifies a pair of texts only once."""

import hashlib
from collections.abc import Sequence

from rafs.contracts import Nli
from rafs.engines.shared_work import SharedWork
from rafs.types import Abstained, Entailment, ModelIdentity, Why
from rafs.usage import Meter

STAGE = "nli"


class RememberingNli:
    """An `Nli` in front of another: equal pairs of one tenant are run once, at the same time or later.

    What is left is batched in another shape, so a remembered opinion equals a new one to rounding.
    """

    def __init__(self, nli: Nli, memory: SharedWork[Entailment | Abstained] | None = None) -> None:
        """Stand in front of a validator.

        Args:
            nli: Asked for what is not known.
            memory: Where what is known is kept; by default one of its own.
        """
        self._nli = nli
        self._memory = SharedWork(is_lasting) if memory is None else memory

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self._nli.identity

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        """See `Nli.classify`."""
        scope = _digest(repr((self.identity.id, self.identity.revision, meter.caller.tenant)))
        digests = {text: _digest(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        keys = [scope + digests[premise] + digests[hypothesis] for premise, hypothesis in pairs]

        async def work(positions: Sequence[int]) -> Sequence[Entailment | Abstained]:
            return await self._nli.classify([pairs[at] for at in positions], meter)

        opinions, n_reused = await self._memory.find(keys, meter.caller.priority, work)
        if n_reused:
            meter.add(STAGE, reused=n_reused)
        return opinions


def is_lasting(opinion: Entailment | Abstained) -> bool:
    """Whether the same pair would give the same again."""
    return isinstance(opinion, Entailment) or opinion.why is Why.TOO_LONG


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
