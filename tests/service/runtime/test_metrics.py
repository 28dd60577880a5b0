import re

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from service.app import create_app
from service.settings import Settings
from tests.service.stand_in import JSON, StandIn, body

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(client: TestClient) -> Series:
    text = client.get("/metrics").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def count(series: Series, name: str, **labels: str) -> float:
    return series.get((name, tuple(sorted(labels.items()))), 0.0)


def test_requests_are_counted_by_path_and_status(client: TestClient) -> None:
    client.post("/v1/score", content=body(), headers=JSON)
    client.post("/v1/score", content=b"{", headers=JSON)
    series = read(client)
    for status in ("200", "400"):
        assert count(series, "rafs_http_requests_total", method="POST", path="/v1/score", status=status) == 1
    assert count(series, "rafs_http_request_seconds_count", path="/v1/score") == 2


def test_scores_are_counted_with_their_status_outcome_and_cost(client: TestClient) -> None:
    client.post("/v1/score/stream", content=body(), headers=JSON)
    series = read(client)
    labels = {"preset": "standard", "status": "Review", "outcome": "silent_failure"}
    assert count(series, "rafs_scores_total", **labels) == 1
    assert count(series, "rafs_model_tokens_total", stage="verify", role="verifier") == 512
    assert count(series, "rafs_stage_seconds_total", stage="verify") == pytest.approx(0.3104)


def test_an_answer_from_memory_is_counted_as_one(client: TestClient) -> None:
    for _ in range(2):
        client.post("/v1/score", content=body(), headers=JSON | {"idempotency-key": "k"})
    assert count(read(client), "rafs_remembered_answers_total", path="/v1/score", memory="idempotency") == 1


def test_a_refusal_for_want_of_room_is_a_status() -> None:
    app = create_app(StandIn(), Settings(max_in_flight=1))
    with TestClient(app) as client:
        with app.state.intake.admission.enter():
            before_the_path_is_known = client.post("/v1/score", content=body(), headers=JSON)
            shed = client.post("/v1/score", content=body(), headers=JSON)
            series = read(client)
        assert client.post("/v1/score", content=body(), headers=JSON).status_code == 200
    assert shed.json()["detail"] == before_the_path_is_known.json()["detail"]
    assert {"retry-after", "x-request-id", "x-content-type-options"} <= set(shed.headers)
    assert count(series, "rafs_http_requests_total", method="POST", path="/v1/score", status="429") == 2
    assert count(series, "rafs_requests_in_flight") == 1


def test_whatever_is_asked_there_are_few_series(client: TestClient) -> None:
    before = len(read(client))
    for n in range(50):
        client.get(f"/v1/{n}")
        client.request(f"ODD{n}", "/v1/score")
        client.post("/v1/score", content=body(problem=f"secret {n}", preset=None), headers=JSON)
    assert len(read(client)) - before < 100
    assert "secret" not in client.get("/metrics").text


def test_every_name_says_its_unit_or_what_it_counts(client: TestClient) -> None:
    client.post("/v1/score", content=body(), headers=JSON)
    ours = {name for name, _ in read(client) if name.startswith("rafs_")}
    allowed = re.compile(r"rafs_[a-z_]+(_total|_seconds(_bucket|_count|_sum)?|_in_flight|_tokens)")
    assert [name for name in ours if not allowed.fullmatch(name)] == []
