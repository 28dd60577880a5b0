"""Batches through both clients, against the real application on a real socket."""

import json
from pathlib import Path
from typing import Any

import pytest

from rafs.client import ProblemError, ReplyError
from rafs.errors import BackendError, InputError
from tests.rafs.client.both_clients import Ask
from tests.rafs.engines.scripted_server import Reply, Request, in_turn, serve
from tests.service.stand_in import StandIn

REQUESTS: list[dict[str, Any]] = [
    {"problem": "What is 1 + 1?", "trace": "1 + 1 = 2", "custom_id": "a"},
    {"problem": "What is 2 + 2?", "trace": {"role": "assistant", "content": "2 + 2 = 4"}, "generator": "gpt-4o"},
    {"problem": "What is 1 + 1?", "trace": "1 + 1 = 2", "custom_id": "c"},
]


def test_a_batch_is_made_waited_for_and_read(ask: Ask, url: str) -> None:
    made = ask(url, "batches.create", REQUESTS, preset="gate", metadata={"run": "7"})
    over = ask(url, "batches.wait", made.id, timeout_s=60.0)
    rows = ask(url, "batches.results", made.id)
    assert (over.status, over.counts.scored, over.metadata) == ("completed", 3, {"run": "7"})
    assert [(row.id, row.duplicate_of, row.score) for row in rows] == [
        ("a", None, 42.5),
        (None, None, 42.5),
        ("c", 1, 42.5),
    ]
    assert ask(url, "batches.errors", made.id) == []


def test_rows_come_page_by_page(ask: Ask, url: str) -> None:
    made = ask(url, "batches.create", REQUESTS)
    ask(url, "batches.wait", made.id, timeout_s=60.0)
    assert [row.row for row in ask(url, "batches.results", made.id, page=1)] == [1, 2, 3]


@pytest.mark.parametrize("scheme", ["http:", ""], ids=["absolute", "without a scheme"])
def test_no_key_goes_to_another_server_that_a_reply_names(ask: Ask, scheme: str) -> None:
    with serve(in_turn(Reply(body=b""))) as other:
        link = f'<{other.url.replace("http:", scheme)}/v1/batches/b/results?after=1>; rel="next"'
        first = Reply(body=b"", headers={"link": link})
        with serve(in_turn(first)) as server, pytest.raises(ReplyError, match="not followed"):
            ask(server.url, "batches.results", "b", options={"api_key": "rafs_a_b"})
    assert other.requests == []


def test_a_whole_address_of_the_same_server_is_followed(ask: Ask) -> None:
    def page(request: Request) -> Reply:
        link = f'<http://{request.headers["host"]}/v1/batches/b/results?after=1>; rel="next"'
        return Reply(body=b"", headers={} if "after" in request.path else {"link": link})

    with serve(page) as server:
        assert ask(server.url, "batches.results", "b") == []
    assert len(server.requests) == 2


def test_a_file_is_handed_over_as_it_is(ask: Ask, url: str, scorer: StandIn, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(REQUESTS[0]) + "\nno json\n")
    made = ask(url, "batches.upload", path, preset="gate", full=True)
    assert ask(url, "batches.wait", made.id, timeout_s=60.0).counts.failed == 1
    assert [row.response is not None for row in ask(url, "batches.results", made.id)] == [True]
    assert [error.problem for error in ask(url, "batches.errors", made.id)] == ["input"]
    assert scorer.seen[0].preset == "gate"


def test_the_service_makes_a_secret_and_shows_it_once(ask: Ask, url: str) -> None:
    made = ask(url, "batches.create", REQUESTS, webhook={"url": "https://example.com/hook"})
    assert made.webhook.secret.startswith("whsec_")
    assert ask(url, "batches.status", made.id).webhook.secret is None


def test_a_batch_can_be_cancelled_and_is_listed(ask: Ask, url: str, scorer: StandIn) -> None:
    scorer.delay_s = 60.0
    made = ask(url, "batches.create", REQUESTS)
    with pytest.raises(BackendError, match="was not over"):
        ask(url, "batches.wait", made.id, timeout_s=0.01)
    assert ask(url, "batches.cancel", made.id).status == "cancelled"
    assert [one.id for one in ask(url, "batches.list", limit=1).batches] == [made.id]


def test_one_key_makes_one_batch(ask: Ask, url: str) -> None:
    first, again = (ask(url, "batches.create", REQUESTS, idempotency_key="once") for _ in range(2))
    assert first.id == again.id


def test_a_batch_that_was_never_made_is_a_problem(ask: Ask, url: str) -> None:
    with pytest.raises(ProblemError) as caught:
        ask(url, "batches.status", "../keys")
    assert caught.value.status == 404


def test_a_request_without_a_trace_is_refused_before_anybody_is_asked(ask: Ask, url: str) -> None:
    with pytest.raises(InputError, match=r"requests\.1"):
        ask(url, "batches.create", [REQUESTS[0], {"problem": "p"}])


def test_a_file_that_is_not_there_is_refused(ask: Ask, url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"log\.jsonl"):
        ask(url, "batches.upload", tmp_path / "log.jsonl")
