"""The body of a reply, as far as it may be long."""

from collections.abc import AsyncIterator, Iterator
from typing import cast

import httpx

from rafs.client.errors import ReplyError


class BoundedBody(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of a reply, as far as it may be long."""

    def __init__(self, body: httpx.SyncByteStream | httpx.AsyncByteStream, limit: int) -> None:
        """Wrap the body of either client."""
        self._body = body
        self._limit = limit
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes of a blocking client."""
        for block in cast(httpx.SyncByteStream, self._body):
            yield self._counted(block)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes of the other one."""
        async for block in cast(httpx.AsyncByteStream, self._body):
            yield self._counted(block)

    def close(self) -> None:
        """Give the connection back."""
        cast(httpx.SyncByteStream, self._body).close()

    async def aclose(self) -> None:
        """Give the connection back."""
        await cast(httpx.AsyncByteStream, self._body).aclose()

    def _counted(self, block: bytes) -> bytes:
        self._left -= len(block)
        if self._left < 0:
            raise ReplyError(f"the service sent more than {self._limit} bytes (max_reply_bytes)")
        return block
