"""Scored traces, answered again without asking a model."""

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from cachetools import TTLCache
from fastapi import Request
from fastapi.responses import Response
from sqlalchemy import delete, select

from rafs.errors import BackendError, ConfigError
from rafs.record import ProvenanceOut
from rafs.request import ScoreRequest
from rafs.types import Why
from rafs.wire import ScoreResponse
from service.auth import Principal
from service.database.engine import Database
from service.database.packed import pack, unpack
from service.database.tables import RESULTS
from service.observability import logger
from service.result_rows import ResultRows
from service.scorer import draw_seed
from service.settings import Settings

HEADER = "cache-status"
"""RFC 9211: `rafs; hit; ttl=...`, `rafs; fwd=miss; stored` or `rafs; fwd=bypass`."""
MAX_STORED_BYTES = 8 << 20
NEAR_BYTES = 32 << 20
NEAR_S = 60.0
"""What was stored or found in the last minute is answered without asking the database: the key names all that made it,
so that it cannot be out of date."""
NO_PART = {"include", "preset", "deadline_s", "token_budget"}
"""Fields that are no part of the key, or in it by another name. Only answers that nothing cut off are stored: those are
the same under any deadline and budget."""
PASSING = frozenset({Why.TIMEOUT, Why.BACKEND_DOWN, Why.OVERLOADED, Why.OUT_OF_MEMORY, Why.CRASHED})
"""Silences that the next try may break."""
PASSING_REASONS = ("deadline", "generator_down", "no_validator_opinion")


class _Kept(NamedTuple):
    packed: bytes
    created_at: int
    expires_at: int

    def columns(self) -> dict[str, Any]:
        return {"body": self.packed, "created_at": self.created_at, "expires_at": self.expires_at}


