"""Clients of a soak: half of them wait for their answers, and half hang up amid a request. One process of several."""

import asyncio
import json
import random
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

import httptools
import uvloop

PATH = "/v1/score"
PATIENCE_S = 120.0
"""A request that was sent and is not answered by then counts as unanswered."""
LONGEST_IDLE_S = 2.0
"""A connection that was silent for longer is not used again: the service may be closing it, after 5 s."""
HANG_UP_S = 0.5
"""At most so long after the last byte sent."""
PAUSE_S = (0.5, 1.5)
"""Between two requests of a client that hangs up."""
REPEATED = 0.2
"""Share of the requests that another client sends too."""
N_REPEATED = 200
N_STEPS = (2, 10)
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closing sends a reset at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one process of clients does."""

    port: int
    first: int
    """Number of its first client; odd ones hang up."""
    n_clients: int
    seconds: float
    seed: int


@dataclass(slots=True, kw_only=True)
class Tally:
    """What the clients saw."""

    sent: int = 0
    """Requests begun; each is hung up, answered or unanswered."""
    hung_up: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    hits: int = 0
    """Answers out of the result cache."""
    unanswered: Counter[str] = field(default_factory=Counter)
    """Sent whole and not hung up, by what came instead of an answer."""
    unconnected: Counter[str] = field(default_factory=Counter)
    """Connections that did not come about; nothing was sent."""
    scored_s: list[float] = field(default_factory=list)
    """Of each answer with status 200, from the first byte sent to the last one received."""
    refused_s: list[float] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        """Add what other clients saw."""
        self.sent += other.sent
        self.hung_up += other.hung_up
        self.hits += other.hits
        for mine, theirs in (
            (self.statuses, other.statuses),
            (self.unanswered, other.unanswered),
            (self.unconnected, other.unconnected),
        ):
            mine.update(theirs)  # type: ignore[arg-type]
        self.scored_s += other.scored_s
        self.refused_s += other.refused_s


class _Reply:
    """What the parser of HTTP tells of a response."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        self.is_whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_message_complete(self) -> None:
        self.is_whole = True


def drive(plan: Plan) -> Tally:
    """Run clients until their time is over, and return what they saw."""
    return uvloop.run(_drive(plan))


def make_body(seed: int) -> bytes:
    """Return a request; every seed makes another trace, of which a seventh states something false."""
    chance = random.Random(seed)
    total, lines = seed % 1000 + 3, []
    problem = f"Ana has {total} nuts and gets some more on several days. Her number is {seed}. How many nuts has she?"
    for day in range(1, chance.randint(*N_STEPS) + 1):
        added = chance.randint(2, 90)
        result = total + added + (chance.random() < 0.03)
        lines.append(f"On day {day} she gets {added} more, which makes {total} + {added} = {result} nuts.")
        total = result
    if seed % 5 == 0:
        lines.append(f"The square is (x + {seed})^2 = x^2 + {2 * seed}x + {seed * seed}.")
    return json.dumps({"problem": problem, "trace": "\n".join([*lines, f"The answer is {total}."])}).encode()


async def _drive(plan: Plan) -> Tally:
    tally, ends_at = Tally(), monotonic() + plan.seconds
    async with asyncio.TaskGroup() as group:
        for number in range(plan.first, plan.first + plan.n_clients):
            client = _Client(plan.port, random.Random(plan.seed * 1_000_003 + number), tally)
            group.create_task(client.run(client.hang_up if number % 2 else client.ask, ends_at))
    return tally


class _Client:
    """One client, one request after the other."""

    def __init__(self, port: int, chance: random.Random, tally: Tally) -> None:
        self._port = port
        self._chance = chance
        self._tally = tally
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used_at = 0.0

    async def run(self, act: Callable[[], Awaitable[None]], ends_at: float) -> None:
        """Act until the time is over; what is under way then is waited for."""
        await asyncio.sleep(self._chance.random())  # or all would begin at once
        while monotonic() < ends_at:
            try:
                await act()
            except OSError as error:  # before a byte was sent
                self._tally.unconnected[type(error).__name__] += 1
                await self._pause()
        self._close()

    async def ask(self) -> None:
        """Send a request, wait for the answer, and after a refusal for as long as it says."""
        reader, writer = await self._connect()
        self._tally.sent += 1
        started = monotonic()
        try:
            async with asyncio.timeout(PATIENCE_S):
                status, headers = await _exchange(reader, writer, self._request())
        except (OSError, EOFError, TimeoutError, httptools.HttpParserError) as error:
            self._tally.unanswered[type(error).__name__] += 1
            self._close()
            return
        self._used_at = monotonic()
        self._tally.statuses[status] += 1
        self._tally.hits += b"; hit" in headers.get(b"cache-status", b"")
        if status == 200:
            self._tally.scored_s.append(self._used_at - started)
        else:
            self._tally.refused_s.append(self._used_at - started)
            await asyncio.sleep(float(headers.get(b"retry-after", b"1")) * self._chance.uniform(1.0, 1.25))
        if headers.get(b"connection") == b"close":
            self._close()

    async def hang_up(self) -> None:
        """Send a part or all of a request and close the connection, half of the time with a reset."""
        _, writer = await self._connect()
        self._tally.sent += 1
        whole = self._request()
        part = whole if self._chance.random() < 0.5 else whole[: self._chance.randrange(1, len(whole))]
        with suppress(OSError):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(self._chance.uniform(0, HANG_UP_S))
        if self._chance.random() < 0.5:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._close()
        self._tally.hung_up += 1
        await self._pause()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._open is not None and (monotonic() - self._used_at > LONGEST_IDLE_S or self._open[0].at_eof()):
            self._close()
        if self._open is None:
            self._open = await asyncio.open_connection("127.0.0.1", self._port)
        return self._open

    def _close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def _request(self) -> bytes:
        is_repeated = self._chance.random() < REPEATED
        body = make_body(self._chance.randrange(N_REPEATED) if is_repeated else self._chance.randrange(10**6, 10**12))
        head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        return head.encode() + f"{len(body)}\r\n\r\n".encode() + body

    async def _pause(self) -> None:
        await asyncio.sleep(self._chance.uniform(*PAUSE_S))


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, dict[bytes, bytes]]:
    """Send a request, and return status and headers of its answer when all of it is there.

    Raises:
        EOFError: The connection was closed before.
        OSError: It was reset.
    """
    writer.write(request)
    reply = _Reply()
    parser = httptools.HttpResponseParser(reply)
    while not reply.is_whole:
        received = await reader.read(1 << 16)
        if not received:
            raise EOFError
        parser.feed_data(received)
    return int(parser.get_status_code()), reply.headers
