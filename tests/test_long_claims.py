"""Claims beyond a validator's window: the response says so, and so does its replay."""

from collections.abc import Sequence

from rafs.record import Record
from rafs.types import Abstained, Entailment, Why
from rafs.usage import Meter
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import IN_WORDS, WordNli, request, scorer


class ShortSighted(WordNli):
    """A validator that reads a premise with a `Hence` in pieces, and no hypothesis with one."""

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        def opinion(premise: str, hypothesis: str) -> Entailment | Abstained:
            if "Hence" in hypothesis:
                return Abstained(why=Why.TOO_LONG)
            return Entailment(entails=0.5, neutral=0.5, contradicts=0.0, windowed="Hence" in premise)

        return [opinion(*pair) for pair in pairs]


async def test_pairs_that_were_not_read_whole_are_named_and_replayed() -> None:
    response = await scorer(nli=ShortSighted()).score(request(samples=IN_WORDS, include=["record"]))
    windowed, unread = sorted(response.truncated, key=lambda note: note.endswith("not read"))
    assert windowed.endswith("pairs of texts: beyond the validator's window, read in pieces")
    assert unread.endswith("pairs of texts: beyond the validator's window, not read")
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    assert again.truncated == response.truncated


async def test_pairs_that_fit_are_not_named() -> None:
    response = await scorer().score(request(samples=IN_WORDS))
    assert response.truncated == []
