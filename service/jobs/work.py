"""What the steps of a workflow do, as the workflows find it: DBOS calls functions, which know of no object."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the steps do; it runs on the event loop of the application."""

    loop: asyncio.AbstractEventLoop
    score_slice: Callable[[str, int], Coroutine[Any, Any, int | None]]
    """Scores on behind a number; returns the next one, None at the end."""
    tell: Callable[[str, int], Coroutine[Any, Any, bool]]
    """Makes an attempt, counted from 1, to tell the end; returns whether no other is needed."""
    pauses_s: tuple[float, ...]
    """Before each attempt."""


_here: list[Work] = []


def install(work: Work) -> None:
    """Make the steps of this process do this work."""
    _here[:] = [work]


def installed() -> Work:
    """Return the work of this process."""
    return _here[0]
