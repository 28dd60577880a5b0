"""The index of a batch on disk: what was read, what waits, what is done. Memory does not grow with it.

A row is read once, an item is scored until its result is written, and both are written with the place where reading
goes on, in one transaction: a process that is killed at any point leaves a batch that goes on where it was. What was
in flight is still pending then; it is scored again, and nothing of the first time is kept.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import from_json
from sqlalchemy import Connection, bindparam, create_engine, delete, event, func, insert, literal, select
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from rafs.errors import InputError
from service.batch.outcome import RETRYABLE, Failed, Finished, Item, Record, Scored
from service.batch.source import Position
from service.batch.tables import METADATA, fact, failure, item, line, part, pending, question, result
from service.visible import show_text

FILE_NAME = "batch.sqlite"
PRAGMAS = {
    "locking_mode": "EXCLUSIVE",  # two runs in one folder would both score what is pending
    "journal_mode": "WAL",
    "synchronous": "NORMAL",  # whole after any kill; after a power cut the last items may be scored again
    "cache_size": "-4096",  # KiB; full after some ten thousand rows
    "foreign_keys": "OFF",
}
CURSOR = "cursor"
SECONDS = "seconds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """How far the input is read."""

    position: Position = field(default_factory=Position)
    n_rows: int = 0
    ended: bool = False
    """Whether all of it is."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Rows that are none of a model's replies, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRow:
    """A row that was read."""

    number: int
    file: int
    place: int
    id: str | None
    asks: tuple[bytes, bytes] | Failed
    """The hash and the canonical form of its request, or why it makes none."""


