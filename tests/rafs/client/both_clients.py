"""One way to ask for both clients, so that each case runs through both."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from operator import attrgetter
from typing import Any

from rafs.client import AsyncClient, Client

Ask = Callable[..., Any]
"""Takes address, name of the method, its arguments, and `options` of the client; what comes one by one is a list."""


def ask_blocking(url: str, method: str, *args: object, options: dict[str, Any] | None = None, **fields: object) -> Any:
    with Client(url, **(options or {})) as client:
        if method != "stream":
            said = attrgetter(method)(client)(*args, **fields)
            return list(said) if isinstance(said, Iterator) else said
        with client.stream(*args, **fields) as events:  # type: ignore[arg-type]  # as the test has them
            return list(events)


def ask_awaited(url: str, method: str, *args: object, options: dict[str, Any] | None = None, **fields: object) -> Any:
    async def ask() -> Any:
        async with AsyncClient(url, **(options or {})) as client:
            if method != "stream":
                said = attrgetter(method)(client)(*args, **fields)
                return [one async for one in said] if isinstance(said, AsyncIterator) else await said
            async with client.stream(*args, **fields) as events:  # type: ignore[arg-type]
                return [event async for event in events]

    return asyncio.run(ask())
