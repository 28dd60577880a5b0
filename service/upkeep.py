"""Forgetting in the background what is over."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from rafs.errors import BackendError
from service.observability import logger

EVERY_S = 60.0


async def prune_forever(prunes: Sequence[Callable[[], Awaitable[int]]], every_s: float = EVERY_S) -> None:
    """Call each of `prunes` now and every `every_s` seconds until cancelled; what fails waits for its next turn.

    What has begun is ended first: a connection that is given up amid a statement would outlive the event loop.
    """
    while True:
        for prune in prunes:
            pruning = asyncio.ensure_future(_prune(prune))
            try:
                await asyncio.shield(pruning)
            finally:
                await asyncio.wait({pruning})
        await asyncio.sleep(every_s)


async def _prune(prune: Callable[[], Awaitable[int]]) -> None:
    try:
        await prune()
    except BackendError as error:
        logger.warning("nothing was pruned", reason=str(error))
