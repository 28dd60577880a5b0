"""What is told of a score before it is there: it narrows, and ends where the score is."""

from itertools import pairwise
from typing import Any

import pytest

from rafs.progress_wire import ScoreBounds, StepJudged, StepsRead
from rafs.wire import ScoreResponse
from service.progress import News
from tests.test_flow import IN_WORDS, PROBLEM, SAMPLES, SMOL, LengthJudge, request, scorer
from tests.test_generator_flow import Writer

REFUTED = "She has 4 * 15 = 70 nuts.\nAfter eating 10 she has 70 - 10 = 60 nuts.\nThe answer is 60."
CASES: dict[str, dict[str, Any]] = {
    "samples sent": {"samples": SAMPLES},
    "samples in words": {"samples": IN_WORDS},
    "no samples": {},
    "a refuted step": {"trace": REFUTED, "samples": SAMPLES},
    "a refuted step and a cascade": {"trace": REFUTED, "preset": "gate"},
    "no answer": {"trace": "She has 4 * 15 = 60 nuts.", "samples": SAMPLES},
    "no arithmetic": {"trace": "She has many nuts.\nSo the answer is 50.", "samples": SAMPLES},
    "a writer at hand": {"preset": "deep"},
}


async def told(**fields: Any) -> tuple[list[News], ScoreResponse]:
    news: list[News] = []
    built = scorer(LengthJudge(SMOL), generators={"gpt-4o": Writer()})
    response = await built.score(request(**fields), tell=news.append)
    return news, response


@pytest.mark.parametrize("fields", CASES.values(), ids=CASES.keys())
async def test_the_bounds_only_narrow_and_hold_the_score(fields: dict[str, Any]) -> None:
    news, response = await told(**fields)
    bounds = [(one.lower, one.upper) for one in news if isinstance(one, ScoreBounds)]
    assert bounds
    assert all(a[0] - 1e-9 <= b[0] <= b[1] <= a[1] + 1e-9 for a, b in pairwise(bounds))
    assert response.score is None or bounds[-1][0] - 1e-9 <= response.score <= bounds[-1][1] + 1e-9


@pytest.mark.parametrize("fields", CASES.values(), ids=CASES.keys())
async def test_every_step_is_told_once_as_it_stands_in_the_response(fields: dict[str, Any]) -> None:
    news, response = await told(**fields)
    verdicts = [one for one in news if isinstance(one, StepJudged)]
    derivation = [step for step in response.steps if step.kind != "answer"]
    assert sorted(one.index for one in verdicts) == [step.index for step in derivation]
    said = {one.index: (one.p_correct, one.refuted, one.suspect, one.decided_by) for one in verdicts}
    assert said == {step.index: (step.p_correct, step.refuted, step.suspect, step.decided_by) for step in derivation}


async def test_the_steps_come_first_and_a_refuted_one_before_the_models_spoke() -> None:
    news, _ = await told(trace=REFUTED, samples=SAMPLES)
    kinds = [type(one) for one in news]
    assert kinds[:3] == [StepsRead, StepJudged, ScoreBounds]
    assert isinstance(news[1], StepJudged)
    assert news[1].refuted
    assert PROBLEM not in str(news)
