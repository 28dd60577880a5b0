"""When a request is sent again, and after which pause."""

import random
from typing import TypeVar

import tenacity

from rafs.client.errors import ProblemError, UnreachableError
from rafs.client.settings import ClientSettings

Retrying = TypeVar("Retrying", bound=tenacity.BaseRetrying)

BUSY = frozenset({429, 503})
IN_PROGRESS = 409
"""With Retry-After: an attempt of ours whose reply was lost is still being worked on."""


def repeating(kind: type[Retrying], settings: ClientSettings) -> Retrying:
    """Return what repeats calls, of the blocking or of the other kind; one for each call, since it counts."""
    return kind(
        retry=tenacity.retry_if_exception(lambda error: may_help(error, settings)),
        stop=tenacity.stop_after_attempt(settings.attempts),
        wait=lambda state: pause_s(state, settings),
        reraise=True,
    )


def may_help(error: BaseException, settings: ClientSettings) -> bool:
    """Whether asking again may help: after a broken connection, and where the service asks for it or is busy."""
    match error:
        case UnreachableError():
            return error.may_repeat
        case ProblemError(retry_after_s=None):
            return error.status in BUSY
        case ProblemError(retry_after_s=float(asked_s)):
            return error.status in BUSY | {IN_PROGRESS} and asked_s <= settings.longest_pause_s
        case _:
            return False


def pause_s(state: tenacity.RetryCallState, settings: ClientSettings) -> float:
    """Return the seconds that Retry-After asks for, else a doubling pause with jitter."""
    error = state.outcome.exception() if state.outcome is not None else None
    if isinstance(error, ProblemError) and error.retry_after_s is not None:
        return error.retry_after_s
    longest = min(settings.first_pause_s * 2 ** (state.attempt_number - 1), settings.longest_pause_s)
    # Jitter spreads load and decides no result, so it needs no seed.
    return float(longest * random.uniform(0.5, 1.0))
