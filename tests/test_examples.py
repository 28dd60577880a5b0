"""Every example does what its README says, on the models that every installation has."""

import asyncio
import json
import re
from functools import cache
from pathlib import Path

import pytest

from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.settings import load_settings
from service.wiring import build_scorer

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SCORE_DIFFERS = 0.5
"""Of the 100 points."""
SHARE_DIFFERS = 0.005
README_CALL = re.compile(r"/v1/score .*? -d '(.*?)'\n", re.DOTALL)


def readme_call() -> str:
    found = README_CALL.search((ROOT / "README.md").read_text("utf-8"))
    assert found is not None
    return found[1]


@cache
def responses() -> dict[str, ScoreResponse]:
    async def score() -> dict[str, ScoreResponse]:
        scorer = build_scorer(load_settings())
        bodies = {path.stem: path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.json"))}
        bodies["README"] = readme_call()
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
    names = set(responses()) - {"README"}
    assert all(f"`{name}.json`" in table for name in names)
    assert len(names) == 7


def test_the_readmes_call_has_the_answer_that_stands_below_it() -> None:
    """Processors round half precision differently: a number may differ by so much as one of two decimals does."""
    response = responses()["README"]
    assert response.interval is not None
    printed = json.loads((ROOT / "README.md").read_text("utf-8").partition("```json")[2].partition("```")[0])
    assert response.score == pytest.approx(printed["score"], abs=SCORE_DIFFERS)
    assert list(response.interval) == pytest.approx(printed["interval"], abs=SCORE_DIFFERS)
    assert response.outcome.model_dump() == printed["outcome"]
    assert response.reasons == printed["reasons"]
    values = {part["name"]: part["value"] for part in printed["components"]}
    assert {part.name: part.value for part in response.components} == pytest.approx(values, abs=SHARE_DIFFERS)


def test_the_faithful_trace_scores_higher_than_every_failure() -> None:
    scores = {name: response.score for name, response in responses().items()}
    faithful = scores.pop("faithful")
    del scores["unknown_writer"], scores["README"]
    assert all(score is not None and faithful is not None and faithful > score + 40 for score in scores.values())


def test_an_instruction_to_the_judge_buys_nothing() -> None:
    """A reward model answers no question, so that there is nothing to instruct; checkers read no instructions."""
    response = responses()["injection"]
    refuted = [step.index for step in response.steps if step.refuted]
    asked = {row.step for row in response.ledger if row.member.startswith("prm") and row.p_correct is not None}
    assert refuted == [3, 4]
    assert asked.isdisjoint(refuted)


def test_every_number_says_which_model_it_came_from() -> None:
    for body in responses().values():
        assert json.dumps(body.model_dump(mode="json"), allow_nan=False)
        assert {model.role: model.family for model in body.provenance.models}["prm"] == "smollm"
        assert all(model.revision for model in body.provenance.models)
