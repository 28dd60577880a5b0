"""What the flow finds out about a labelled trace is what its record keeps."""

from rafs.engines.scripted import ScriptedAlgebra
from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.evaluation.records import ItemRecord, read_record, record_result, submitted, write_record
from rafs.independence import Writer
from rafs.outcomes import ComponentName, Status
from rafs.pipeline import Pipeline
from rafs.result import ScoreInput
from rafs.usage import Meter
from service.wiring import assemble
from tests.test_flow import CALIBRATION, PROBLEM, REGISTRY, LengthJudge, WordNli
from verifiers.symbolic import SymbolicVerifier

WRONG = ("She has 4 * 15 = 65 nuts.", "After eating 10 she has 65 - 10 = 55 nuts.", "The answer is 55.")
CHECKER = "symbolic"


def pipeline() -> Pipeline:
    return assemble(
        REGISTRY.policy.to_policy(),
        REGISTRY.presets.by_name()["standard"].to_preset("standard"),
        CALIBRATION,
        algebra=ScriptedAlgebra({}),
        checkers=[SymbolicVerifier(CALIBRATION.checker)],
        models=[LengthJudge()],
        validators=[WordNli()],
        generators={},
    )


async def recorded(steps: tuple[str, ...]) -> ItemRecord:
    trace = LabelledTrace(
        id="nuts",
        source="made",
        problem=PROBLEM,
        steps=steps,
        first_error=0,
        step_labels=None,
        answer_correct=False,
        solution_correct=False,
        silent_failure=False,
        extraction_failure=False,
        natural=True,
        group="nuts",
        subset="nuts",
        label_level=LabelLevel.FIRST_ERROR,
    )
    job = ScoreInput(
        problem=PROBLEM,
        trace=submitted(trace),
        stated=None,
        samples=(),
        writer=Writer(model="gpt-4o", families=frozenset({"gpt"})),
        seed=0,
        edit_seed=0,
    )
    return record_result(trace, await pipeline().score(job, Meter()))


async def test_a_step_that_a_checker_refuted_is_the_suspect_of_its_record() -> None:
    record = await recorded(WRONG)
    assert record.suspect == 0
    refuted = record.members[CHECKER][0]
    assert refuted is not None and refuted < 0.5
    assert record.status is Status.REVIEW and "refuted_step" in record.reasons
    assert set(record.components) == set(ComponentName)


async def test_the_statement_of_the_answer_is_a_step_that_nobody_judges() -> None:
    record = await recorded(WRONG)
    assert len(record.q) == 3 and record.q[2] is None


async def test_of_a_text_that_is_not_cut_into_steps_the_worst_step_stands_for_all() -> None:
    record, cut = await recorded(("\n".join(WRONG),)), await recorded(WRONG)
    assert record.suspect == 0
    assert record.members[CHECKER] == (cut.members[CHECKER][0],)


async def test_the_record_of_a_result_survives_its_file() -> None:
    record = await recorded(WRONG)
    assert read_record(write_record(record)) == record
