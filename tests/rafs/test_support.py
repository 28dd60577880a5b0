"""S follows its formula, and too little evidence is no evidence."""

import math
from fractions import Fraction

import pytest

from rafs.interventions import Edit, EditFamily, Effect, EffectMethod, Interventions, Response
from rafs.outcomes import Measured, Unmeasured
from rafs.support import AnswerEntailment, answer_support, continuation_delta

EDIT = Edit(
    step=0,
    claim=0,
    family=EditFamily.VALUE,
    text="2 + 2 = 5",
    old=Fraction(4),
    new=Fraction(5),
    predicted=Fraction(5),
)


def entails(p: float) -> AnswerEntailment:
    return AnswerEntailment(p=p, detail="")


def interventions(*responses: list[Response]) -> Interventions:
    effects = tuple(
        Effect(edit=EDIT, method=EffectMethod.CONTINUATION, responses=tuple(r), delta=continuation_delta(r))
        for r in responses
    )
    return Interventions(effects=effects, discarded=(), method=EffectMethod.CONTINUATION)


F, M, S, R, U = Response.FOLLOWED, Response.MOVED, Response.STAYED, Response.RECOVERED, Response.UNPARSED


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        pytest.param([F, F], 1.0, id="followed"),
        pytest.param([S], 0.0, id="stayed"),
        pytest.param([F, M, S], 0.5, id="one of each"),
        pytest.param([F, R], 1.0, id="recovered is not counted as insensitive"),
        pytest.param([U, F], 1.0, id="unparsed is left out"),
        pytest.param([R, U], None, id="nothing is left"),
    ],
)
def test_delta_is_the_mean_credit_of_what_could_be_read(responses: list[Response], expected: float | None) -> None:
    assert continuation_delta(responses) == expected


def test_support_is_the_geometric_mean_of_entailment_and_sensitivity() -> None:
    part = answer_support(entails(0.8), interventions([F], [M]), alpha=0.5, m_min=2)
    assert isinstance(part, Measured)
    assert part.value == pytest.approx(math.sqrt(0.8 * 0.75))


def test_a_post_hoc_answer_has_no_support_however_well_it_is_entailed() -> None:
    part = answer_support(entails(1.0), interventions([S], [S]), alpha=0.5, m_min=2)
    assert part == Measured(value=0.0, coverage=1.0)


def test_unparsed_continuations_reduce_coverage() -> None:
    part = answer_support(entails(1.0), interventions([F, U], [F, F]), alpha=0.5, m_min=2)
    assert part == Measured(value=1.0, coverage=0.75)


@pytest.mark.parametrize(
    ("entailment", "tried", "reason"),
    [
        pytest.param(entails(1.0), interventions([F]), "too_few_interventions", id="one intervention"),
        pytest.param(entails(1.0), interventions([F], [R]), "too_few_interventions", id="one was repaired"),
        pytest.param(Unmeasured(reason="no_answer"), interventions([F], [F]), "no_answer", id="no entailment"),
    ],
)
def test_too_little_evidence_is_unmeasured(
    entailment: AnswerEntailment | Unmeasured, tried: Interventions, reason: str
) -> None:
    part = answer_support(entailment, tried, alpha=0.5, m_min=2)
    assert isinstance(part, Unmeasured)
    assert part.reason == reason
