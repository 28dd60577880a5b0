"""JSON Lines as they arrive: cut into rows, made into requests, and given on before the next ones are read."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass

from fastapi import Request

from rafs.errors import InputError
from rafs.request import ScoreRequest
from rafs.threads import in_thread
from service.batch.canonical import canonical, hash_of
from service.batch.mapping import LOOKED_AT, Choice, Mapper, choose_shape
from service.batch.outcome import Failed, Kind
from service.batch.shapes import LeftOut
from service.batch.source import BYTE_ORDER_MARK, MAX_LINE_BYTES, Line, Position, parse_row
from service.errors import Problem, too_large, too_slow
from service.jobs.store import NewRow
from service.request_body import Fault
from service.visible import show_text

MEDIA_TYPES = ("application/jsonl", "application/x-ndjson", "application/x-jsonlines")
NAME = "upload"
UPLOAD_S = 3_600.0
"""However steadily it comes."""
ROWS_AT_ONCE = 128
MAX_MESSAGE_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of an upload is taken."""

    max_bytes: int
    silence_s: float
    """A client that sends nothing for so long is given up."""


@dataclass(slots=True)
class Counted:
    """What became of the rows so far."""

    n_rows: int = 0
    n_left_out: int = 0


class Upload:
    """A body that is read once, as it arrives, and what stands for it and for what else was asked.

    Errors of both ways to read it:
        Problem: 413, it is longer than allowed; 408, it did not come in time.
        ClientDisconnect: The client left before its end.
    """

    def __init__(self, request: Request, options: str, limits: Limits) -> None:
        """Read nothing yet.

        Args:
            request: Whose body it is.
            options: Part of what it stands for.
            limits: How much is taken.
        """
        self.chunks = self._read(request, limits)
        self._digest = hashlib.sha256(options.encode() + b"\n")

    async def digest(self) -> bytes:
        """Read what was not read, and return a SHA-256 of options and body."""
        async for _ in self.chunks:
            pass
        return self._digest.digest()

    async def _read(self, request: Request, limits: Limits) -> AsyncGenerator[bytes]:
        n_bytes = 0
        async for chunk in _chunks(request, limits.silence_s):
            n_bytes += len(chunk)
            if n_bytes > limits.max_bytes:
                raise too_large(limits.max_bytes)
            self._digest.update(chunk)
            yield chunk


async def read_lines(upload: Upload) -> AsyncGenerator[Sequence[Line]]:
    """Yield rows as they arrive, in portions; lines without text are none. Errors are those of an `Upload`."""
    number = 0
    some: list[Line] = []
    async for raw in _cut(upload):
        number += 1
        text = raw.removeprefix(BYTE_ORDER_MARK) if number == 1 else raw
        if len(text) > MAX_LINE_BYTES:
            row = Fault(field="row", got="a longer line", allowed=f"{MAX_LINE_BYTES} bytes a line")
            some.append(Line(file=0, name=NAME, number=number, row=row, after=Position()))
        elif text.strip():
            some.append(Line(file=0, name=NAME, number=number, row=parse_row(text), after=Position()))
        if len(some) >= ROWS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


async def _cut(upload: Upload) -> AsyncIterator[bytes]:
    """Yield lines; of one that is too long only the beginning."""
    line = bytearray()
    async for chunk in upload.chunks:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            line += part[: MAX_LINE_BYTES + 1 - len(line)]
            yield bytes(line)
            line.clear()
        line += rest[: MAX_LINE_BYTES + 1 - len(line)]
    yield bytes(line)


async def _chunks(request: Request, silence_s: float) -> AsyncIterator[bytes]:
    chunks = aiter(request.stream())
    ends_at = asyncio.get_running_loop().time() + UPLOAD_S
    while True:
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(min(ends_at, now + silence_s)):
                chunk = await anext(chunks, None)
        except TimeoutError:
            raise too_slow(UPLOAD_S if ends_at - now < silence_s else silence_s) from None
        if chunk is None:
            return
        yield chunk


class RowReader:
    """Makes rows of a batch of lines, the same for the same lines."""

    def __init__(self, choice: Choice, seed: int | None, max_rows: int) -> None:
        """Keep what is said of every row.

        Args:
            choice: Preset and writer of rows that name none.
            seed: Of rows that name none; None leaves it at 0.
            max_rows: More are refused.
        """
        self._choice = choice
        self._seed = seed
        self._max_rows = max_rows
        self._mapper: Mapper | None = None
        self.counted = Counted()

    async def read(self, lines: Sequence[Line]) -> Sequence[NewRow]:
        """Return the rows of some lines; the first ones decide in which shape all of them are.

        Raises:
            InputError: No shape fits the first lines.
            Problem: 413, there are too many rows.
        """
        if self._mapper is None:
            self._mapper = Mapper(choose_shape("auto", {}, lines[:LOOKED_AT], NAME), {}, self._choice, _unasked)
        rows = await in_thread(self._read_all, self._mapper, lines)
        if self.counted.n_rows > self._max_rows:
            raise _too_many_rows(self._max_rows)
        return rows

    def _read_all(self, mapper: Mapper, lines: Sequence[Line]) -> Sequence[NewRow]:
        rows = []
        for line in lines:
            try:
                rows.append(self._read(mapper, line))
            except LeftOut:
                self.counted.n_left_out += 1
        return rows

    def _read(self, mapper: Mapper, line: Line) -> NewRow:
        asks: tuple[bytes, bytes] | Failed
        try:
            mapped = mapper.read(line)
            row_id, asks = mapped.id, ask(mapped.request, self._seed)
        except InputError as error:
            row_id = mapper.read_id(line)
            asks = Failed(kind=Kind.INPUT, message=show_text(str(error), MAX_MESSAGE_CHARS))
        self.counted.n_rows += 1
        return NewRow(number=self.counted.n_rows, custom_id=storable(row_id), asks=asks)


def ask(request: ScoreRequest, seed: int | None) -> tuple[bytes, bytes]:
    """Return digest and canonical form of a request, with a seed where it names none."""
    if seed is not None and "seed" not in request.model_fields_set:
        request = request.model_copy(update={"seed": seed})
    written = canonical(request)
    return hash_of(written), written


def storable(text: str | None) -> str | None:
    """Return a text without what PostgreSQL does not take."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _unasked(custom_id: str) -> None:
    return None


def _too_many_rows(limit: int) -> Problem:
    fault = Fault(field="body", got="more rows than that", allowed=f"at most {limit} rows")
    detail = f"a batch has at most {limit} rows; send several"
    return Problem(status=413, slug="too-many-rows", title="Too many rows", detail=detail, faults=[fault])
