"""A caller that has enough: the service stops working for it."""

import asyncio

import pytest

from rafs.client import AsyncClient, Client
from rafs.progress_wire import StepsRead
from tests.service.stand_in import StandIn
from tests.service.test_server import PATIENCE_S, wait_for


@pytest.fixture
def scorer() -> StandIn:
    return StandIn(delay_s=PATIENCE_S)


def test_a_call_that_is_cancelled_ends_the_scoring(url: str, scorer: StandIn) -> None:
    async def leave() -> None:
        async with AsyncClient(url) as client:
            call = asyncio.create_task(client.score("p", "t"))
            await asyncio.to_thread(wait_for, lambda: len(scorer.seen) == 1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(leave())
    wait_for(lambda: scorer.cancelled == 1)


def test_leaving_a_stream_ends_the_scoring(url: str, scorer: StandIn) -> None:
    with Client(url) as client:
        with client.stream("p", "t") as events:
            assert isinstance(next(events), StepsRead)
        wait_for(lambda: scorer.cancelled == 1)
        assert client.ready()


def test_leaving_an_awaited_stream_ends_the_scoring(url: str, scorer: StandIn) -> None:
    async def leave() -> None:
        async with AsyncClient(url) as client:
            async with client.stream("p", "t") as events:
                assert isinstance(await anext(events), StepsRead)
            await asyncio.to_thread(wait_for, lambda: scorer.cancelled == 1)
            assert await client.ready()

    asyncio.run(leave())
