"""A prober that keeps its prompts and says what it is told to."""

from collections.abc import Sequence

from rafs.contracts import PromptPart
from rafs.types import Abstained, LabelMass, ModelIdentity
from rafs.usage import Meter

MOSTLY_YES = LabelMass(yes=0.3, no=0.1)


class KeepingProber:
    identity = ModelIdentity(id="m", family="f", revision="r")
    fingerprint = "keeping"

    def __init__(self, said: LabelMass | Abstained = MOSTLY_YES) -> None:
        self.said = said
        self.prompt: list[PromptPart] = []

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.prompt)

    @property
    def untrusted(self) -> list[str]:
        return [part.text for part in self.prompt if not part.trusted]

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        self.prompt = [*head, *(part for step in steps for part in step), *tail]
        return [self.said for _ in ask]
