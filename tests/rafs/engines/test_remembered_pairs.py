from collections.abc import Sequence

import pytest

from rafs.engines.remembered_pairs import RememberingNli
from rafs.types import Abstained, Entailment, ModelIdentity, Why
from rafs.usage import Caller, Meter, StageUsage

PAIRS = [("Tom has 3 apples.", "Tom has apples."), ("Tom has apples.", "Tom has 3 apples."), ("a", "b")]


class CountingNli:
    """Answers by length, and remembers what it was asked."""

    identity = ModelIdentity(id="counting", family="none", revision="1")

    def __init__(self, says: Abstained | None = None) -> None:
        self.says = says
        self.asked: list[list[tuple[str, str]]] = []

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        self.asked.append(list(pairs))
        meter.add("nli", calls=len(pairs), tokens=sum(len(one) + len(other) for one, other in pairs))
        entails = [len(one) / (len(one) + 2 * len(other)) for one, other in pairs]
        return [self.says or Entailment(entails=each, neutral=1 - each, contradicts=0.0) for each in entails]


async def test_a_known_pair_costs_nothing_and_keeps_its_opinion() -> None:
    counting = CountingNli()
    nli = RememberingNli(counting)
    first = await nli.classify(PAIRS, Meter())
    meter = Meter()
    assert await nli.classify([PAIRS[2], PAIRS[0]], meter) == [first[2], first[0]]
    assert meter.stages["nli"] == StageUsage(reused=2)


async def test_only_new_pairs_are_asked_and_the_direction_counts() -> None:
    counting = CountingNli()
    nli = RememberingNli(counting)
    await nli.classify(PAIRS[:1], Meter())
    await nli.classify([*PAIRS, PAIRS[1]], Meter())
    assert counting.asked == [PAIRS[:1], PAIRS[1:]]


async def test_tenants_share_no_pair() -> None:
    counting = CountingNli()
    nli = RememberingNli(counting)
    for tenant in ("a", "b"):
        await nli.classify(PAIRS, Meter(caller=Caller(tenant=tenant)))
    assert len(counting.asked) == 2


@pytest.mark.parametrize(("why", "n_calls"), [(Why.TOO_LONG, 1), (Why.BACKEND_DOWN, 2)])
async def test_an_abstention_is_kept_only_where_the_pair_caused_it(why: Why, n_calls: int) -> None:
    counting = CountingNli(Abstained(why=why))
    nli = RememberingNli(counting)
    for _ in range(2):
        await nli.classify(PAIRS, Meter())
    assert len(counting.asked) == n_calls
