"""Traces as a collector receives them, from a service in a process of its own."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.service.runtime.collector import Collector, collecting
from tests.service.runtime.served import PATIENCE_S, served
from tests.service.stand_in import JSON, body

SECRET = "Zanzibar"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(scope="module")
def answered() -> Iterator[tuple[Collector, dict[str, Any]]]:
    """One scored trace, and all that was sent of it when the service had stopped."""
    with collecting() as collector:
        with served("flow", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address) as running:
            sent = body(problem=f"{SECRET}: what is 2 + 2?", trace="2 + 2 = 4\nThe answer is 4.")
            reply = httpx.post(
                running.url + "/v1/score", content=sent, headers=JSON | {"traceparent": PARENT}, timeout=PATIENCE_S
            )
            running.stop()
            running.returncode()
        yield collector, reply.json()


def only(collector: Collector, name: str) -> Span:
    (span,) = [span for span in collector.spans() if span.name == name]
    return span


def values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


def test_a_request_is_one_span_below_the_callers(answered: tuple[Collector, dict[str, Any]]) -> None:
    request = only(answered[0], "POST /v1/score")
    assert (request.trace_id.hex(), request.parent_span_id.hex()) == tuple(PARENT.split("-")[1:3])
    assert values(request.attributes)["http.response.status_code"] == 200


def test_the_score_has_the_event_of_the_semantic_conventions(answered: tuple[Collector, dict[str, Any]]) -> None:
    collector, response = answered
    (event,) = only(collector, "rafs.score").events
    said = values(event.attributes)
    assert event.name == "gen_ai.evaluation.result"
    assert said["gen_ai.evaluation.name"] == "rafs"
    assert said["gen_ai.evaluation.score.label"] == response["status"]
    assert said.get("gen_ai.evaluation.score.value") == response["score"]
    assert said["gen_ai.evaluation.explanation"] == ", ".join(response["reasons"])


def test_every_stage_is_a_span_below_the_score(answered: tuple[Collector, dict[str, Any]]) -> None:
    score = only(answered[0], "rafs.score")
    assert score.parent_span_id == only(answered[0], "POST /v1/score").span_id
    stages = {span.name for span in answered[0].spans() if span.parent_span_id == score.span_id}
    assert {"rafs.read", "rafs.verify", "rafs.agree", "rafs.intervene"} <= stages


def test_no_text_of_the_request_is_sent(answered: tuple[Collector, dict[str, Any]]) -> None:
    assert answered[0].raw
    assert not any(SECRET.encode() in content for content in answered[0].raw)


def test_a_collector_that_is_gone_costs_no_answer() -> None:
    with served("stand-in", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9") as running:
        assert (
            httpx.post(running.url + "/v1/score", content=body(), headers=JSON, timeout=PATIENCE_S).status_code == 200
        )
