import ast
import asyncio
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from rafs.errors import BackendError
from service.database.engine import Database, open_database
from service.keys.scope import Scope
from service.keys.secret import digest_of, draw_key, id_of
from service.keys.store import KeyStore, NewKey
from service.keys.verifying import CACHE_S, KeyVerifier

ONE = NewKey(name="one", tenant="t", scopes=frozenset({Scope.SCORE}))
PACKAGE = Path(__file__).parents[3] / "service" / "keys"


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Collect what is sent to databases."""
    sent: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)


def test_a_key_has_256_random_bits_behind_its_id() -> None:
    key_id, key = draw_key()
    assert id_of(key) == key_id
    assert len(key.removeprefix(f"rafs_{key_id}_")) == 43
    assert draw_key() != (key_id, key)


@pytest.mark.parametrize(
    "text", ["", "rafs_", "rafs_0123456789ab_short", "rafs_0123456789ab_" + "é" * 43, "rafs_0123456789ab_" + "a" * 44]
)
def test_what_has_not_the_shape_of_a_key_has_no_id(text: str) -> None:
    assert id_of(text) is None


async def test_at_rest_there_is_only_the_hash(database: Database) -> None:
    stored, key = await KeyStore(database).create(ONE)
    assert stored.digest == hashlib.sha256(key.encode()).digest()
    assert key.removeprefix(f"rafs_{stored.id}_") not in repr(await KeyStore(database).list())


async def test_a_file_of_the_database_holds_no_secret(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'rafs.db'}")
    _, key = await KeyStore(database).create(ONE)
    await database.close()
    assert all(key[18:].encode() not in path.read_bytes() for path in tmp_path.iterdir())


async def test_a_key_is_kept_as_it_was_asked_for(database: Database) -> None:
    asked = NewKey(
        name="näme'; DROP TABLE api_keys; --",
        tenant="t'",
        scopes=frozenset({Scope.BATCH, Scope.SCORE}),
        expires_at=datetime(2040, 1, 2, 3, 4, 5, 678_000, UTC),
        requests_per_minute=0,
        traces_per_day=7,
    )
    stored, _ = await KeyStore(database, clock=lambda: 1_000.5).create(asked)
    assert await KeyStore(database).find(stored.id) == stored
    kept = NewKey(
        name=stored.name,
        tenant=stored.tenant,
        scopes=stored.scopes,
        expires_at=stored.expires_at,
        requests_per_minute=stored.requests_per_minute,
        traces_per_day=stored.traces_per_day,
    )
    assert kept == asked
    assert stored.created_at == datetime.fromtimestamp(1_000.5, UTC)


async def test_the_newest_keys_come_first_and_a_tenant_can_be_asked_for(database: Database) -> None:
    made = []
    for second, tenant in enumerate(("a", "b", "a")):
        store = KeyStore(database, clock=lambda second=second: float(second))  # type: ignore[misc]
        made.append((await store.create(NewKey(name="n", tenant=tenant, scopes=frozenset({Scope.SCORE}))))[0])
    assert await KeyStore(database).list() == made[::-1]
    assert await KeyStore(database).list("a") == [made[2], made[0]]


async def test_a_revocation_is_for_good(database: Database) -> None:
    stored, _ = await KeyStore(database).create(ONE)
    first = await KeyStore(database, clock=lambda: 1.0).revoke(stored.id)
    again = await KeyStore(database, clock=lambda: 2.0).revoke(stored.id)
    assert first is not None
    assert first.revoked_at == datetime.fromtimestamp(1.0, UTC)
    assert again == first
    assert await KeyStore(database).revoke("none") is None


async def test_a_checked_key_costs_no_question_until_its_time_is_over(
    database: Database, statements: list[str]
) -> None:
    now = 0.0
    store = KeyStore(database)
    stored, key = await store.create(ONE)
    verifier = KeyVerifier(store, timer=lambda: now)
    assert await verifier.verify(key) == stored
    statements.clear()
    now = CACHE_S - 0.1
    assert await verifier.verify(key) == stored
    assert statements == []
    await store.revoke(stored.id)
    now = CACHE_S + 0.1
    found = await verifier.verify(key)
    assert found is not None
    assert found.revoked_at is not None


async def test_a_wrong_secret_is_nobodys_and_is_asked_about_once(database: Database, statements: list[str]) -> None:
    store = KeyStore(database)
    _, key = await store.create(ONE)
    verifier = KeyVerifier(store)
    wrong = key[:-1] + ("a" if key[-1] != "a" else "b")
    assert await verifier.verify(wrong) is None
    statements.clear()
    assert await verifier.verify(wrong) is None
    assert statements == []
    assert await verifier.verify(key) is not None


async def test_an_unknown_id_takes_the_way_of_a_wrong_secret(database: Database, statements: list[str]) -> None:
    store = KeyStore(database)
    _, key = await store.create(ONE)
    verifier = KeyVerifier(store)
    await verifier.verify(draw_key()[1])
    statements.clear()
    ways = []
    for each in (draw_key()[1], key[:18] + draw_key()[1][18:]):
        await verifier.verify(each)
        ways.append([statement for statement in statements if statement.startswith("SELECT api_keys")])
        statements.clear()
    assert ways[0] == ways[1] != []


async def test_requests_that_come_together_ask_once(database: Database, statements: list[str]) -> None:
    store = KeyStore(database)
    _, key = await store.create(ONE)
    verifier = KeyVerifier(store)
    statements.clear()
    found = await asyncio.gather(*(verifier.verify(key) for _ in range(100)))
    assert None not in found
    assert len([statement for statement in statements if statement.startswith("SELECT api_keys")]) == 1


async def test_a_caller_who_leaves_takes_the_answer_from_nobody(database: Database) -> None:
    store = KeyStore(database)
    _, key = await store.create(ONE)
    verifier = KeyVerifier(store)
    first, second = (asyncio.ensure_future(verifier.verify(key)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is not None


async def test_a_database_that_fails_is_no_wrong_key(tmp_path: Path) -> None:
    path = tmp_path / "rafs.db"
    path.write_text("no database" * 1000)
    verifier = KeyVerifier(KeyStore(open_database(f"sqlite:///{path}")))
    key = draw_key()[1]
    for _ in range(2):
        with pytest.raises(BackendError):
            await verifier.verify(key)


def test_digests_are_compared_in_constant_time_only() -> None:
    compared = [
        ast.unparse(node)
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
    ]
    assert [text for text in compared if "digest" in text] == []
    assert "hmac.compare_digest" in (PACKAGE / "verifying.py").read_text("utf-8")


def test_the_digest_is_of_the_whole_key() -> None:
    key = draw_key()[1]
    assert digest_of(key) == hashlib.sha256(key.encode()).digest()
