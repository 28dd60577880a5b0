"""`rafs keys`: making, listing and revoking API keys."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

import typer
from pydantic import ValidationError
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rafs.errors import InputError
from service.database.engine import open_database
from service.exits import explained
from service.keys.scope import Scope
from service.keys.secret import ID_SHAPE
from service.keys.store import KeyStore
from service.keys.verifying import CACHE_S
from service.keys.wire import DEFAULT_TENANT, KeyIn, KeyMade, KeyOut, Keys
from service.moments import show_moment
from service.request_body import to_request_error
from service.settings import load_settings
from service.visible import show_text

keys_app = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")]
DatabaseUrl = Annotated[
    str | None,
    typer.Option("--database", help="sqlite:///FILE or postgresql://...; RAFS_DATABASE unless given."),
]
WIDTH = 100
"""Where no terminal says how wide it is."""
COLUMNS = {
    "id": True,
    "state": True,
    "name": False,
    "tenant": False,
    "scopes": True,
    "a minute": True,
    "a day": True,
    "ends": True,
}
"""Whether the column is never cut into lines."""
COLOURS = {"active": "green", "expired": "yellow", "revoked": "red"}
Found = TypeVar("Found")


@keys_app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for: the program that will hold it.")],
    scope: Annotated[
        list[Scope] | None,
        typer.Option(help="score: score and gate traces. batch: run batches. admin: manage keys. May be repeated."),
    ] = None,
    tenant: Annotated[
        str, typer.Option(help="Who it belongs to; two tenants never see each other's answers or jobs.")
    ] = DEFAULT_TENANT,
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="It ends after so many days.")] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(min=0, help="RAFS_REQUESTS_PER_MINUTE unless given; 0 is no limit.")
    ] = None,
    traces_per_day: Annotated[
        int | None, typer.Option(min=0, help="RAFS_TRACES_PER_DAY unless given; 0 is no limit.")
    ] = None,
    as_json: AsJson = False,
    database: DatabaseUrl = None,
) -> None:
    """Make a key and print it: once, since only a hash of it is kept.

    The key is the only line on standard output, so that a script can catch it. Clients send it as
    `authorization: Bearer KEY`.

    Example: rafs keys create checkout --days 90

    Example: RAFS_API_KEY=$(rafs keys create nightly --scope score --scope batch)
    """
    fields = {
        "name": name,
        "tenant": tenant,
        "scopes": scope or [Scope.SCORE],
        "expires_at": None if days is None else datetime.now(UTC) + timedelta(days=days),
        "requests_per_minute": requests_per_minute,
        "traces_per_day": traces_per_day,
    }
    with explained():
        try:
            wanted = KeyIn.model_validate(fields)
        except ValidationError as error:
            raise to_request_error(error, KeyIn) from None
        stored, text = _ask(database, lambda store: store.create(wanted.to_new()))
    made = KeyMade(key=text, details=KeyOut.of(stored))
    if as_json:
        print(made.model_dump_json())
    else:
        _show(made)


@keys_app.command("list")
def list_keys(
    tenant: Annotated[str | None, typer.Option(help="Only the keys of this tenant.")] = None,
    as_json: AsJson = False,
    database: DatabaseUrl = None,
) -> None:
    """List the newest thousand keys, without their secrets. Times are UTC.

    `a minute` bounds requests, `a day` traces; `default` is the service's own bound.

    Example: rafs keys list
    """
    with explained():
        keys = [KeyOut.of(stored) for stored in _ask(database, lambda store: store.list(tenant))]
    if as_json:
        print(Keys(keys=keys).model_dump_json())
        return
    if not keys:
        _say("There are no keys. Make one: rafs keys create NAME")
        return
    width = None if sys.stdout.isatty() else WIDTH
    Console(markup=False, emoji=False, highlight=False, width=width).print(_table(keys))


@keys_app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As `rafs keys list` shows it.")],
    database: DatabaseUrl = None,
) -> None:
    """End a key for good. Running services refuse it within seconds.

    Example: rafs keys revoke 3f9c1d20ab47
    """
    with explained():
        stored = _ask(database, lambda store: store.revoke(key_id)) if ID_SHAPE.fullmatch(key_id) else None
        if stored is None:
            message = f"there is no key '{show_text(key_id)}'; `rafs keys list` shows the ids"
            raise InputError(message, field="ID", got=show_text(key_id), allowed="the id of a key")
    print(f"{stored.id} ({show_text(stored.name)}) is revoked; running services refuse it within {CACHE_S:g} s")


def _ask(url: str | None, question: Callable[[KeyStore], Awaitable[Found]]) -> Found:
    """Open the database, ask, and close it."""

    async def ask() -> Found:
        database = open_database(load_settings(database=url).database.get_secret_value())
        try:
            return await question(KeyStore(database))
        finally:
            await database.close()

    return asyncio.run(ask())


def _table(keys: Sequence[KeyOut]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name, is_whole in COLUMNS.items():
        table.add_column(name, no_wrap=is_whole, overflow="fold")
    for key in keys:
        table.add_row(
            Text(key.id, "bold"),
            Text(key.state, COLOURS[key.state]),
            Text(show_text(key.name)),
            Text(show_text(key.tenant)),
            Text("\n".join(key.scopes)),
            Text(_limit(key.requests_per_minute)),
            Text(_limit(key.traces_per_day)),
            Text(_end(key)),
        )
    return table


def _show(made: KeyMade) -> None:
    key = made.details
    end = f"ends {_end(key)}" if key.expires_at else "never ends"
    _say(f"Key {key.id} of tenant `{show_text(key.tenant)}`, for {', '.join(key.scopes)}, {end}. It is shown only now:")
    print(made.key)
    _say(f"Clients send it so: curl -H 'authorization: Bearer rafs_{key.id}_...' http://HOST:PORT/v1/models")


def _end(key: KeyOut) -> str:
    return show_moment(key.expires_at) if key.expires_at else "never"


def _limit(limit: int | None) -> str:
    return "default" if limit is None else "no limit" if limit == 0 else str(limit)


def _say(line: str) -> None:
    Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True).print(line)
