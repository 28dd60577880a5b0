"""What may be listened on, with and without keys."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rafs.errors import ConfigError
from service.database.engine import open_database
from service.keys.scope import Scope
from service.keys.store import KeyStore, NewKey
from service.server import check_address
from service.settings import Settings


def make_one_key(*, revoke: bool = False, expires_at: datetime | None = None) -> None:
    """Make a key in the database of the environment."""

    async def make() -> None:
        database = open_database(Settings().database.get_secret_value())
        store = KeyStore(database)
        new = NewKey(name="one", tenant="default", scopes=frozenset({Scope.SCORE}), expires_at=expires_at)
        key, _ = await store.create(new)
        if revoke:
            await store.revoke(key.id)
        await database.close()

    asyncio.run(make())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_an_address_that_others_reach_needs_a_key_or_permission(host: str) -> None:
    with pytest.raises(ConfigError, match=r"rafs keys create NAME.*--allow-remote"):
        check_address(Settings(host=host))
    check_address(Settings(host=host, allow_remote=True))
    make_one_key()
    check_address(Settings(host=host))


@pytest.mark.parametrize("ended", [{"revoke": True}, {"expires_at": datetime(2020, 1, 1, tzinfo=UTC)}], ids=str)
def test_a_key_that_has_ended_opens_no_address(ended: dict[str, Any]) -> None:
    make_one_key(**ended)
    with pytest.raises(ConfigError, match="there is no key"):
        check_address(Settings(host="0.0.0.0"))


def test_permission_does_not_replace_a_key_that_is_required() -> None:
    with pytest.raises(ConfigError, match="there is no key"):
        check_address(Settings(host="0.0.0.0", allow_remote=True, auth="required"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "::1", "localhost"])
def test_an_address_of_this_machine_needs_none(host: str) -> None:
    check_address(Settings(host=host))


def test_a_database_that_cannot_be_used_is_a_matter_of_configuration(tmp_path: Path) -> None:
    (tmp_path / "rafs.db").write_text("no database" * 1000)
    with pytest.raises(ConfigError, match=r"^RAFS_DATABASE: the database failed"):
        check_address(Settings.model_validate({"database": f"sqlite:///{tmp_path / 'rafs.db'}"}))
