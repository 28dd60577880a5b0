"""A language model as judge: P(Yes) after every step, from the mass of the two labels."""

from collections.abc import Sequence

from rafs.contracts import StepProber
from rafs.types import Abstained, BlindTrace, Judged, LabelMass, ModelIdentity, Verdict, Why
from rafs.usage import Meter
from verifiers.judge_prompt import render_answer_prompt, render_prompt


class JudgeVerifier:
    """Asks a model whether the last step is correct; the model sees the problem and the steps up to it, no answer."""

    def __init__(self, prober: StepProber, *, fence_key: bytes = b"") -> None:
        """Keep the model and the key.

        Args:
            prober: The model.
            fence_key: A secret of this installation that marks off the judged text in the prompt. It is given, not
                drawn: prompts of one installation are byte-identical, so that they can be cached and compared. With
                an empty one the marks can be computed by anybody; they are still taken out of the judged text.
        """
        self._prober = prober
        self._fence_key = fence_key

    @property
    def name(self) -> str:
        """`judge:` and the model's id."""
        return f"judge:{self._prober.identity.id}"

    @property
    def identity(self) -> ModelIdentity:
        """The model that judges."""
        return self._prober.identity

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Judge the asked steps: p_correct = mass(Yes) / (mass(Yes) + mass(No))."""
        prompt = render_prompt(trace, self._fence_key)
        masses = await self._prober.probe(prompt.head, prompt.steps, prompt.tail, ask, meter)
        return [read_mass(mass) for mass in masses]

    async def follows(self, trace: BlindTrace, answer: str, meter: Meter) -> Verdict:
        """Judge whether an answer follows from the steps; see `contracts.AnswerJudge`."""
        prompt = render_answer_prompt(trace, answer, self._fence_key)
        return read_mass((await self._prober.probe(prompt.head, prompt.steps, prompt.tail, [0], meter))[0])


def read_mass(mass: LabelMass | Abstained) -> Verdict:
    """Normalise the two labels; without mass on either there is no verdict."""
    if isinstance(mass, Abstained):
        return mass
    total = mass.yes + mass.no
    return Judged(p_correct=mass.yes / total) if total > 0 else Abstained(why=Why.NO_LABELS)
