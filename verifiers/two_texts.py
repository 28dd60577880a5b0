"""A Yes/No question about two texts on one problem, marked off so that none of them is an instruction."""

from dataclasses import dataclass

from rafs.contracts import PromptPart, StepProber
from rafs.fences import draw_fence, quote
from rafs.types import Verdict
from rafs.usage import Meter
from verifiers.judge import read_mass


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The trusted parts of a prompt, with `{fence}` where a mark stands: around the problem and the two texts."""

    opening: str
    first: str
    second: str
    question: str


async def compare(
    prober: StepProber, asked: Comparison, fence_key: bytes, problem: str, first: str, second: str, meter: Meter
) -> Verdict:
    """Return P(Yes) = mass(Yes) / (mass(Yes) + mass(No)), or why there is none.

    Raises:
        BackendError: The model failed, so nothing was judged.
        OverloadedError: The model's bounded queue is full.
    """
    fence = draw_fence("judge fence", problem, fence_key)
    head = (
        PromptPart(text=asked.opening.format(fence=fence), trusted=True),
        quote(problem),
        PromptPart(text=asked.first.format(fence=fence), trusted=True),
        quote(first),
        PromptPart(text=asked.second.format(fence=fence), trusted=True),
    )
    tail = (PromptPart(text=asked.question.format(fence=fence), trusted=True),)
    return read_mass((await prober.probe(head, ((quote(second),),), tail, [0], meter))[0])
