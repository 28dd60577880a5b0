import asyncio
import json
import logging

import httpx
import pytest
from fastapi.testclient import TestClient

from rafs.errors import BackendError, ConfigError, InputError, OverloadedError
from service.app import create_app
from service.observability import configure_logging
from service.settings import Settings
from tests.service.stand_in import JSON, StandIn, body
from tests.test_flow import scorer as flow


def client_of(scorer: StandIn, **changes: object) -> TestClient:
    app = create_app(scorer, Settings.model_validate(changes))
    return TestClient(app, raise_server_exceptions=False)


def test_a_good_request_is_scored(client: TestClient) -> None:
    reply = client.post("/v1/score", content=body(), headers=JSON)
    assert reply.status_code == 200
    assert reply.json()["score"] == 42.5


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_another_media_type_is_refused(client: TestClient, media_type: str) -> None:
    reply = client.post("/v1/score", content=body(), headers={"content-type": media_type})
    assert (reply.status_code, reply.json()["type"]) == (415, "/problems/unsupported-media-type")


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON", "application/x+json"])
def test_json_by_any_of_its_names_is_taken(client: TestClient, media_type: str) -> None:
    assert client.post("/v1/score", content=body(), headers={"content-type": media_type}).status_code == 200


def test_a_body_that_says_no_type_is_read_as_json(client: TestClient) -> None:
    assert client.post("/v1/score", content=body()).status_code == 200


def test_a_byte_order_mark_is_ignored(client: TestClient) -> None:
    assert client.post("/v1/score", content=b"\xef\xbb\xbf" + body(), headers=JSON).status_code == 200


def test_a_wrong_method_is_told_the_right_one(client: TestClient) -> None:
    reply = client.get("/v1/score")
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert reply.json()["type"] == "/problems/method-not-allowed"


