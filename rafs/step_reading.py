"""What a language model's one pass over a trace holds of each step: numbers for a head that was trained on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rafs.types import Abstained, ModelIdentity
from rafs.usage import Meter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepReading:
    """One step as the model holds it, having read the problem and the steps up to it."""

    states: NDArray[np.float32]
    """Hidden states at the end of the step, and their mean over its tokens, shape (n_layers, 2, d)."""
    surprisal: NDArray[np.float32]
    """Statistics of how surprised the model is by its tokens, shape (n_statistics,)."""
    pooled: float = 0.0
    """Log-odds of its being wrong, by a network trained on the states of all its tokens; 0 where there is none."""


class StepReader(Protocol):
    """Reads a trace once with a language model and gives what it holds of each step; it decides nothing."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Whatever besides `identity` decides a reading; see `StepProber.fingerprint`."""
        ...

    async def read(
        self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter
    ) -> Sequence[StepReading | Abstained]:
        """Return one reading per entry of `ask`, in order; that of step t depends on `steps[: t + 1]` alone.

        `Abstained(TOO_LONG)` where the step ends past the model's window, `Abstained(NOT_APPLICABLE)` for a blank
        step, `Abstained(UNPARSED)` for all where the steps cannot be told apart in the model's tokens.

        Args:
            problem: Untrusted, like the steps: neither can forge the mark that ends a step.
            steps: Texts of the steps.
            ask: Positions in `steps`.
            meter: Where cost is counted.

        Raises:
            BackendError: The model failed, so nothing was read.
            OverloadedError: The model's bounded queue is full.
        """
        ...
