"""The K traces that consensus and stability are measured on: the caller's own, or drawn from the generator."""

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from rafs.contracts import Generator
from rafs.errors import BackendError
from rafs.outcomes import Unmeasured
from rafs.rounds import Stopped
from rafs.types import Sampled
from rafs.usage import Meter

logger = logging.getLogger(__name__)

SHORT_TEXT_CHARS = 200
"""Up to here two independent samples are often equal: 3 in 10 of GPT-4's at temperature 0.7, on solutions of 90 to 160
characters. Of GPT-3.5's that are longer, mostly above 450, it is 1 in 40, so an equal one is taken for a copy."""

Round = tuple[int, Stopped]
"""How many samples to draw next, and where that is none, why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """K texts, or why there are none."""

    texts: tuple[Sampled, ...]
    drawn: bool = False
    """Whether the generator was asked for them."""
    n_planned: int = 0
    """How many were to be drawn at most; 0 where they were sent."""
    stopped: Stopped | None = None
    """Why no more were drawn; None where they were sent, or the token budget was spent."""
    missing: Unmeasured | None = None

    @property
    def is_unfinished(self) -> bool:
        """Whether the token budget was spent before all were drawn that were wanted."""
        return self.drawn and self.stopped is None


async def gather_samples(
    problem: str,
    sent: Sequence[Sampled],
    generator: Generator | None,
    n: int,
    seed: int,
    meter: Meter,
    plan: Callable[[Sequence[Sampled]], Awaitable[Round]] | None = None,
) -> Samples:
    """Return the caller's samples, else at most n drawn from the generator, else the reason why there are none.

    Args:
        problem: To be solved.
        sent: The caller's samples.
        generator: The writer; None where it cannot be asked.
        n: How many to draw at most.
        seed: Of the draws.
        meter: Where cost is counted.
        plan: Says from what was drawn so far how many to draw next; None draws all at once.
    """
    if sent:
        return Samples(texts=tuple(sent))
    if n == 0:
        return _none_because("none sent, and this preset draws none")
    if generator is None:
        return _none_because("none sent, and the writer is no generator of models.yaml")
    texts: list[Sampled] = []
    stopped: Stopped | None = Stopped.ALL_DRAWN
    while left := n - len(texts):
        wanted, why = (left, stopped) if plan is None else await plan(texts)
        if not wanted:
            stopped = why
            break
        if meter.is_spent:
            stopped = None
            break
        try:
            drawn = await generator.sample(problem, wanted, seed, meter, first=len(texts))
        except BackendError as error:
            logger.warning("generator %s failed: %s", generator.identity.id, error)
            if not texts:
                return Samples(texts=(), missing=Unmeasured(reason="generator_down"))
            stopped = Stopped.FAILED
            break
        texts += drawn[:wanted]
        if len(drawn) < wanted:
            stopped = Stopped.NO_MORE
            break
    return Samples(texts=tuple(texts), drawn=True, n_planned=n, stopped=stopped)


def find_copies(samples: Sequence[Sampled], trace: str, bare: Collection[int]) -> tuple[int, ...]:
    """Return the caller's samples that are no evidence of their own, since nothing tells them from a copy.

    Texts are equal where they differ in white space alone. No vote has: the scored trace sent among its samples (all
    that equal it, and of a short one the first); a long text that was sent before; and, where all others are one and
    the same text with a derivation, as greedy decoding gives them, all but the first. Short texts and bare answers
    otherwise count each: two independent samples are often equal there.

    Args:
        samples: As sent; a cut one is never called a copy.
        trace: The scored trace.
        bare: Indices of the samples that state an answer and nothing else.
    """
    texts = {i: _plain(sample.text) for i, sample in enumerate(samples) if not sample.truncated}
    own, seen = _plain(trace), set[str]()
    copies: list[int] = []
    for i, text in texts.items():
        is_long = len(text) > SHORT_TEXT_CHARS
        if (text == own and own not in seen) or (is_long and text in seen | {own}):
            copies.append(i)
        seen.add(text)
    counted = [i for i in texts if i not in copies]
    if len(counted) > 1 and len({texts[i] for i in counted}) == 1 and counted[0] not in bare:
        copies += counted if texts[counted[0]] == own else counted[1:]
    return tuple(sorted(copies))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _none_because(detail: str) -> Samples:
    return Samples(texts=(), missing=Unmeasured(reason="no_samples", detail=detail))