@pytest.mark.parametrize("path", ["/", "/v1/score/", "/%1b%00", "/v1/" + "x" * 5_000])
def test_an_unknown_path_is_told_the_known_ones(client: TestClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 404
    assert "/v1/score" in reply.json()["detail"]


def test_a_body_over_the_limit_is_refused_before_it_is_parsed() -> None:
    scorer = StandIn()
    with client_of(scorer, max_body_bytes=1_000) as client:
        reply = client.post("/v1/score", content=b"[" * 1_001, headers=JSON)
    assert (reply.status_code, reply.json()["errors"][0]["allowed"]) == (413, "at most 1000 bytes")


def test_a_body_over_the_limit_that_hides_its_length_is_refused() -> None:
    with client_of(StandIn(), max_body_bytes=1_000) as client:
        reply = client.post("/v1/score", content=iter([body(trace="x" * 600)] * 2), headers=JSON)
    assert reply.status_code == 413


FAILURES = {
    "unknown preset": (
        InputError("there is no such preset", field="preset", got="'x\x1b'", allowed="gate, standard, deep"),
        422,
        "/problems/invalid-input",
    ),
    "too large": (InputError("too long", field="trace", got="much", allowed="less", too_large=True), 413, None),
    "queue full": (OverloadedError("the queue is full", retry_after_s=2.2), 429, "/problems/overloaded"),
    "model down": (BackendError("the judge is down"), 503, "/problems/backend-failed"),
    "model slow": (BackendError("the judge is slow", timed_out=True), 504, "/problems/backend-timeout"),
    "misconfigured": (ConfigError("/secret/path is wrong"), 503, "/problems/misconfigured"),
    "our bug": (ZeroDivisionError("secret trace text"), 500, "/problems/internal"),
}


@pytest.mark.parametrize(("error", "status", "kind"), FAILURES.values(), ids=FAILURES.keys())
def test_every_failure_of_the_scorer_is_a_problem_without_internals(
    error: Exception, status: int, kind: str | None
) -> None:
    with client_of(StandIn(error=error)) as client:
        reply = client.post("/v1/score", content=body(), headers=JSON)
        assert client.get("/healthz").status_code == 200
    assert reply.status_code == status
    assert kind in (None, reply.json()["type"])
    assert "secret" not in reply.text
    assert all(text.isprintable() for fault in reply.json()["errors"] for text in fault.values())
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["x-request-id"] == reply.json()["instance"]


def test_a_full_queue_says_when_to_come_back() -> None:
    with client_of(StandIn(error=OverloadedError("full", retry_after_s=2.2))) as client:
        assert client.post("/v1/score", content=body(), headers=JSON).headers["retry-after"] == "3"


async def test_a_request_beyond_the_places_is_refused_at_once_and_the_others_are_served() -> None:
    app = create_app(StandIn(delay_s=1.0), Settings(max_in_flight=2))
    transport = httpx.ASGITransport(app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://r") as client:
        sent = (client.post("/v1/score", content=body(), headers=JSON) for _ in range(5))
        replies = await asyncio.gather(*sent)
        statuses = sorted(reply.status_code for reply in replies)
        refused = next(reply for reply in replies if reply.status_code == 429)
        later = await client.post("/v1/score", content=body(), headers=JSON)
    assert statuses == [200, 200, 429, 429, 429]
    assert refused.elapsed.total_seconds() < 0.5
    assert int(refused.headers["retry-after"]) >= 1
    assert later.status_code == 200


@pytest.mark.parametrize(
    "trace",
    [
        "We pack 6 crates with 7 per, so 6*7 = 42.",
        "Then 2^14800 = 10^4400.",
        "Each adds 12/per",
        r"\sqrt{10^{4499}} = 2",
    ],
)
async def test_a_hostile_trace_is_answered_by_the_real_scorer(trace: str) -> None:
    app = create_app(flow(), Settings())
    transport = httpx.ASGITransport(app)
    sent = json.dumps({"problem": f"{trace} How many?", "trace": trace, "samples": [trace]})
    client = httpx.AsyncClient(transport=transport, base_url="http://r")
    async with asyncio.timeout(60), app.router.lifespan_context(app), client:
        reply = await client.post("/v1/score", content=sent, headers=JSON)
    assert reply.status_code == 200, reply.text


def test_it_is_alive_while_the_models_load_and_ready_when_they_are_there() -> None:
    scorer = StandIn(load_error=ConfigError("weights are not here: run `rafs models pull`"))
    with client_of(scorer) as client:
        assert client.get("/healthz").json() == {"status": "alive"}
        reply = client.get("/readyz")
    assert (reply.status_code, reply.json()["detail"]) == (503, "the models are not loaded yet")
    assert scorer.closed
    with client_of(StandIn()) as client:
        assert client.get("/readyz").json() == {"status": "ready"}


def test_models_are_listed(client: TestClient) -> None:
    assert client.get("/v1/models").json()["models"][0]["id"] == "judge-1"


@pytest.mark.parametrize(("sent", "kept"), [("abc-1.2_3", True), ("a" * 65, False), ("a b", False), ("é", False)])
def test_a_sane_request_id_is_kept_and_another_replaced(client: TestClient, sent: str, kept: bool) -> None:
    reply = client.get("/healthz", headers=[(b"x-request-id", sent.encode())])
    assert (reply.headers["x-request-id"] == sent) is kept
    assert reply.headers["x-request-id"]


def test_the_log_has_the_request_id_and_no_text_of_the_trace(capfd: pytest.CaptureFixture[str]) -> None:
    handlers, level = logging.root.handlers[:], logging.root.level
    configure_logging("info")
    try:
        with client_of(StandIn(error=ValueError("HIDDEN trace"))) as client:
            raw = body(trace="HIDDEN trace")
            client.post("/v1/score", content=raw, headers=JSON | {"x-request-id": "id-7"})
    finally:
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
    written = capfd.readouterr()
    records = [json.loads(line) for line in written.err.splitlines()]
    assert written.out == ""
    assert "HIDDEN" not in written.err
    mine = [record for record in records if record.get("request_id") == "id-7"]
    assert [record["event"] for record in mine] == ["unexpected exception", "request"]
    assert mine[0]["exception"] == "ValueError"
    assert mine[1]["status"] == 500


def test_the_description_names_request_response_and_problem(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    operation = document["paths"]["/v1/score"]["post"]
    schemas = document["components"]["schemas"]
    assert operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/ScoreRequest")
    assert operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/ScoreResponse")
    assert operation["responses"]["422"]["content"]["application/problem+json"]["schema"]["$ref"].endswith(
        "/ProblemDocument"
    )
    assert schemas["ScoreRequest"]["required"] == ["problem", "trace"]
    references = set(json.dumps(document).split('"#/components/schemas/')[1:])
    assert {reference.partition('"')[0] for reference in references} <= schemas.keys()
    assert client.get("/docs").status_code == 200


def test_the_example_of_the_description_can_be_scored(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    example = document["paths"]["/v1/score"]["post"]["requestBody"]["content"]["application/json"]["example"]
    assert client.post("/v1/score", json=example).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
def test_a_compressed_body_is_refused_as_such(client: TestClient, encoding: str) -> None:
    reply = client.post("/v1/score", content=body(), headers=JSON | {"content-encoding": encoding})
    problem = reply.json()
    assert (reply.status_code, problem["type"]) == (415, "/problems/unsupported-encoding")
    assert problem["errors"] == [{"field": "header content-encoding", "got": encoding, "allowed": "identity"}]
    assert client.post("/v1/score", content=body(), headers=JSON | {"content-encoding": "Identity"}).status_code == 200
