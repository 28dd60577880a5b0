"""Pruning in the background."""

import asyncio

import pytest

from service.upkeep import prune_forever


async def test_a_prune_that_has_begun_is_ended_before_the_pruning_is() -> None:
    begun, may_end, done = asyncio.Event(), asyncio.Event(), False

    async def prune() -> int:
        nonlocal done
        begun.set()
        await may_end.wait()
        done = True
        return 0

    pruning = asyncio.ensure_future(prune_forever([prune]))
    await begun.wait()
    pruning.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await pruning
    assert done
