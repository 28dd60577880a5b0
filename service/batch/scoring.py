"""Scoring one item, whatever comes of it; every way of running a batch ends here."""

import logging
from collections.abc import Coroutine
from time import perf_counter
from typing import Any, Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_delay

from rafs.errors import BackendError, ConfigError, InputError, OverloadedError
from rafs.request import ScoreRequest
from rafs.usage import Priority
from rafs.wire import ScoreResponse
from service.batch.outcome import Failed, Finished, Item, Kind, Scored, outage_of, to_record
from service.terms import Terms
from service.visible import show_text

TERMS = Terms(priority=Priority.BATCH)
PATIENCE_S = 600.0
"""How long an item waits for a place in a queue that stays full."""
LONGEST_WAIT_S = 30.0
MAX_MESSAGE_CHARS = 500

log = logging.getLogger(__name__)


class Scores(Protocol):
    """What scores one request."""

    def score(self, request: ScoreRequest, terms: Terms = ...) -> Coroutine[Any, Any, ScoreResponse]:
        """Score one request; errors as of `ScoringService.score`."""
        ...


async def score_item(scorer: Scores, item: Item, *, full: bool = False, terms: Terms = TERMS) -> Finished:
    """Score an item.

    Args:
        scorer: What scores.
        item: Its request in the canonical form.
        full: Keep the whole response.
        terms: On what terms; a deadline or budget of the request narrows them.

    Raises:
        ConfigError: Weights or libraries are missing, so that no item can be scored.
    """
    started = perf_counter()
    result = await _score(scorer, item, full=full, terms=terms)
    return Finished(number=item.number, ms=(perf_counter() - started) * 1000, result=result)


async def _score(scorer: Scores, item: Item, *, full: bool, terms: Terms) -> Scored | Failed:
    try:
        request = ScoreRequest.model_validate_json(item.request)
        narrowed = terms.within(request.deadline_s, request.token_budget)
        response = await _patiently(scorer, request, narrowed)
    except InputError as error:
        return _failed(Kind.INPUT, f"{error}; field `{error.field}`: got {error.got}, allowed: {error.allowed}")
    except OverloadedError as error:
        return _failed(Kind.OVERLOADED, str(error))
    except BackendError as error:
        return _failed(Kind.TIMEOUT if error.timed_out else Kind.BACKEND, str(error))
    except ConfigError:
        raise
    except Exception as error:  # one item that meets a fault of ours must not end a million others
        log.exception("scoring row %d failed", item.number)
        return _failed(Kind.INTERNAL, type(error).__name__)
    if outage := outage_of(response):
        return _failed(Kind.BACKEND, outage)
    return Scored(record=to_record(response), response=response.model_dump_json() if full else None)


async def _patiently(scorer: Scores, request: ScoreRequest, terms: Terms) -> ScoreResponse:
    """Score; a queue that is full is waited for as long as it says."""
    retrying = AsyncRetrying(
        retry=retry_if_exception_type(OverloadedError), wait=_wait_s, stop=stop_after_delay(PATIENCE_S), reraise=True
    )
    return await retrying(scorer.score, request, terms)


def _wait_s(state: RetryCallState) -> float:
    error = None if state.outcome is None else state.outcome.exception()
    return min(LONGEST_WAIT_S, error.retry_after_s) if isinstance(error, OverloadedError) else 0.0


def _failed(kind: Kind, message: str) -> Failed:
    return Failed(kind=kind, message=show_text(message, MAX_MESSAGE_CHARS))