class ResultCache:
    """Complete answers by all that made them: request, preset, registry, calibration, models, version, and tenant."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        would_use: Callable[[str, int], ProvenanceOut],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Keep the parts.

        Args:
            database: Where the answers are.
            settings: How many are kept and how long, and what else of the service decides a score.
            would_use: Where the numbers of a preset come from.
            clock: Seconds since the epoch.

        Raises:
            ConfigError: The file of citations cannot be read.
        """
        self._database = database
        self._rows = ResultRows(database)
        self._settings = settings
        self._would_use = would_use
        self._clock = clock
        self._citations = _digest_file(settings.citations)
        self._makers: dict[str, str] = {}
        self._near: TTLCache[bytes, _Kept] = TTLCache(NEAR_BYTES, NEAR_S, getsizeof=lambda kept: len(kept.packed))

    async def answer(
        self,
        request: Request,
        parsed: ScoreRequest,
        principal: Principal,
        score: Callable[[], Awaitable[ScoreResponse]],
    ) -> Response:
        """Return the stored answer, or what `score` gives, which is stored when it is complete.

        A request that asks for its record, or says `cache-control: no-store`, goes past the memory; one that says
        `no-cache` is scored anew and stored. A database that fails is no reason to refuse.

        Args:
            request: Its headers.
            parsed: What is to be scored.
            principal: Who asks; tenants do not see each other's answers.
            score: Called at most once.

        Raises:
            InputError: There is no such preset.
        """
        control = {word.strip().lower() for word in request.headers.get("cache-control", "").split(",")}
        if not self._settings.result_cache_s or "record" in parsed.include or "no-store" in control:
            return _respond(_bytes_of(await score()), "rafs; fwd=bypass")
        key = self._key(parsed, principal)
        if "no-cache" not in control and (found := await self._find(key)) is not None:
            return found
        response = await score()
        body = _bytes_of(response)
        is_stored = is_complete(response) and await self._store(key, principal, body)
        return _respond(body, "rafs; fwd=miss; stored" if is_stored else "rafs; fwd=miss")

    async def settle(self) -> None:
        """Write to the database what was stored in the last moment."""
        await self._rows.settle()

    async def prune(self) -> int:
        """Forget what is over, and beyond the bound what is oldest; return how many.

        Raises:
            BackendError: The database failed.
        """
        await self.settle()
        rows = RESULTS.c
        bound = select(rows.created_at).order_by(rows.created_at.desc())
        async with self._database.begin() as connection:
            over = await connection.execute(delete(RESULTS).where(rows.expires_at <= self._now()))
            n_pruned = int(over.rowcount)
            oldest = await connection.execute(bound.offset(self._settings.result_cache_rows).limit(1))
            if (limit := oldest.scalar_one_or_none()) is not None:
                beyond = await connection.execute(delete(RESULTS).where(rows.created_at <= limit))
                n_pruned += int(beyond.rowcount)
        return n_pruned

    def _key(self, parsed: ScoreRequest, principal: Principal) -> bytes:
        settings = self._settings
        preset = parsed.preset or settings.preset
        if preset not in self._makers:  # the presets of the registry: few
            self._makers[preset] = self._would_use(preset, 0).model_dump_json()
        parts = [
            principal.tenant,
            parsed.model_dump_json(exclude=NO_PART),
            *sorted(set(parsed.include)),
            self._makers[preset],
            str(draw_seed(settings.edit_secret.get_secret_value(), parsed)),
            settings.citation_style,
            self._citations,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).digest()

    async def _find(self, key: bytes) -> Response | None:
        now = self._now()
        kept = self._near.get(key) or await self._look_up(key)
        if kept is None or kept.expires_at <= now:
            return None
        self._near[key] = kept
        headers = {
            HEADER: f"rafs; hit; ttl={(kept.expires_at - now) // 1000}",
            "age": str(max(0, now - kept.created_at) // 1000),
        }
        return Response(unpack(kept.packed), media_type="application/json", headers=headers)

    async def _look_up(self, key: bytes) -> _Kept | None:
        wanted = select(RESULTS.c.body, RESULTS.c.created_at, RESULTS.c.expires_at).where(RESULTS.c.key_digest == key)
        try:
            async with self._database.connect() as connection:
                row = (await connection.execute(wanted)).one_or_none()
        except BackendError as error:
            logger.warning("not looked up among the scored traces", reason=str(error))
            return None
        return None if row is None else _Kept(*row)

    async def _store(self, key: bytes, principal: Principal, body: bytes) -> bool:
        if len(body) > MAX_STORED_BYTES:
            return False
        now = self._now()
        kept = _Kept(await pack(body), now, now + self._settings.result_cache_s * 1000)
        row: dict[str, Any] = {"key_digest": key, "tenant": principal.tenant, **kept.columns()}
        if not self._rows.add(row):
            return False
        self._near[key] = kept
        return True

    def _now(self) -> int:
        return round(self._clock() * 1000)


def is_complete(response: ScoreResponse) -> bool:
    """Say whether nothing was cut off or failed that a later try could add."""
    if response.interventions.late or response.interventions.not_run:
        return False
    if PASSING & {reason for member in response.members for reason in member.silent}:
        return False
    return not any(reason.startswith(PASSING_REASONS) for reason in _reasons(response))


def _reasons(response: ScoreResponse) -> Iterator[str]:
    yield from response.reasons
    yield from (part.unmeasured for part in response.components if part.unmeasured is not None)
    yield from (probe.unmeasured for probe in response.interventions.probes if probe.unmeasured is not None)
    if response.consensus is not None and response.consensus.stopped_because is not None:
        yield response.consensus.stopped_because


def _bytes_of(response: ScoreResponse) -> bytes:
    return response.model_dump_json().encode()


def _respond(body: bytes, status: str) -> Response:
    return Response(body, media_type="application/json", headers={HEADER: status})


def _digest_file(path: Path | None) -> str:
    try:
        return "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ConfigError(f"RAFS_CITATIONS: {path} cannot be read: {why}") from error
