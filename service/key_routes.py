"""Keys over HTTP: POST, GET and DELETE under /v1/keys, for keys with the scope `admin`."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel

from rafs.errors import InputError
from rafs.usage import Priority
from service.auth import Doorkeeper, Principal, Scope, unauthenticated
from service.errors import Problem
from service.intake import Intake
from service.keys.secret import ID_SHAPE
from service.keys.store import KeyStore
from service.keys.wire import KeyIn, KeyMade, KeyOut, Keys
from service.request_body import parse_body
from service.routes import problems

REFUSED = (401, 403, 429, 503)
LATEST_END = datetime(9999, 1, 1, tzinfo=UTC)
KEY_SCHEMA = "#/components/schemas/KeyIn"


def build_key_router(store: KeyStore, doorkeeper: Doorkeeper, intake: Intake) -> APIRouter:
    """Return the paths of keys. They need an admin's key also where the service is open: keys outlive its openness."""
    router = APIRouter()
    _add_making(router, store, intake)
    _add_ending(router, store, doorkeeper, intake)
    return router


def _add_making(router: APIRouter, store: KeyStore, intake: Intake) -> None:
    @router.post(
        "/v1/keys",
        summary="Make a key",
        status_code=201,
        response_model=KeyMade,
        responses=problems(400, 408, 413, 415, 422, *REFUSED),
        openapi_extra={
            "requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": KEY_SCHEMA}}}}
        },
    )
    async def create(request: Request) -> Response:
        """Make a key and show it, once. `rafs keys create` makes the first one."""
        async with intake.enter(request, Scope.ADMIN, Priority.GATE) as visit:
            _check_admin(visit.principal)
            wanted = parse_body(visit.body, KeyIn)
            check_end(wanted)
            stored, text = await store.create(wanted.to_new())
        return _json(KeyMade(key=text, details=KeyOut.of(stored)), 201)


def _add_ending(router: APIRouter, store: KeyStore, doorkeeper: Doorkeeper, intake: Intake) -> None:
    @router.get("/v1/keys", summary="List the keys", response_model=Keys, responses=problems(*REFUSED))
    async def list_keys(request: Request) -> Response:
        """Return the newest thousand keys of all tenants, without their secrets."""
        _check_admin(await intake.identify(request, Scope.ADMIN))
        return _json(Keys(keys=[KeyOut.of(stored) for stored in await store.list()]))

    @router.delete(
        "/v1/keys/{key_id}", summary="Revoke a key", response_model=KeyOut, responses=problems(404, *REFUSED)
    )
    async def revoke(request: Request, key_id: str) -> Response:
        """End a key for good: here at once, in other processes on the same database within seconds."""
        _check_admin(await intake.identify(request, Scope.ADMIN))
        stored = await store.revoke(key_id) if ID_SHAPE.fullmatch(key_id) else None
        if stored is None:
            raise Problem(status=404, slug="no-such-key", title="No such key", detail="there is no key with this id")
        doorkeeper.forget_keys()
        return _json(KeyOut.of(stored))


def check_end(wanted: KeyIn) -> None:
    """Refuse a key that has ended before it is made, or would end where no calendar reaches.

    Raises:
        InputError: Its end is past, or behind `LATEST_END`.
    """
    if wanted.expires_at is not None and not datetime.now(UTC) < wanted.expires_at <= LATEST_END:
        got, allowed = wanted.expires_at.isoformat(), f"a time to come, before the year {LATEST_END.year}"
        message = f"field `expires_at`: got {got}, allowed: {allowed}"
        raise InputError(message, field="expires_at", got=got, allowed=allowed)


def _check_admin(principal: Principal) -> None:
    if principal.key_id is None:
        detail = "keys are managed with a key of the scope 'admin', also on an open service"
        raise unauthenticated(detail, is_sent=False)


def _json(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status_code=status, media_type="application/json")