class BatchIndex:
    """Keeps a batch; one process at a time."""

    def __init__(self, folder: Path) -> None:
        """Open the index of a folder, or make it.

        Raises:
            InputError: The folder cannot be written, or another process works on its batch.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.connection = _open(folder / FILE_NAME)
            self.n_pending = self._count_pending()
        except (OSError, OperationalError) as error:
            in_use = "locked" in str(error)
            got = "a folder in which another batch runs" if in_use else f"a folder that cannot be written: {error}"
            shown = show_text(str(folder), None)
            message = f"--out {shown}: {show_text(got, 300)}, allowed: a new folder, or one whose batch is stopped"
            raise InputError(message, field="FILE", got=got, allowed="a new folder") from error

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def read_fact(self, name: str) -> JsonValue:
        """Return a fact; None where there is none."""
        with self.connection.begin():
            found = self.connection.scalar(select(fact.c.value).where(fact.c.name == name))
        return None if found is None else from_json(found)

    def write_fact(self, name: str, value: JsonValue) -> None:
        """Keep a fact."""
        with self.connection.begin():
            self._write_fact(name, value)

    def read_cursor(self) -> Cursor:
        """Return how far the input is read."""
        found = self.read_fact(CURSOR)
        if not isinstance(found, dict):
            return Cursor()
        return Cursor(**{**found, "position": Position(**found["position"])})  # type: ignore[arg-type]

    def add_questions(self, requests: Mapping[str, bytes]) -> None:
        """Keep requests by their custom id; the first of one id counts."""
        with self.connection.begin():
            rows = [{"custom_id": name, "request": request} for name, request in requests.items()]
            self.connection.execute(upsert(question).on_conflict_do_nothing(), rows)

    def find_question(self, custom_id: str) -> bytes | None:
        """Return the request of a custom id."""
        with self.connection.begin():
            return self.connection.scalar(select(question.c.request).where(question.c.custom_id == custom_id))

    def add(self, rows: Sequence[ReadRow], cursor: Cursor) -> None:
        """Keep rows and how far reading is; a request that was asked before is not asked again."""
        asked = {row.number: row.asks for row in rows if not isinstance(row.asks, Failed)}
        failed = [(row.number, row.asks) for row in rows if isinstance(row.asks, Failed)]
        with self.connection.begin():
            known = self._known([hashed for hashed, _ in asked.values()])
            items: dict[int, int] = {}
            new: list[tuple[int, bytes, bytes]] = []
            for number, (hashed, request) in asked.items():
                if hashed not in known:
                    known[hashed] = number
                    new.append((number, hashed, request))
                items[number] = known[hashed]
            self._insert(
                line,
                [
                    {"number": row.number, "file": row.file, "place": row.place, "id": row.id}
                    | {"item": items.get(row.number, row.number)}
                    for row in rows
                ],
            )
            self._insert(item, [{"number": number, "hash": hashed} for number, hashed, _ in new])
            self._insert(pending, [{"number": number, "request": request} for number, _, request in new])
            self._insert(
                failure,
                [{"number": n, "kind": one.kind, "message": one.message, "request": None} for n, one in failed],
            )
            self._write_fact(CURSOR, asdict(cursor))
        self.n_pending += len(new)

    def pending_after(self, number: int, limit: int) -> list[Item]:
        """Return items that wait, in order, from those behind a number on."""
        wanted = select(pending).where(pending.c.number > number).order_by(pending.c.number).limit(limit)
        with self.connection.begin():
            return [Item(number=row.number, request=row.request) for row in self.connection.execute(wanted)]

    def settle(self, finished: Sequence[Finished], seconds: float) -> None:
        """Keep what is done, and take it off what waits.

        Args:
            finished: Items with what became of them.
            seconds: That the batch took so far.
        """
        scored = [(one, one.result) for one in finished if isinstance(one.result, Scored)]
        failed = [(one, one.result) for one in finished if isinstance(one.result, Failed)]
        numbers = [{"done": one.number} for one in finished]
        with self.connection.begin():
            self._insert(result, [_to_row(one, score) for one, score in scored])
            for one, why in failed:
                kept = pending.c.request if why.kind in RETRYABLE else literal(None)
                chosen = select(pending.c.number, literal(why.kind), literal(why.message), kept)
                self.connection.execute(
                    insert(failure).from_select(
                        ["number", "kind", "message", "request"], chosen.where(pending.c.number == one.number)
                    )
                )
            if numbers:
                self.connection.execute(delete(pending).where(pending.c.number == bindparam("done")), numbers)
            self._write_fact(SECONDS, seconds)
        self.n_pending -= len(finished)

    def give_up(self, why: Failed) -> None:
        """Let everything that waits fail; it may be tried again."""
        columns = [pending.c.number, literal(why.kind), literal(why.message), pending.c.request]
        with self.connection.begin():
            kept = insert(failure).from_select(["number", "kind", "message", "request"], select(*columns))
            self.connection.execute(kept)
            self.connection.execute(delete(pending))
        self.n_pending = 0

    def revive(self, part_rows: int) -> int:
        """Let failed items wait again, where they may go well; return how many.

        Args:
            part_rows: Rows of a part; parts that lack such an item are written again.
        """
        again = failure.c.request.is_not(None)
        numbers = select((line.c.number - 1) // part_rows).join(failure, line.c.item == failure.c.number)
        with self.connection.begin():
            self.connection.execute(delete(part).where(part.c.number.in_(numbers.where(again))))
            chosen = select(failure.c.number, failure.c.request).where(again)
            self.connection.execute(insert(pending).from_select(["number", "request"], chosen))
            n_revived = self.connection.execute(delete(failure).where(again)).rowcount
        self.n_pending += n_revived
        return n_revived

    def _count_pending(self) -> int:
        with self.connection.begin():
            return self.connection.scalar(select(func.count()).select_from(pending)) or 0

    def _known(self, hashes: Sequence[bytes]) -> dict[bytes, int]:
        found = self.connection.execute(select(item.c.hash, item.c.number).where(item.c.hash.in_(hashes)))
        return {row.hash: row.number for row in found}

    def _insert(self, table: object, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            self.connection.execute(insert(table), rows)  # type: ignore[arg-type]

    def _write_fact(self, name: str, value: object) -> None:
        text = json.dumps(value)
        kept = upsert(fact).values(name=name, value=text)
        self.connection.execute(kept.on_conflict_do_update(index_elements=["name"], set_={"value": text}))


def _open(path: Path) -> Connection:
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def prepare(connection: object, record: object) -> None:
        for name, value in PRAGMAS.items():
            connection.execute(f"PRAGMA {name} = {value}")  # type: ignore[attr-defined]

    opened = engine.connect()
    with opened.begin():
        METADATA.create_all(opened)
    return opened


def _to_row(one: Finished, scored: Scored) -> dict[str, object]:
    record = scored.record
    return {
        "number": one.number,
        "status": record.status,
        "outcome": record.outcome,
        "tokens": record.tokens,
        "ms": one.ms,
        "record": json.dumps(asdict(record)),
        "response": None if scored.response is None else zlib.compress(scored.response.encode(), 1),
    }


def from_row(record: str, response: bytes | None) -> Scored:
    """Return what was kept of a score."""
    fields = from_json(record)
    lists = {name: tuple(fields[name]) for name in ("reasons", "models")}
    text = None if response is None else zlib.decompress(response).decode()
    return Scored(record=Record(**{**fields, **lists}), response=text)
