"""The K traces that consensus and stability are measured on: the caller's own, or drawn from the generator."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.outcomes import Unmeasured
from rafs.types import Sampled
from rafs.usage import Meter

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """K texts, or why there are none."""

    texts: tuple[Sampled, ...]
    drawn: bool = False
    """Whether the generator was asked for them."""
    missing: Unmeasured | None = None


async def gather_samples(
    problem: str, sent: Sequence[str], generator: Generator | None, n: int, seed: int, meter: Meter
) -> Samples:
    """Return the caller's samples, else n drawn from the generator, else the reason why there are none."""
    if sent:
        return sent_samples(sent)
    if n == 0:
        return _none_because("none sent, and this preset draws none")
    if generator is None:
        return _none_because("none sent, and the writer is no generator of models.yaml")
    try:
        return Samples(texts=tuple(await generator.sample(problem, n, seed, meter)), drawn=True)
    except BackendError as error:
        logger.warning("generator %s failed: %s", generator.identity.id, error)
        return Samples(texts=(), missing=Unmeasured(reason="generator_down"))


def sent_samples(sent: Sequence[str]) -> Samples:
    """Return the caller's samples."""
    return Samples(texts=tuple(Sampled(text=text, truncated=False) for text in sent))


def _none_because(detail: str) -> Samples:
    return Samples(texts=(), missing=Unmeasured(reason="no_samples", detail=detail))
