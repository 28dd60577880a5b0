"""Forgetting in the background what is over."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from rafs.errors import BackendError
from service.observability import logger

EVERY_S = 60.0


async def prune_forever(prunes: Sequence[Callable[[], Awaitable[int]]], every_s: float = EVERY_S) -> None:
    """Call each of `prunes` now and every `every_s` seconds until cancelled; what fails waits for its next turn."""
    while True:
        for prune in prunes:
            try:
                await prune()
            except BackendError as error:
                logger.warning("nothing was pruned", reason=str(error))
        await asyncio.sleep(every_s)
