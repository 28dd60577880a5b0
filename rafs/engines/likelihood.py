"""How likely a model holds a given reply: the probabilities behind multiple choice."""

from collections.abc import Sequence
from typing import Protocol

from rafs.contracts import HasIdentity, PromptPart
from rafs.types import Abstained
from rafs.usage import Meter

STAGE = "likelihood"


class Likelihood(HasIdentity, Protocol):
    """A language model that reads replies instead of writing them.

    Every implementation passes the suite of this name in `tests/contracts/`.
    """

    async def logprobs(
        self, task: Sequence[PromptPart], replies: Sequence[str], meter: Meter
    ) -> Sequence[float | Abstained]:
        """Return log p(reply | task) of every reply, in order: the sum over its tokens, in nats.

        The task stands in the model's chat template where it has one, as when the model is told to reply; the end of
        the reply is none of its tokens. `Abstained(TOO_LONG)` where both do not fit the window, and
        `Abstained(NOT_APPLICABLE)` for a blank reply or where the engine gives no such probabilities.

        Raises:
            BackendError: The model failed, so nothing was read.
            OverloadedError: The model's bounded queue is full.
        """
        ...
