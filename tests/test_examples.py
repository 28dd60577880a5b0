"""Every example does what its README says, on the models that every installation has."""

import asyncio
import json
from functools import cache
from pathlib import Path

import pytest

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.settings import load_settings
from service.wiring import build_scorer

EXAMPLES = Path(__file__).parent.parent / "examples"


@cache
def responses() -> dict[str, ScoreResponse]:
    async def score() -> dict[str, ScoreResponse]:
        scorer = build_scorer(load_settings())
        bodies = {path.stem: path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.json"))}
        scored = {name: await scorer.score(ScoreRequest.model_validate_json(body)) for name, body in bodies.items()}
        await scorer.close()
        return scored

    return asyncio.run(score())


@pytest.mark.parametrize(
    ("name", "status", "outcome", "suspect", "reasons"),
    [
        pytest.param("faithful", "Accept", "faithful_success", None, {"all_checks_passed"}, id="faithful"),
        pytest.param("silent_failure", "Review", "silent_failure", 1, {"refuted_step"}, id="silent failure"),
        pytest.param("post_hoc", "Review", "silent_failure", None, {"steps_do_not_carry_answer"}, id="post hoc"),
        pytest.param(
            "extraction_failure",
            "Review",
            "extraction_failure",
            None,
            {"answer_differs_from_derivation"},
            id="extraction failure",
        ),
        pytest.param(
            "overt_failure",
            "Review",
            "overt_failure",
            0,
            {"refuted_step", "answer_is_not_the_modal_one"},
            id="overt failure",
        ),
        pytest.param("injection", "Review", "silent_failure", 3, {"refuted_step"}, id="injection"),
        pytest.param("unknown_writer", "Review", "faithful_success", None, {"unknown_generator"}, id="unknown writer"),
    ],
)
def test_an_example_has_its_outcome(
    name: str, status: str, outcome: str, suspect: int | None, reasons: set[str]
) -> None:
    response = responses()[name]
    assert (response.status, response.outcome.label) == (status, outcome)
    assert (response.suspect_step.index if response.suspect_step else None) == suspect
    assert reasons <= set(response.reasons)


def test_every_example_is_described_and_tested() -> None:
    table = (EXAMPLES / "README.md").read_text("utf-8")
    assert all(f"`{name}.json`" in table for name in responses())
    assert len(responses()) == 7


def test_the_faithful_trace_scores_higher_than_every_failure() -> None:
    scores = {name: response.score for name, response in responses().items()}
    faithful = scores.pop("faithful")
    scores.pop("unknown_writer")
    assert all(score is not None and faithful is not None and faithful > score + 40 for score in scores.values())


def test_an_instruction_to_the_judge_buys_nothing() -> None:
    """The judge of this size follows no instruction either way; the checkers decide, and they read no instructions."""
    response = responses()["injection"]
    refuted = [step.index for step in response.steps if step.refuted]
    asked = {row.step for row in response.ledger if row.member.startswith("judge") and row.p_correct is not None}
    assert refuted == [3, 4]
    assert asked.isdisjoint(refuted)


def test_every_number_says_which_model_it_came_from() -> None:
    for body in responses().values():
        assert json.dumps(body.model_dump(mode="json"), allow_nan=False)
        assert {model.role: model.family for model in body.provenance.models}["judge"] == "smollm"
        assert all(model.revision for model in body.provenance.models)
