"""The writer is not asked for what cannot change the decision; what time ran out for is named and replays."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.agreement import no_agreement
from rafs.conclusion import conclude, is_settled
from rafs.consensus import Consensus
from rafs.independence import Writer
from rafs.interventions import Edit, EditFamily, Effect, EffectMethod, Interventions, Response
from rafs.outcomes import Measured, Unmeasured
from rafs.policy import Decision
from rafs.reading import read_text
from rafs.record import Record
from rafs.result import Evidence, ScoreInput, begin_evidence
from rafs.support import continuation_delta
from rafs.types import Judged, MemberVerdicts, ModelIdentity, Sampled
from rafs.usage import Meter, Stage
from rafs.wire import ScoreResponse
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import PROBLEM, REGISTRY, STEPS, content, request, scorer
from tests.test_generator_flow import Writer as Follower
from tests.test_generator_flow import component, score

READING = read_text(PROBLEM, STEPS + "The answer is 50.", None)
JUDGE = ModelIdentity(id="j", family="smollm", revision="1")
COMES = (Response.FOLLOWED, Response.MOVED, Response.STAYED, Response.RECOVERED, Response.UNPARSED)
KNOWN_WRITER = Writer(model="gpt-4o", families=frozenset({"gpt"}))


def observed(*responses: Sequence[Response]) -> Interventions:
    edit = Edit(
        step=0,
        claim=0,
        family=EditFamily.VALUE,
        text="",
        old=Fraction(60),
        new=Fraction(61),
        predicted=Fraction(51),
    )
    effects = [
        Effect(edit=edit, method=EffectMethod.CONTINUATION, responses=tuple(row), delta=continuation_delta(row))
        for row in responses
    ]
    return Interventions(effects=tuple(effects), discarded=(), method=EffectMethod.CONTINUATION)


def evidence(q: float, consensus: float | None, found: Interventions) -> Evidence:
    known = begin_evidence(READING, frozenset(), [], None)
    votes = Unmeasured(reason="none") if consensus is None else Measured(value=consensus, coverage=1.0)
    agreement = no_agreement(Unmeasured(reason="none"))
    consensus_of = Consensus(
        component=votes, classes=(), missing=(), modal=None, share_of_stated=None, answer_is_modal=consensus is not None
    )
    known.agreement = replace(agreement, consensus=consensus_of)
    opinions = (Judged(p_correct=q),) * 2
    row = MemberVerdicts(member="judge:j", identity=JUDGE, verdicts=opinions)
    known.verdicts = replace(known.verdicts, combined=opinions, members=(row,), heard_models=("judge:j",))
    known.interventions = found
    known.cut_off = set()
    return known


def job() -> ScoreInput:
    return ScoreInput(problem=PROBLEM, trace="", stated=None, samples=(), writer=KNOWN_WRITER, seed=0, edit_seed=0)


def decided(q: float, consensus: float | None, found: Interventions, preset: str) -> Decision:
    chosen = REGISTRY.presets.by_name()[preset].to_preset(preset)
    return conclude(job(), evidence(q, consensus, found), REGISTRY.policy.to_policy(), chosen, Meter()).decision


def settled(q: float, consensus: float | None, found: Interventions, preset: str) -> bool:
    chosen = REGISTRY.presets.by_name()[preset].to_preset(preset)
    known = evidence(q, consensus, observed())
    known.cut_off = {Stage.INTERVENE}
    return is_settled(job(), known, found, REGISTRY.policy.to_policy(), chosen)


@given(
    q=st.sampled_from([0.3, 0.7, 0.95]),
    consensus=st.sampled_from([None, 0.2, 1.0]),
    first=st.sampled_from(COMES),
    second=st.sampled_from(COMES),
    preset=st.sampled_from(["standard", "deep"]),
)
@settings(max_examples=25, deadline=None)
def test_where_it_is_settled_no_reply_changes_the_decision(
    q: float, consensus: float | None, first: Response, second: Response, preset: str
) -> None:
    so_far = observed((first, Response.NOT_RUN), (second, Response.NOT_RUN))
    if settled(q, consensus, so_far, preset):
        ends = [decided(q, consensus, observed((first, a), (second, b)), preset) for a, b in product(COMES, COMES)]
        assert len({(end.status, end.outcome) for end in ends}) == 1


@pytest.mark.parametrize(
    ("q", "consensus", "replies", "expected"),
    [
        pytest.param(0.95, 1.0, Response.FOLLOWED, True, id="accepted whatever comes"),
        pytest.param(0.95, 1.0, Response.STAYED, False, id="the rest may still carry it"),
        pytest.param(0.3, 1.0, Response.FOLLOWED, True, id="a suspect step is a review"),
        pytest.param(0.95, 0.05, Response.FOLLOWED, True, id="a low consensus is a review"),
    ],
)
def test_when_the_decision_is_settled(q: float, consensus: float, replies: Response, expected: bool) -> None:
    assert settled(q, consensus, observed(*[(replies, Response.NOT_RUN)] * 2), "standard") is expected


def test_a_required_support_that_nobody_could_read_is_not_settled() -> None:
    assert not settled(0.95, 1.0, observed(*[(Response.UNPARSED, Response.NOT_RUN)] * 2), "deep")


class Slow(Follower):
    """A writer that gets stuck in one round of continuations, or while it draws samples."""

    def __init__(self, *, hangs_in: int = 0, samples_hang: bool = False, says: str | None = None) -> None:
        super().__init__(sticks_to=says)
        self.hangs_in = hangs_in
        self.samples_hang = samples_hang
        self.rounds = 0

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        if self.samples_hang:
            await asyncio.Event().wait()
        return await super().sample(problem, n, seed, meter)

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        self.rounds += 1
        if self.rounds == self.hangs_in:
            await asyncio.Event().wait()
        return await super().continue_trace(problem, prefixes, n, seed, meter)


async def late(writer: Slow) -> ScoreResponse:
    body = request(include=["record", "interventions"], preset="deep")
    return await scorer(generators={"gpt-4o": writer}, deadline_s=1.5).score(body)


CUT = [
    pytest.param({"hangs_in": 2, "says": "The answer is 50."}, id="in the second round"),
    pytest.param({"hangs_in": 1}, id="in the first round"),
    pytest.param({"samples_hang": True, "says": "The answer is 50."}, id="while samples are drawn"),
]


@pytest.mark.parametrize("behaviour", CUT)
async def test_what_the_deadline_cut_off_replays_to_the_same_response(behaviour: dict[str, object]) -> None:
    response = await late(Slow(**behaviour))  # type: ignore[arg-type]
    assert (response.status, "deadline" in response.reasons) == ("Abstain", True)
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("status", "reasons", "components", "interventions", "support", "steps", "outcome"):
        assert content(again)[part] == content(response)[part]


async def test_a_slow_writer_leaves_the_effects_observed_by_then_with_their_coverage() -> None:
    response = await late(Slow(hangs_in=2, says="The answer is 50."))
    support = component(response, "S")
    assert (support.value, support.coverage, response.interventions.late) == (0.0, 0.5, True)
    assert response.interventions.not_run > 0


async def test_a_refuted_step_needs_no_second_round() -> None:
    writer = Follower()
    wrong = "She has 4 * 15 = 70 nuts.\nAfter eating 10 she has 70 - 10 = 60 nuts.\nThe answer is 60."
    response = await score(writer, request(wrong, preset="standard"))
    assert "refuted_step" in response.reasons
    assert response.interventions.not_needed > 0
