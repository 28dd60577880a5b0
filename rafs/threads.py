"""Reading and counting in a thread, so that the event loop stays free."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def in_thread(call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call in a thread.

    Raises:
        Exception: Whatever the call raises, but `RuntimeError` for `StopIteration`: no future can carry that, so that
            whoever awaits `asyncio.to_thread` would wait for ever.
    """
    return await asyncio.to_thread(_without_stop, partial(call, *args, **kwargs))


def _without_stop(call: Callable[[], _T]) -> _T:
    try:
        return call()
    except StopIteration as error:
        raise RuntimeError("an iterator was asked for more than it has") from error
