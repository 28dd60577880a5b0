"""Making batches: from one body of JSON, or from JSON Lines of any length."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from fastapi import Request
from fastapi.responses import Response

from rafs.batch_wire import BatchRequest, WebhookIn
from rafs.usage import Priority
from service.admission import discard_body
from service.auth import Doorkeeper, Principal, Scope
from service.batch.mapping import Choice
from service.errors import wrong_encoding
from service.idempotency import Idempotency
from service.intake import Intake, Visit
from service.jobs.engine import check_installed
from service.jobs.jobs import Jobs
from service.jobs.query import UploadQuery, read_query
from service.jobs.showing import to_status
from service.jobs.store import NewBatch, NewRow
from service.jobs.upload import Limits, RowReader, Upload, ask, read_lines, storable
from service.jobs.webhook import make_secret
from service.request_body import Fault, RequestError, parse_body
from service.routes import ScoringService
from service.settings import Settings

EMPTY = Fault(field="body", got="no row that can be scored", allowed="at least one")


class Maker:
    """Takes batches in."""

    def __init__(
        self,
        jobs: Jobs,
        scorer: ScoringService,
        settings: Settings,
        intake: Intake,
        *,
        doorkeeper: Doorkeeper,
        idempotency: Idempotency,
    ) -> None:
        """Keep the parts.

        Args:
            jobs: Where batches go.
            scorer: Knows the presets.
            settings: The operator's.
            intake: The way in.
            doorkeeper: Counts traces.
            idempotency: Answers a repeated upload again.
        """
        self._jobs = jobs
        self._scorer = scorer
        self._settings = settings
        self._intake = intake
        self._doorkeeper = doorkeeper
        self._idempotency = idempotency

    async def take_inline(self, request: Request) -> Response:
        """Make a batch of one body of JSON.

        Raises:
            InputError: The body is no batch.
            Problem: It is refused.
            OverloadedError: There is no room.
            ConfigError: The libraries of batches are not installed.
            BackendError: The database failed.
        """
        check_installed()

        async def work(visit: Visit) -> Response:
            wanted = parse_body(visit.body, BatchRequest)
            preset = self._check_preset(wanted.preset, wanted.seed)
            requests = [one.to_request(preset, wanted.seed, wanted.generator) for one in wanted.requests]
            for name in {one.preset for one in requests} - {preset}:
                self._check_preset(name, wanted.seed)
            rows = [
                NewRow(number=number, custom_id=storable(item.custom_id), asks=ask(one, None))
                for number, (item, one) in enumerate(zip(wanted.requests, requests, strict=True), 1)
            ]
            await self._doorkeeper.charge(visit.principal, len(rows))
            new = self._new(visit.principal, preset, wanted.webhook, full=wanted.full, metadata=wanted.metadata)
            async with self._made(new) as batch:
                await self._jobs.store.append(batch, rows)
                await self._jobs.store.seal(batch)
            return await self._answer(new, batch)

        return await self._intake.run(request, Scope.BATCH, Priority.BATCH, work)

    async def take_upload(self, request: Request) -> Response:
        """Make a batch of JSON Lines, which go to the database as they come; errors are those of `take_inline`."""
        check_installed()
        try:
            principal = await self._intake.identify(request, Scope.BATCH)
            if (encoding := request.headers.get("content-encoding", "identity")).strip().lower() != "identity":
                raise wrong_encoding(encoding)
            options = read_query(request, UploadQuery)
            with self._intake.admission.enter(Priority.BATCH):
                limits = Limits(max_bytes=self._settings.batch_max_bytes, silence_s=self._settings.body_timeout_s)
                upload = Upload(request, options.model_dump_json(), limits)
                return await self._idempotency.answer(
                    request, principal, upload, lambda: self._upload(upload, principal, options)
                )
        except Exception:
            await discard_body(request)
            raise

    async def cancel(self, tenant: str, batch: str) -> None:
        """Cancel a batch of a tenant; errors are those of `BatchStore.cancel`."""
        await self._jobs.store.cancel(tenant, batch)
        self._jobs.look()

    async def _upload(self, upload: Upload, principal: Principal, options: UploadQuery) -> Response:
        preset = self._check_preset(options.preset, options.seed)
        webhook = None if options.webhook_url is None else WebhookIn(url=options.webhook_url)
        new = self._new(principal, preset, webhook, full=options.full, metadata={})
        reader = RowReader(
            Choice(preset=preset, generator=options.generator), options.seed, self._settings.batch_max_rows
        )
        async with self._made(new) as batch:
            async with aclosing(read_lines(upload)) as portions:
                async for lines in portions:
                    if rows := await reader.read(lines):
                        await self._jobs.store.append(batch, rows)
            if not reader.counted.n_rows:
                raise RequestError([EMPTY])
            await self._doorkeeper.charge(principal, reader.counted.n_rows)
            await self._jobs.store.seal(batch, n_left_out=reader.counted.n_left_out)
        return await self._answer(new, batch)

    @asynccontextmanager
    async def _made(self, new: NewBatch) -> AsyncIterator[str]:
        """Yield a batch that is there when the block ends well, and otherwise is not."""
        batch = await self._jobs.store.create(new)
        try:
            yield batch
        except BaseException:  # also where the client leaves
            await self._jobs.store.remove(batch)
            raise
        self._jobs.look()

    def _check_preset(self, preset: str | None, seed: int | None) -> str:
        name = preset or self._settings.preset
        self._scorer.would_use(name, seed or 0)
        return name

    def _new(
        self,
        principal: Principal,
        preset: str,
        webhook: WebhookIn | None,
        *,
        full: bool,
        metadata: dict[str, str],
    ) -> NewBatch:
        if webhook is not None:
            self._jobs.guard.check_url(webhook.url)
        return NewBatch(
            tenant=principal.tenant,
            preset=preset,
            is_full=full,
            metadata=metadata,
            webhook_url=None if webhook is None else webhook.url,
            webhook_secret=None if webhook is None else webhook.secret or make_secret(),
        )

    async def _answer(self, new: NewBatch, batch: str) -> Response:
        row = await self._jobs.store.find(new.tenant, batch)
        assert row is not None  # it was just made, and is kept for a minute at least
        status = to_status(row, self._jobs.store.now(), new.webhook_secret)
        headers = {"location": f"/v1/batches/{batch}"}
        return Response(status.model_dump_json(), status_code=201, media_type="application/json", headers=headers)
