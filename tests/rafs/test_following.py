"""Models say whether the answer follows only where they were measured to know, in order, and each is named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from rafs.calibration import AS_GIVEN, AT_CHANCE, DEFAULT_CALIBRATION, Scale
from rafs.engines.scripted import Script, ScriptedNli
from rafs.errors import BackendError
from rafs.following import NOT_ASKED, Followed, ask_whether_follows
from rafs.reading import read_text
from rafs.support import EntailmentSource
from rafs.types import Abstained, BlindTrace, Entailment, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter

READING = read_text("Who won?", "Ann beat Bea.\nBea beat Cem.\nThe answer is Ann.", None)
PAIR = ("Ann beat Bea.\nBea beat Cem.", "The answer is Ann.")
VALIDATOR = ScriptedNli(Script(pairs={PAIR: Entailment(entails=0.9, neutral=0.1, contradicts=0.0)}))
DUMB_VALIDATOR = ScriptedNli(Script(pairs={PAIR: Abstained(why=Why.TOO_LONG)}))
NLI, JUDGE = "answer_nli:scripted", "answer_judge:j"


@dataclass
class Says:
    """A judge that says one thing, or fails."""

    verdict: Verdict | None
    id: str = "j"

    @property
    def identity(self) -> ModelIdentity:
        return ModelIdentity(id=self.id, family=self.id, revision="1")

    async def follows(self, trace: BlindTrace, answer: str, meter: Meter) -> Verdict:
        assert answer == "Ann"
        assert not any("Ann." in step.text for step in trace.steps)
        if self.verdict is None:
            raise BackendError("gone")
        return self.verdict


YES = Says(Judged(p_correct=0.8))


async def ask(
    scales: dict[str, Scale], judges: Sequence[Says] = (YES,), validator: ScriptedNli | None = VALIDATOR
) -> Followed:
    return await ask_whether_follows(READING, validator, judges, replace(DEFAULT_CALIBRATION, scales=scales), Meter())


@pytest.mark.parametrize(
    "scales", [{}, {NLI: AT_CHANCE, JUDGE: AT_CHANCE}, {"judge:j": AS_GIVEN}], ids=["unmeasured", "chance", "for steps"]
)
async def test_who_was_not_measured_for_this_question_is_not_asked(scales: dict[str, Scale]) -> None:
    assert await ask(scales) == NOT_ASKED


@pytest.mark.parametrize(
    ("scales", "source", "p"),
    [
        pytest.param({NLI: AS_GIVEN, JUDGE: AS_GIVEN}, EntailmentSource.VALIDATOR, 0.9, id="the validator first"),
        pytest.param({JUDGE: AS_GIVEN}, EntailmentSource.JUDGE, 0.8, id="else the judge"),
        pytest.param(
            {JUDGE: Scale(intercept=0, slope=0.5)}, EntailmentSource.JUDGE, 2 / 3, id="as far as it is scaled"
        ),
    ],
)
async def test_the_first_that_is_heard_gives_e_and_is_named(
    scales: dict[str, Scale], source: EntailmentSource, p: float
) -> None:
    found = (await ask(scales)).entailment
    assert found is not None
    assert found.source is source
    assert found.p == pytest.approx(p)


async def test_a_validator_without_an_opinion_leaves_it_to_the_judges() -> None:
    found = await ask({NLI: AS_GIVEN, JUDGE: AS_GIVEN}, validator=DUMB_VALIDATOR)
    assert found.entailment is not None
    assert found.entailment.source is EntailmentSource.JUDGE
    assert found.opinions == {PAIR: Abstained(why=Why.TOO_LONG)}


async def test_a_judge_that_fails_is_on_the_record_and_the_next_one_is_asked() -> None:
    found = await ask({JUDGE: AS_GIVEN, "answer_judge:k": AS_GIVEN}, [Says(None), replace(YES, id="k")])
    assert [row.member for row in found.judges] == [JUDGE, "answer_judge:k"]
    assert found.entailment is not None
    assert found.entailment.p == pytest.approx(0.8)


async def test_where_nobody_has_an_opinion_there_is_no_e() -> None:
    assert (await ask({JUDGE: AS_GIVEN}, [Says(Abstained(why=Why.NO_LABELS))])).entailment is None
