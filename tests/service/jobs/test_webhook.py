"""The end of a batch, told to a receiver that checks the signature with the library of Standard Webhooks."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from service.database.engine import Database
from service.jobs.webhook import WebhookSender, make_secret
from tests.service.jobs.batches_of import HELD, PATH, Obedient, asks, make, running, status_of, wait_until
from tests.service.jobs.receiver import Received, receiver, verified
from tests.service.jobs.test_addresses import guard
from tests.service.jobs.test_ledger import make as make_batch
from tests.service.jobs.test_ledger import stores

INSIDE: dict[str, Any] = {"webhook_allow_http": True, "webhook_hosts": "127.0.0.1"}
SOON = "0,0.01,0.01"
"""Pauses before the attempts, where the real ones take days."""


def hooked(client: TestClient, received: Received, *traces: str, secret: str | None = None) -> dict[str, Any]:
    hook = {"url": received.url} | ({} if secret is None else {"secret": secret})
    return make(client, asks(*traces, webhook=hook, metadata={"run": "7"}))


def settled(client: TestClient, batch: str) -> dict[str, Any]:
    """Wait until the webhook is told or given up, and return what is shown of it."""
    while (hook := status_of(client, batch)["webhook"])["state"] == "pending":
        pass
    shown: dict[str, Any] = hook
    return shown


def test_the_end_is_told_with_a_signature_that_the_library_accepts() -> None:
    with receiver() as received, running(webhook_ports=str(received.port), **INSIDE) as client:
        made = hooked(client, received, "1 + 1 = 2")
        headers, body = received.next()
        hook = settled(client, made["id"])
    told = verified(made["webhook"]["secret"], headers, body)
    assert (told["type"], told["data"]["id"], told["data"]["status"]) == ("batch.completed", made["id"], "completed")
    assert (told["data"]["counts"]["scored"], told["data"]["metadata"]) == (1, {"run": "7"})
    assert (headers["path"], headers["Content-Type"]) == ("/hook?token=t", "application/json")
    assert (hook["state"], hook["attempts"], hook["error"], hook["secret"]) == ("delivered", 1, None, None)


def test_a_secret_of_the_callers_signs_and_no_other() -> None:
    secret = make_secret()
    with receiver() as received, running(webhook_ports=str(received.port), **INSIDE) as client:
        hooked(client, received, "1 + 1 = 2", secret=secret)
        headers, body = received.next()
    assert json.loads(body) == verified(secret, headers, body)
    assert verified(make_secret(), headers, body) is None


def test_a_cancelled_batch_is_told_too() -> None:
    with receiver() as received, running(Obedient(), webhook_ports=str(received.port), **INSIDE) as client:
        batch = hooked(client, received, HELD)["id"]
        wait_until(client, batch, "running")
        client.post(f"{PATH}/{batch}/cancel")
        _, body = received.next()
    assert json.loads(body)["type"] == "batch.cancelled"


def test_a_receiver_that_fails_is_told_again_under_the_same_id() -> None:
    with (
        receiver(500, 204) as received,
        running(webhook_ports=str(received.port), webhook_pauses_s=SOON, **INSIDE) as client,
    ):
        batch = hooked(client, received, "1 + 1 = 2")["id"]
        first, again = received.next()[0], received.next()[0]
        hook = settled(client, batch)
    assert first["webhook-id"] == again["webhook-id"] == f"msg_{batch}"
    assert (hook["state"], hook["attempts"]) == ("delivered", 2)


@pytest.mark.parametrize(
    ("status", "attempts"), [pytest.param(410, 1, id="gone"), pytest.param(302, 3, id="elsewhere"), (500, 3)]
)
def test_a_receiver_that_does_not_take_it_is_given_up(status: int, attempts: int) -> None:
    with (
        receiver(status) as received,
        running(webhook_ports=str(received.port), webhook_pauses_s=SOON, **INSIDE) as client,
    ):
        hook = settled(client, hooked(client, received, "1 + 1 = 2")["id"])
        paths = {received.next()[0]["path"] for _ in range(attempts)}
    assert (hook["state"], hook["attempts"], hook["error"]) == ("failed", attempts, f"status {status}")
    assert paths == {"/hook?token=t"}  # no redirect was followed


async def test_a_host_that_turned_out_to_be_inside_is_given_up_at_once(database: Database) -> None:
    store, ledger = stores(database)
    batch = await make_batch(store, "a", webhook="https://example.com/hook")
    await ledger.finish(batch)
    sender = WebhookSender(ledger, guard("10.0.0.1"), timeout_s=1.0)
    assert await sender.attempt(batch, 1, is_last=False)
    await sender.close()
    row = await ledger.read(batch)
    assert row is not None and (row.webhook_state, row.webhook_secret) == ("failed", None)
