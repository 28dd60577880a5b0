"""A stream that is passed on as it comes, and ends with its verdict."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from rafs.errors import RafsError
from service.errors import INTERNAL, Problem, from_error
from service.gate.chunks import DONE, Gathered, report_chunk, split_end, text_chunk, to_event
from service.gate.client_errors import error_object
from service.gate.completions import Report, note_of
from service.gate.proxy import Call, Proxy
from service.gate.scorable import Asked, read_problem
from service.gate_settings import Handling
from service.observability import log_unexpected


async def pass_on(proxy: Proxy, call: Call, chunks: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    """Yield the chunks of a model, a note where the policy asks for one, why it ended, the verdict and the end.

    The status is sent already: what fails from here on is told in a chunk with the key `error`, as clients know it.
    """
    try:
        gathered, ends = Gathered(), list[dict[str, Any]]()
        async for chunk in chunks:
            gathered.add(chunk)
            now, later = split_end(chunk)
            if now is not None:
                yield to_event(now)
            if later is not None:
                ends.append(later)
        async for event in _conclude(proxy, call, gathered, ends):
            yield event
    except (RafsError, Problem) as error:
        yield to_event({"error": error_object(from_error(error) if isinstance(error, RafsError) else error)})
    except Exception as error:  # the boundary of a stream: nobody else would tell the client
        log_unexpected(error)
        yield to_event({"error": error_object(INTERNAL)})


async def _conclude(proxy: Proxy, call: Call, gathered: Gathered, ends: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    asked = read_problem(call.chat.messages)
    decision = await proxy.judge(call, asked, gathered.choices())
    may_note = len(gathered.choices()) == 1 and not call.chat.is_structured
    annotates = call.order.policy is Handling.ANNOTATE and not decision.passes and may_note
    if annotates:
        yield to_event(text_chunk(gathered.first, f"\n\n{note_of(decision)}"))
    for chunk in ends:
        yield to_event(chunk)
    report = Report(
        policy=call.order.policy,
        action="annotated" if annotates else "passed",
        notes=list(asked.notes) if isinstance(asked, Asked) else [],
        decision=decision,
    )
    yield to_event(report_chunk(gathered.first, report))
    yield DONE
