"""Answers as they lie in the database: compressed, since JSON of steps repeats itself."""

import asyncio
import zlib

LEVEL = 1
"""The fastest; a typical response shrinks to a sixth."""
AT_ONCE = 65_536
"""Bytes that are packed in well under a millisecond, less than the way to a thread and back is worth."""


async def pack(body: bytes) -> bytes:
    """Return a body compressed."""
    if len(body) <= AT_ONCE:
        return zlib.compress(body, LEVEL)
    return await asyncio.to_thread(zlib.compress, body, LEVEL)


def unpack(packed: bytes) -> bytes:
    """Return the body that was packed."""
    return zlib.decompress(packed)
