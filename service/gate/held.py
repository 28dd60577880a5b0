"""Answers that are held for review: kept in the database until they are old, or too many or too much of one tenant."""

import json
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Row, delete, func, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from rafs.gate_wire import GateDecision
from rafs.messages import Wire
from service.database.engine import Database
from service.database.tables import HELD_ANSWERS

ID_SHAPE = re.compile(r"[0-9a-f-]{36}")
KEPT_S = 30 * 86_400
MAX_HELD = 10_000
"""Of one tenant."""
MAX_HELD_BYTES = 256 << 20
"""Of the texts of one tenant's answers; the newest is kept whatever its size, which the proxy bounds."""
MAX_LISTED = 100


class HeldAnswer(Wire):
    """An answer that waits for a person, with what it was an answer to."""

    id: str
    held_at: int
    """Milliseconds since the epoch."""
    model: str
    problem: str
    answer: list[JsonValue]
    """The choices of the completion as the model wrote them."""
    decision: GateDecision


class HeldAnswers(Wire):
    """What is held, the newest first; without texts, which the path of each has."""

    held: list["HeldSummary"]


class HeldSummary(Wire):
    """One line of the list."""

    id: str
    held_at: int
    model: str
    failure: str | None
    reasons: list[str]


class HeldStore:
    """The held answers of every tenant, each for itself."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        most: int = MAX_HELD,
        most_bytes: int = MAX_HELD_BYTES,
    ) -> None:
        """Keep the parts.

        Args:
            database: Where they are.
            clock: Seconds since the epoch.
            most: Answers of one tenant; beyond it the oldest go.
            most_bytes: Of the texts of one tenant; likewise.
        """
        self._most = most
        self._most_bytes = most_bytes
        self._database = database
        self._clock = clock

    async def keep(self, tenant: str, model: str, problem: str, answer: Any, decision: GateDecision) -> str:
        """Keep an answer, let go of what is too old or too much, and return the id of the new one.

        Raises:
            BackendError: The database failed.
        """
        held_id, now = str(uuid.uuid4()), int(self._clock() * 1000)
        texts = {
            "problem": problem.replace("\0", "\N{REPLACEMENT CHARACTER}"),  # which PostgreSQL does not take
            "answer": json.dumps(answer),
            "decision": decision.model_dump_json(),
        }
        n_bytes = sum(len(text.encode()) for text in texts.values())
        row = {"id": held_id, "tenant": tenant, "held_at": now, "model": model, "n_bytes": n_bytes, **texts}
        async with self._database.begin() as connection:
            await connection.execute(delete(HELD_ANSWERS).where(HELD_ANSWERS.c.held_at < now - KEPT_S * 1000))
            await self._make_room(connection, tenant, n_bytes)
            await connection.execute(insert(HELD_ANSWERS).values(row))
        return held_id

    async def _make_room(self, connection: AsyncConnection, tenant: str, n_bytes: int) -> None:
        """Let go of a tenant's oldest answers until one more, of so many bytes, is within the bounds."""
        rows = HELD_ANSWERS.c
        most, most_bytes = self._most - 1, self._most_bytes - n_bytes
        held = select(func.count(), func.coalesce(func.sum(rows.n_bytes), 0)).where(rows.tenant == tenant)
        n_held, n_held_bytes = (await connection.execute(held)).one()
        if n_held <= most and n_held_bytes <= most_bytes:
            return
        newest = (rows.held_at.desc(), rows.id)
        ranked = (
            select(
                rows.id,
                func.row_number().over(order_by=newest).label("place"),
                func.sum(rows.n_bytes).over(order_by=newest).label("bytes_to_here"),
            )
            .where(rows.tenant == tenant)
            .subquery()
        )
        beyond = select(ranked.c.id).where(or_(ranked.c.place > most, ranked.c.bytes_to_here > most_bytes))
        await connection.execute(delete(HELD_ANSWERS).where(rows.id.in_(beyond)))

    async def find(self, tenant: str, held_id: str) -> HeldAnswer | None:
        """Return an answer of a tenant; None where there is none of that id.

        Raises:
            BackendError: The database failed.
        """
        if not ID_SHAPE.fullmatch(held_id):
            return None
        chosen = select(HELD_ANSWERS).where(HELD_ANSWERS.c.tenant == tenant, HELD_ANSWERS.c.id == held_id)
        async with self._database.connect() as connection:
            row = (await connection.execute(chosen)).one_or_none()
        return None if row is None else _read(row)

    async def list_newest(self, tenant: str) -> HeldAnswers:
        """Return the newest `MAX_LISTED` of a tenant.

        Raises:
            BackendError: The database failed.
        """
        chosen = (
            select(*(HELD_ANSWERS.c[name] for name in ("id", "held_at", "model", "decision")))
            .where(HELD_ANSWERS.c.tenant == tenant)
            .order_by(HELD_ANSWERS.c.held_at.desc(), HELD_ANSWERS.c.id)
            .limit(MAX_LISTED)
        )
        async with self._database.connect() as connection:
            rows = (await connection.execute(chosen)).all()
        return HeldAnswers(held=[_summarise(row) for row in rows])

    async def prune(self) -> int:
        """Let go of what is too old, of every tenant; return how many.

        Raises:
            BackendError: The database failed.
        """
        limit = int(self._clock() * 1000) - KEPT_S * 1000
        async with self._database.begin() as connection:
            gone = await connection.execute(delete(HELD_ANSWERS).where(HELD_ANSWERS.c.held_at < limit))
            return int(gone.rowcount)

    async def remove(self, tenant: str, held_id: str) -> bool:
        """Let go of an answer; False where there is none of that id.

        Raises:
            BackendError: The database failed.
        """
        if not ID_SHAPE.fullmatch(held_id):
            return False
        chosen = delete(HELD_ANSWERS).where(HELD_ANSWERS.c.tenant == tenant, HELD_ANSWERS.c.id == held_id)
        async with self._database.begin() as connection:
            return (await connection.execute(chosen)).rowcount > 0


def _summarise(row: Row[Any]) -> HeldSummary:
    decision = GateDecision.model_validate_json(row.decision)
    return HeldSummary(
        id=row.id, held_at=row.held_at, model=row.model, failure=decision.failure, reasons=decision.reasons
    )


def _read(row: Row[Any]) -> HeldAnswer:
    return HeldAnswer(
        id=row.id,
        held_at=row.held_at,
        model=row.model,
        problem=row.problem,
        answer=json.loads(row.answer),
        decision=GateDecision.model_validate_json(row.decision),
    )
