"""The window of a batch: how many at once, behind whom, and what is tried again."""

import asyncio

from rafs.errors import BackendError, ConfigError
from rafs.request import ScoreRequest
from rafs.usage import Priority
from rafs.wire import ScoreResponse
from service.admission import Admission
from service.database.engine import Database
from service.jobs.ledger import Ledger
from service.jobs.scoring import BatchScorer
from service.progress import Tell
from service.terms import DEFAULT_TERMS, Terms
from tests.service.jobs.test_ledger import counts, make, stores
from tests.service.stand_in import StandIn


class Failing(StandIn):
    """Raises these errors in turn, and then scores."""

    def __init__(self, *errors: Exception) -> None:
        super().__init__()
        self.errors = list(errors)
        self.at_once = 0
        self.most_at_once = 0

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0)
            if self.errors:
                raise self.errors.pop(0)
            return await super().score(request, terms, tell)
        finally:
            self.at_once -= 1


def scoring(scorer: StandIn, ledger: Ledger, admission: Admission | None = None, attempts: int = 1) -> BatchScorer:
    return BatchScorer(scorer, ledger, admission or Admission(64, 1000), concurrency=3, attempts=attempts)


async def test_a_step_says_where_to_go_on_and_the_last_one_ends_the_batch(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b", "a", "c")
    work = scoring(StandIn(), ledger)
    assert await work.score_slice(batch, 0) == 4
    assert await work.score_slice(batch, 4) is None
    found = await store.find("t", batch)
    assert found is not None and (found.status, found.n_scored) == ("completed", 4)


async def test_a_step_that_is_repeated_scores_nothing_again(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b")
    scorer = StandIn()
    for _ in range(2):
        await scoring(scorer, ledger).score_slice(batch, 0)
    assert len(scorer.seen) == 2


async def test_what_a_lost_step_left_behind_is_still_scored(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b")
    work = scoring(StandIn(), ledger)
    assert await work.score_slice(batch, 2) == 0  # as if a step had been recorded whose results were lost
    assert await work.score_slice(batch, 0) == 2


async def test_no_more_items_are_scored_at_once_than_allowed(database: Database) -> None:
    store, ledger = stores(database)
    first, second = [await make(store, *(f"{name}{n}" for n in range(10))) for name in "ab"]
    scorer = Failing()
    work = scoring(scorer, ledger)
    await asyncio.gather(work.score_slice(first, 0), work.score_slice(second, 0))
    assert (scorer.most_at_once, len(scorer.seen)) == (3, 20)


async def test_a_batch_waits_while_others_fill_the_room(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    admission, scorer = Admission(64, 10), StandIn()
    admission.take_tokens(10, Priority.GATE)
    working = asyncio.create_task(scoring(scorer, ledger, admission).score_slice(batch, 0))
    while (await ledger.read(batch)).status != "running":  # type: ignore[union-attr]
        pass
    assert scorer.seen == []
    admission.give_back(10, 10, Priority.GATE)
    assert (await working, len(scorer.seen), admission.tokens) == (1, 1, 0)


async def test_an_item_whose_model_fails_is_tried_again(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    await scoring(Failing(BackendError("down")), ledger, attempts=2).score_slice(batch, 0)
    assert await counts(store, batch) == (1, 0, 512)


async def test_an_item_whose_model_stays_down_fails_alone(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b")
    await scoring(Failing(BackendError("down")), ledger).score_slice(batch, 0)
    assert await counts(store, batch) == (1, 1, 512)


async def test_weights_that_are_missing_are_waited_for(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a")
    await scoring(Failing(ConfigError("pull them")), ledger).score_slice(batch, 0)
    assert await counts(store, batch) == (1, 0, 512)


async def test_a_batch_that_is_cancelled_stops_what_is_in_flight(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make(store, "a", "b")
    scorer = StandIn(delay_s=3600.0)
    fast = Failing()

    class Mixed(StandIn):
        async def score(
            self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
        ) -> ScoreResponse:
            if request.trace == "a":
                return await scorer.score(request, terms, tell)
            await store.cancel("t", batch)
            return await fast.score(request, terms, tell)

    assert await scoring(Mixed(), ledger).score_slice(batch, 0) is None
    assert (scorer.cancelled, await counts(store, batch)) == (1, (0, 0, 0))
