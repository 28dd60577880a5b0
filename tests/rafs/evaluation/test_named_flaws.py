"""What RAFS names as the flaw of a trace, and what the judge of equivalence is asked about it."""

from dataclasses import replace
from typing import Any

from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.named_flaws import Grading, critique, described_flaws, notes_of_others
from rafs.evaluation.records import submitted
from rafs.independence import Writer
from rafs.result import ScoreInput, ScoreResult
from rafs.types import Abstained, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter
from tests.rafs.evaluation.made import trace
from tests.test_evaluation_flow import WRONG, pipeline
from tests.test_flow import PROBLEM

NOTE = "4 * 15 is 60."


def flawed(id: str = "nuts", **changes: Any) -> LabelledTrace:
    made = trace(id, steps=WRONG, first_error=0, solution_correct=False, answer_correct=False)
    return replace(made, problem=PROBLEM, **{"error_note": NOTE, **changes})


async def scored(labelled: LabelledTrace) -> ScoreResult:
    job = ScoreInput(
        problem=labelled.problem,
        trace=submitted(labelled),
        stated=None,
        samples=(),
        writer=Writer(model="gpt-4o", families=frozenset({"gpt"})),
        seed=0,
        edit_seed=0,
    )
    return await pipeline().score(job, Meter())


class Remembers:
    """A grader that keeps what it is asked, and says that equal texts are the same error."""

    identity = ModelIdentity(id="g", family="f", revision="r")

    def __init__(self, said: Verdict | None = None) -> None:
        self.said = said
        self.asked: list[tuple[str, str]] = []

    async def same_error(self, problem: str, first: str, second: str, meter: Meter) -> Verdict:
        self.asked.append((first, second))
        return self.said or Judged(p_correct=1.0 if first == second else 0.2)


def grading(grader: Remembers, *, keep_texts: bool = True) -> Grading:
    return Grading(grader=grader, others={"nuts": "another"}, keep_texts=keep_texts)


async def test_the_suspect_step_with_the_reason_of_the_checker_is_what_was_named() -> None:
    labelled = flawed()
    flagged, text = critique(labelled, await scored(labelled), None)
    assert flagged is True
    assert text.startswith("Step 1 is wrong: She has 4 * 15 = 65 nuts.") and "60" in text.splitlines()[-1]


async def test_a_step_that_is_not_suspect_is_not_flagged() -> None:
    labelled = flawed()
    assert critique(labelled, await scored(labelled), 1) == (False, "")


async def test_a_step_that_nobody_judged_says_nothing() -> None:
    labelled = flawed()
    assert critique(labelled, await scored(labelled), 2) == (None, "")


async def test_the_grader_is_asked_for_the_named_flaw_and_for_two_controls() -> None:
    grader, labelled = Remembers(), flawed()
    (flaw,) = await grading(grader).grade(labelled, await scored(labelled))
    assert [second for first, second in grader.asked if first == NOTE][1:] == [NOTE, "another"]
    assert (flaw.flagged, flaw.p_same, flaw.p_itself, flaw.p_other) == (True, 0.2, 1.0, 0.2)
    assert flaw.text.startswith("Step 1 is wrong")


async def test_a_grade_that_the_judge_cannot_give_is_none() -> None:
    grader, labelled = Remembers(Abstained(why=Why.TOO_LONG)), flawed()
    (flaw,) = await grading(grader).grade(labelled, await scored(labelled))
    assert (flaw.p_same, flaw.p_itself, flaw.p_other) == (None, None, None)


async def test_texts_that_are_not_to_be_kept_are_not_in_the_record() -> None:
    labelled = flawed()
    (flaw,) = await grading(Remembers(), keep_texts=False).grade(labelled, await scored(labelled))
    assert flaw.text == ""


async def test_sentences_with_notes_are_graded_one_by_one_with_one_pair_of_controls() -> None:
    labelled = flawed(step_labels=(False, False, None), step_notes=("a", "b", "c"))
    grader = Remembers()
    first, second = await grading(grader).grade(labelled, await scored(labelled))
    assert (first.step, first.flagged, second.step, second.flagged) == (0, True, 1, False)
    assert len(grader.asked) == 3


def test_described_are_the_flaws_with_a_note() -> None:
    assert described_flaws(flawed()) == [(None, NOTE)]
    assert described_flaws(flawed(error_note=None)) == []
    assert described_flaws(replace(trace("right"), error_note="fine")) == []
    by_step = flawed(step_labels=(False, True, False), step_notes=("a", "b", None))
    assert described_flaws(by_step) == [(0, "a")]


def test_the_note_of_another_problem_is_never_one_on_the_same() -> None:
    traces = [
        flawed("a", group="p", error_note="one"),
        flawed("b", group="p", error_note="two"),
        flawed("c", group="q", error_note="three"),
    ]
    assert notes_of_others(traces) == {"a": "three", "b": "three", "c": notes_of_others(traces)["c"]}
    assert notes_of_others(traces)["c"] in {"one", "two"}
    assert notes_of_others(traces[:2]) == {}
