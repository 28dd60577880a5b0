from typing import Any

import pytest
from fastapi.testclient import TestClient

from rafs.request import ScoreRequest
from rafs.usage import Priority
from service.app import create_app
from service.intake import BUDGET_HEADER, DEADLINE_HEADER
from service.settings import Settings
from service.terms import SHORTEST_S, Terms
from tests.service.stand_in import JSON, StandIn, body


def ask(headers: dict[str, str], **fields: object) -> tuple[Any, list[Terms]]:
    scorer = StandIn()
    with TestClient(create_app(scorer, Settings()), raise_server_exceptions=False) as client:
        reply = client.post("/v1/score", content=body(**fields), headers=JSON | headers)
    return reply, scorer.terms


@pytest.mark.parametrize(
    ("header", "field", "budget"),
    [(None, None, None), ("70", None, 70), (None, 50, 50), ("70", 50, 50), ("30", 50, 30), ("0", 50, 0)],
)
def test_the_smaller_budget_of_header_and_body_holds(header: str | None, field: int | None, budget: int | None) -> None:
    headers = {} if header is None else {BUDGET_HEADER: header}
    _, terms = ask(headers, token_budget=field)
    assert [each.token_budget for each in terms] == [budget]


@pytest.mark.parametrize(("header", "field", "deadline_s"), [("9000", 5, 5.0), ("3000", 5, 3.0), ("3000", None, 3.0)])
def test_the_shorter_deadline_holds_less_what_has_passed(header: str, field: float | None, deadline_s: float) -> None:
    _, terms = ask({DEADLINE_HEADER: header}, deadline_s=field)
    left_s = terms[0].deadline_s
    assert left_s is not None
    assert deadline_s - 1 < left_s < deadline_s


def test_without_bounds_there_are_none() -> None:
    assert ask({})[1] == [Terms(priority=Priority.SCORE)]


@pytest.mark.parametrize("name", [DEADLINE_HEADER, BUDGET_HEADER])
@pytest.mark.parametrize("sent", ["", "-1", "1.5", "1e3", "many", "99999999999", "٣", " "])
def test_a_header_that_is_no_number_in_its_range_is_named(name: str, sent: str) -> None:
    reply, terms = ask({name: sent.encode()})  # type: ignore[dict-item]  # httpx takes bytes as well
    assert (reply.status_code, terms) == (422, [])
    assert reply.json()["errors"][0]["field"] == f"header {name}"


@pytest.mark.parametrize(
    "fields", [{"deadline_s": 0}, {"deadline_s": 1e9}, {"token_budget": -1}, {"token_budget": 0.5}]
)
def test_a_bound_of_the_body_outside_its_range_is_refused(fields: dict[str, Any]) -> None:
    assert ask({}, **fields)[0].status_code == 422


def test_of_a_deadline_that_has_passed_a_moment_is_left() -> None:
    assert Terms(deadline_s=1.0).after(5.0).deadline_s == SHORTEST_S


def test_every_text_that_models_read_is_estimated_with_its_problem() -> None:
    alone = ScoreRequest(problem="p" * 400, trace="t" * 800)
    sampled = ScoreRequest(problem="p" * 400, trace="t" * 800, samples=["s" * 800])
    assert (alone.estimate_tokens(), sampled.estimate_tokens()) == (300, 600)


@pytest.mark.parametrize("path", ["/v1/score", "/v1/score/stream"])
def test_a_service_that_stops_lets_nothing_in(path: str) -> None:
    scorer = StandIn()
    app = create_app(scorer, Settings())
    with TestClient(app) as client:
        app.state.intake.is_stopping = True
        reply = client.post(path, content=body(), headers=JSON)
        assert client.get("/readyz").status_code == 503
        assert client.get("/metrics").status_code == 200
    assert (reply.status_code, reply.json()["type"], scorer.seen) == (503, "/problems/stopping", [])
    assert "retry-after" in reply.headers
