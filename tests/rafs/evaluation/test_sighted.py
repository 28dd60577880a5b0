from collections.abc import Sequence

from rafs.evaluation.sighted import add_sighted, sighted_trace
from rafs.reading import read_text
from rafs.result import Evidence, begin_evidence
from rafs.types import Abstained, BlindTrace, Judged, MemberVerdicts, ModelIdentity, StepVerdicts, Verdict, Why
from rafs.usage import Meter

PROBLEM = "Four crates hold six pears each. How many is that?"
READING = read_text(PROBLEM, ("4 * 6 = 24.", "Nothing is eaten.", "The answer is \\boxed{24}."), None)
MADE = ModelIdentity(id="made", family="smollm", revision="1")


class Noting:
    """A `Verifier` that keeps what it is shown."""

    name = "judge:made"
    identity: ModelIdentity | None = MADE

    def __init__(self) -> None:
        self.seen: list[tuple[BlindTrace, Sequence[int]]] = []

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.seen.append((trace, ask))
        return [Judged(p_correct=0.25) for _ in ask]


def evidence(*said: Verdict) -> Evidence:
    found = begin_evidence(READING, frozenset(), [(Noting.name, MADE)], None)
    row = MemberVerdicts(member=Noting.name, identity=MADE, verdicts=said)
    found.verdicts = StepVerdicts(
        combined=said,
        members=(row,),
        heard_models=(Noting.name,),
        decided_by=((),) * len(said),
        disagreement=(None,) * len(said),
    )
    return found


BY_CHECKER = Abstained(why=Why.DECIDED_BY_CHECKER)


def test_a_sighted_trace_shows_the_answer_where_a_blind_one_hides_it() -> None:
    sighted = sighted_trace(READING)
    assert sighted is not None
    assert sighted.problem.startswith(PROBLEM) and sighted.problem.endswith("24")
    assert READING.blind().problem == PROBLEM
    assert len(sighted.steps) == len(READING.blind().steps)


def test_a_trace_without_an_answer_has_no_sighted_form() -> None:
    assert sighted_trace(read_text(PROBLEM, ("Let us see.",), None)) is None


async def test_the_sighted_judge_is_asked_about_the_steps_that_the_blind_one_was_asked_about() -> None:
    found, judge = evidence(BY_CHECKER, Judged(p_correct=0.9)), Noting()
    await add_sighted(found, [judge])
    assert [list(ask) for _, ask in judge.seen] == [[1]]
    blind, sighted = found.verdicts.members
    assert sighted.member == "sighted judge:made"
    assert sighted.verdicts == (Abstained(why=Why.NOT_EVALUATED), Judged(p_correct=0.25))
    assert blind.verdicts == (BY_CHECKER, Judged(p_correct=0.9))


async def test_a_judge_that_was_not_heard_is_not_asked() -> None:
    found, judge = evidence(BY_CHECKER, BY_CHECKER), Noting()
    await add_sighted(found, [judge])
    assert judge.seen == [] and len(found.verdicts.members) == 1
