"""Every judge of whether an answer follows keeps the contract."""

import pytest

from rafs.contracts import AnswerJudge
from rafs.engines.scripted import SCRIPTED, Script, ScriptedProber, probe_key
from rafs.reading import read_text
from rafs.record import MemberTape, VerdictTape
from rafs.types import Abstained, Judged, LabelMass, Why
from rafs.usage import Meter
from verifiers.judge import JudgeVerifier
from verifiers.judge_prompt import render_answer_prompt
from verifiers.recorded import RecordedAnswerJudge

TRACE = read_text("What is 2 + 2?", "2 + 2 = 4.\nThe answer is 4.", None).blind()


def scripted(mass: LabelMass | Abstained) -> AnswerJudge:
    prompt = render_answer_prompt(TRACE, "4")
    script = Script(probes={probe_key(prompt.head, prompt.steps, prompt.tail, 0): mass})
    return JudgeVerifier(ScriptedProber(script))


def recorded(p_correct: float | None, why: Why | None) -> AnswerJudge:
    verdict = VerdictTape(p_correct=p_correct, refuted=False, why=why, reason="")
    return RecordedAnswerJudge(
        MemberTape(member="answer_judge:scripted", identity=SCRIPTED, verdicts=[verdict]), SCRIPTED
    )


@pytest.mark.parametrize(
    "judge", [scripted(LabelMass(yes=0.6, no=0.2)), recorded(0.75, None)], ids=["by a model", "by a record"]
)
async def test_an_opinion_is_a_probability_of_the_model_it_names(judge: AnswerJudge) -> None:
    said = await judge.follows(TRACE, "4", Meter())
    assert isinstance(said, Judged)
    assert judge.identity == SCRIPTED
    assert said.p_correct == pytest.approx(0.75)


@pytest.mark.parametrize(
    "judge",
    [scripted(Abstained(why=Why.TOO_LONG)), recorded(None, Why.TOO_LONG)],
    ids=["by a model", "by a record"],
)
async def test_without_an_opinion_it_says_why(judge: AnswerJudge) -> None:
    assert await judge.follows(TRACE, "4", Meter()) == Abstained(why=Why.TOO_LONG)
