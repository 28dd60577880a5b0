"""The vote in the whole flow: honest K, copies, cut samples, rounds that end early, weights; all of it replays."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from rafs.consensus import consensus_value
from rafs.consensus_wire import ConsensusOut
from rafs.record import Record
from rafs.request import ScoreRequest
from rafs.rounds import StopRule
from rafs.types import Sampled
from rafs.usage import Meter
from rafs.wire import ScoreResponse
from service.scorer import Scorer, replay
from service.votes import describe_votes
from service.wiring import build_replay
from tests.test_flow import CALIBRATION, STEPS, content, nothing, request
from tests.test_generator_flow import REGISTRY, Writer, build, component

OTHER = "4 bags of 15 are 60, less 10 that is 50.\nThe answer is 50."
WRONG = "She has 4 + 15 = 19 nuts, less 10 that is 9.\nThe answer is 9."
REFUTED = "She has 4 * 15 = 61 nuts.\nAfter eating 10 she has 61 - 10 = 51 nuts.\nThe answer is 50."
K = 4


class Sampler(Writer):
    """Draws these texts, one after the other, and has no more."""

    def __init__(self, *texts: str, logprob: float | None = None) -> None:
        super().__init__()
        self.texts = [Sampled(text=text, truncated=False, logprob=logprob, n_tokens=10) for text in texts]
        self.rounds: list[int] = []

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        self.rounds.append(n)
        return self.texts[first : first + n]


async def score(writer: Writer, body: ScoreRequest, rule: StopRule = StopRule.NEVER) -> ScoreResponse:
    presets = REGISTRY.presets.model_copy(
        update={
            name: entry.model_copy(update={"stop_sampling": rule}) for name, entry in REGISTRY.presets.by_name().items()
        }
    )
    registry = REGISTRY.model_copy(update={"presets": presets})
    scorer = Scorer(
        registry=registry,
        build_pipeline=lambda name: build(writer, CALIBRATION, (), name, registry),
        is_ready=lambda entry: True,
        close=nothing,
        calibration=CALIBRATION,
        default_preset="standard",
        edit_secret="secret",
    )
    return await scorer.score(body)


async def votes_of(writer: Writer, body: ScoreRequest, rule: StopRule = StopRule.NEVER) -> ConsensusOut:
    response = await score(writer, body, rule)
    assert response.consensus is not None
    return response.consensus


async def test_one_right_sample_among_many_without_an_answer_supports_nothing() -> None:
    mute = [f"And so on, {word}." for word in "up down left right there".split()]
    response = await score(Writer(), request(samples=[OTHER, *mute]))
    assert response.answer.is_modal
    assert (response.status, "samples_without_answer" in response.reasons) == ("Review", True)
    assert (await score(Writer(), request(samples=[OTHER, OTHER, mute[0]]))).reasons == ["all_checks_passed"]


async def test_the_response_shows_who_voted_for_what() -> None:
    votes = await votes_of(Writer(), request(samples=[OTHER, WRONG, OTHER + " ", "And so on."]))
    assert [(group.answers, group.samples, group.size, group.share, group.holds_stated) for group in votes.classes] == [
        (["50"], [0, 2], 2, 0.5, True),
        (["9"], [1], 1, 0.25, False),
    ]
    assert (votes.k, votes.k_sent, votes.k_drawn, votes.missing, votes.stopped_because) == (4, 4, 0, [3], None)
    assert votes.value == pytest.approx(consensus_value([2, 1, 1]))


@pytest.mark.parametrize(
    ("samples", "k", "distinct", "copies"),
    [
        pytest.param([OTHER, WRONG], 2, 2, [], id="none"),
        pytest.param([STEPS + "The answer is 50.", OTHER, WRONG], 2, 2, [0], id="the scored trace"),
        pytest.param([STEPS + "The answer is 50."] * 4, 0, 0, [0, 1, 2, 3], id="nothing but the scored trace"),
        pytest.param([OTHER] * 4, 1, 1, [1, 2, 3], id="one text"),
        pytest.param(["50"] * 4, 4, 4, [], id="one bare answer"),
    ],
)
async def test_copies_have_no_vote(samples: list[str], k: int, distinct: int, copies: list[int]) -> None:
    response = await score(Writer(), request(STEPS + "The answer is 50.", samples=samples))
    votes = response.consensus
    assert votes is not None
    assert (votes.k, votes.k_sent, votes.k_distinct, votes.copies) == (k, len(samples), distinct, copies)
    assert (component(response, "C").unmeasured == "too_few_samples") is (k < 2)


@pytest.mark.parametrize("seed", range(4))
async def test_the_order_of_samples_does_not_matter(seed: int) -> None:
    others = [
        "15 * 4 = 60.\n#### 50",
        "60 - 10 = 50, since 4 * 15 = 60.\n#### 50",
        "15 + 15 = 30.\n2 * 30 = 60.\n#### 50",
    ]
    samples = [OTHER, WRONG, *others, "And so on.", "50", STEPS + "The answer is 50.", choice("So 50", "length")]
    shuffled = Random(seed).sample(samples, len(samples))
    one, other = [await score(Writer(), request(samples=order)) for order in (samples, shuffled)]
    for part in ("score", "interval", "status", "components"):
        assert content(one)[part] == content(other)[part]


async def test_samples_that_were_drawn_count_each() -> None:
    votes = await votes_of(Sampler(*[OTHER] * K), request())
    assert (votes.k, votes.k_drawn, votes.k_planned, votes.copies) == (K, K, K, [])


def choice(text: str, finish: str = "stop") -> dict[str, Any]:
    logprobs = {"content": [{"logprob": -0.1}, {"logprob": -0.2}]}
    return {"message": {"content": text}, "finish_reason": finish, "logprobs": logprobs}


async def test_a_cut_sample_never_votes_and_lowers_the_coverage() -> None:
    response = await score(Writer(), request(samples=[choice(OTHER), choice(WRONG), choice("So 50", "length")]))
    votes = response.consensus
    assert votes is not None
    assert (votes.k, votes.truncated, component(response, "C").coverage) == (2, [2], pytest.approx(2 / 3))
    assert response.truncated == ["samples.2: generation stopped at its limit"]


async def test_weights_stand_beside_the_vote_and_change_nothing() -> None:
    texts = [OTHER, WRONG, OTHER + " Done."]
    with_weights, without = [
        await score(Writer(), request(samples=samples)) for samples in (list(map(choice, texts)), texts)
    ]
    assert with_weights.consensus is not None and without.consensus is not None
    assert without.consensus.weighted.unmeasured == "no_logprobs"
    assert with_weights.consensus.weighted.by_sequence is not None
    assert with_weights.consensus.weighted.by_sequence.shares == pytest.approx([2 / 3, 1 / 3])
    assert with_weights.components == without.components


@pytest.mark.parametrize(
    ("texts", "body", "rule", "rounds", "because"),
    [
        pytest.param([OTHER] * K, {}, StopRule.NEVER, [4], "all_drawn", id="never"),
        pytest.param([OTHER] * K, {}, StopRule.VOTE, [3], "vote_settled", id="three of four agree"),
        pytest.param([OTHER, WRONG, OTHER, OTHER], {}, StopRule.VOTE, [3, 1], "all_drawn", id="two to one"),
        pytest.param([WRONG] * K, {}, StopRule.VOTE, [3], "vote_settled", id="outvoted"),
        pytest.param([OTHER] * K, {}, StopRule.DECISION, [4], "all_drawn", id="an accept is possible"),
        pytest.param([OTHER] * K, {"trace": REFUTED}, StopRule.DECISION, [3], "decision_settled", id="refuted"),
        pytest.param([OTHER] * K, {}, StopRule.LIKELY, [3], "vote_likely_settled", id="likely"),
        pytest.param([OTHER], {}, StopRule.NEVER, [4], "writer_has_no_more", id="greedy"),
    ],
)
async def test_drawing_stops_by_its_rule_and_says_so(
    texts: list[str], body: dict[str, Any], rule: StopRule, rounds: list[int], because: str
) -> None:
    writer = Sampler(*texts)
    votes = await votes_of(writer, request(**body), rule)
    assert (writer.rounds, votes.stopped_because) == (rounds, because)
    assert (votes.k_planned, votes.k_drawn) == (K, min(len(texts), sum(rounds)))


@pytest.mark.parametrize("last", [OTHER, WRONG, "So be it.", "The answer is 7."])
@pytest.mark.parametrize("first", [[OTHER] * 3, [WRONG] * 3, [OTHER, OTHER, WRONG]], ids=["for", "against", "split"])
async def test_what_was_left_out_would_not_have_changed_the_decision(first: list[str], last: str) -> None:
    early, all_of_them = [
        await score(Sampler(*first, last), request(REFUTED), rule) for rule in (StopRule.DECISION, StopRule.NEVER)
    ]
    assert (early.status, early.outcome, early.answer.is_modal) == (
        all_of_them.status,
        all_of_them.outcome,
        all_of_them.answer.is_modal,
    )
    assert early.consensus is not None and all_of_them.consensus is not None
    if early.consensus.bounds is not None and all_of_them.consensus.value is not None:
        low, high = early.consensus.bounds
        assert low <= all_of_them.consensus.value <= high


@pytest.mark.parametrize("rule", StopRule)
@pytest.mark.parametrize("texts", [[OTHER] * 4, [OTHER, WRONG] * 2, [OTHER]], ids=["agree", "split", "greedy"])
async def test_what_was_drawn_replays(texts: list[str], rule: StopRule) -> None:
    response = await score(Sampler(*texts, logprob=-12.5), request(REFUTED, include=["record"]), rule)
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "interval", "status", "consensus", "components", "answer"):
        assert content(again)[part] == content(response)[part]


async def test_samples_of_every_shape_replay() -> None:
    samples = [choice(OTHER), choice("So", "length"), {"role": "assistant", "content": WRONG}, OTHER + " Done."]
    response = await score(Writer(), request(samples=samples, include=["record"]))
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    assert (again.consensus, again.score) == (response.consensus, response.score)


async def test_the_report_says_how_many_voted_and_for_what() -> None:
    body = request(samples=[STEPS + "The answer is 50.", OTHER, WRONG, choice("So", "length")])
    counts, what_for = describe_votes(await score(Writer(), body))
    assert counts == "4 sent, 2 voted; 1 no more than copies; 1 cut"
    assert what_for.startswith("50 x 1, 9 x 1; entropy 0.69 nats, C ")
    early = await score(Sampler(*[OTHER] * K), request(), StopRule.VOTE)
    counts, what_for = describe_votes(early)
    assert counts == "3 of 4 drawn (vote settled), 3 voted"
    assert what_for.startswith("50 x 3; entropy 0.00 nats, C ")
    assert what_for.endswith(f", of all planned {consensus_value([3, 1]):.2f} to 1.00")
