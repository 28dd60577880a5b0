"""Requests about batches as they go out, and what reads their replies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar
from urllib.parse import quote, urlencode

import httpx
import tenacity
from pydantic import BaseModel

from rafs.batch_wire import BatchList, BatchStatus
from rafs.client.calls import IDEMPOTENCY, Call, fields_of, post, read_as
from rafs.client.errors import ReplyError
from rafs.errors import BackendError, InputError
from rafs.visible import show_text

PATH = "/v1/batches"
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 10.0
UPLOAD_S = 3_600.0
"""The service reads an upload to its end before it answers."""
LINES = {"Content-Type": "application/jsonl"}
MADE = frozenset({201})

Line = TypeVar("Line", bound=BaseModel)


class BatchFields(TypedDict, total=False):
    """What holds for a whole batch; each as in the request of `POST /v1/batches`."""

    preset: str | None
    seed: int | None
    generator: Mapping[str, str] | None
    full: bool
    webhook: Mapping[str, str] | None
    """`url`, and `secret` where it is not to be made by the service."""
    metadata: Mapping[str, str]


class UploadFields(TypedDict, total=False):
    """What holds for all rows of an upload."""

    preset: str | None
    seed: int | None
    generator: str | None
    """The model that wrote the traces which name none."""
    full: bool
    webhook_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Line]):
    """Some rows, and the path of those behind them."""

    lines: Sequence[Line]
    next: str | None


def create_call(requests: Sequence[Mapping[str, Any]], fields: BatchFields, key: str | None) -> Call[BatchStatus]:
    """Return a call that makes a batch of requests.

    Raises:
        InputError: One is nothing that can be sent.
    """
    items = [_item(number, request) for number, request in enumerate(requests)]
    return replace(post(PATH, {**fields, "requests": items}, read_as(BatchStatus), key), answers=MADE)


def upload_call(path: Path, fields: UploadFields, key: str | None) -> Call[BatchStatus]:
    """Return a call that makes a batch of a file.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        got = error.strerror or str(error)
        allowed = "a file of JSON Lines"
        raise InputError(f"{path}: {got}, allowed {allowed}", field="path", got=got, allowed=allowed) from error
    given = {name: str(value).lower() if value is True else value for name, value in fields.items() if value}
    return Call(
        method="POST",
        path=f"{PATH}?{urlencode(given)}",
        read=read_as(BatchStatus),
        content=content,
        headers=LINES if key is None else LINES | {IDEMPOTENCY: key},
        patience_s=UPLOAD_S,
        answers=MADE,
    )


def list_call(before: str | None, limit: int) -> Call[BatchList]:
    """Return a call that lists batches."""
    query = {"limit": limit} | ({} if before is None else {"before": before})
    return Call(method="GET", path=f"{PATH}?{urlencode(query)}", read=read_as(BatchList))


def status_call(batch_id: str) -> Call[BatchStatus]:
    """Return a call that reads how far a batch is."""
    return Call(method="GET", path=_path(batch_id), read=read_as(BatchStatus))


def cancel_call(batch_id: str) -> Call[BatchStatus]:
    """Return a call that cancels a batch."""
    return Call(method="POST", path=_path(batch_id, "cancel"), read=read_as(BatchStatus))


def page_call(batch_id: str, kind: str, page: int, model: type[Line]) -> Call[Page[Line]]:
    """Return a call that reads the first rows of a batch's results or errors."""

    def read(response: httpx.Response) -> Page[Line]:
        rows = [model.model_validate_json(line, extra="ignore") for line in response.content.splitlines()]
        link = response.links.get("next", {}).get("url")
        return Page(lines=rows, next=None if link is None else _own(link, response.url))

    return Call(method="GET", path=f"{_path(batch_id, kind)}?{urlencode({'limit': page})}", read=read)


def following(call: Call[Page[Line]], page: Page[Line]) -> Call[Page[Line]] | None:
    """Return the call that reads the page behind another; None where it was the last."""
    return None if page.next is None else replace(call, path=page.next)


def until_over(batch_id: str, timeout_s: float | None) -> dict[str, Any]:
    """Return how either kind of tenacity waits for a batch.

    Args:
        batch_id: Named where it takes too long.
        timeout_s: None waits for as long as it takes.
    """

    def give_up(state: tenacity.RetryCallState) -> BatchStatus:
        raise BackendError(f"batch {batch_id} was not over after {timeout_s:g} s; it goes on", timed_out=True)

    return {
        "retry": tenacity.retry_if_result(lambda status: not status.is_over),
        "wait": tenacity.wait_exponential(multiplier=FIRST_PAUSE_S, max=LONGEST_PAUSE_S),
        "stop": tenacity.stop_never if timeout_s is None else tenacity.stop_before_delay(timeout_s),
        "retry_error_callback": give_up,
    }


def _own(link: str, asked: httpx.URL) -> str:
    """Return a link of a reply, unless it leads to another server than the one that was asked: no key goes there.

    Raises:
        ReplyError: It does, or it is no link.
    """
    try:
        target = asked.join(link)
    except httpx.InvalidURL as error:
        raise ReplyError(f"the link to the next page is none: {error}") from error
    if _origin(target) != _origin(asked):
        shown, own = show_text(link), show_text(_address(asked))
        raise ReplyError(f"the link to the next page leads to {shown}, away from {own}; it was not followed")
    return link


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port  # httpx leaves out the port that a scheme has anyway


def _address(url: httpx.URL) -> str:
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _item(number: int, request: Mapping[str, Any]) -> Mapping[str, object]:
    if not {"problem", "trace"} <= request.keys():
        got, allowed = f"the keys {', '.join(map(str, request))}", "at least problem and trace"
        field = f"requests.{number}"
        raise InputError(f"{field}: got {got}, allowed {allowed}", field=field, got=got, allowed=allowed)
    fields = fields_of(request["problem"], request["trace"], request)
    return {name: value for name, value in fields.items() if value is not None}


def _path(batch_id: str, *parts: str) -> str:
    return "/".join((PATH, quote(batch_id, safe=""), *parts))
