"""Checkers come first, failures are left out with their reason, and log-odds are pooled."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.calibration import AS_GIVEN, Calibration, CheckerRates, Scale, combine, logit
from rafs.errors import BackendError
from rafs.reading import read_text
from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, Verdict, Why
from rafs.usage import Meter
from verifiers.ensemble import VerifierEnsemble

CALIBRATION = Calibration(
    id="test",
    data="none",
    prior=0.8,
    checker=CheckerRates(proven=0.9, ungrounded=0.8, invented=0.4),
    scales={"symbolic": AS_GIVEN, "judge": Scale(intercept=0.2, slope=0.5)},
)
TRACE = read_text("One and two?", ["1 + 2 = 3, say.", "So it is three."], None).blind()
QWEN = ModelIdentity(id="qwen", family="qwen", revision="1")
LLAMA = ModelIdentity(id="llama", family="llama", revision="1")


class Says:
    """A verifier that gives the same verdicts whatever it is asked, and keeps what it was asked."""

    def __init__(self, name: str, identity: ModelIdentity | None, verdicts: Sequence[Verdict] | BackendError) -> None:
        self.name = name
        self.identity = identity
        self.verdicts = verdicts
        self.asked: list[int] = []

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        self.asked += ask
        if isinstance(self.verdicts, BackendError):
            raise self.verdicts
        return [self.verdicts[t] for t in ask]


def checker(*verdicts: Verdict) -> Says:
    return Says("symbolic", None, verdicts)


def judge(*verdicts: Verdict, identity: ModelIdentity = QWEN) -> Says:
    return Says(f"judge:{identity.id}", identity, verdicts)


SILENT = Abstained(why=Why.NOT_APPLICABLE)
FALSE = Judged(p_correct=0.0, refuted=True, reason="1 + 2 is 3")


async def test_what_a_checker_refuted_is_not_sent_to_a_model() -> None:
    model = judge(Judged(p_correct=0.99), Judged(p_correct=0.9))
    verdicts = await VerifierEnsemble([checker(FALSE, SILENT)], [model], CALIBRATION, 0.02).verify(TRACE, [], Meter())
    assert model.asked == [1]
    refuted, other = verdicts.combined
    assert isinstance(refuted, Judged)
    assert (refuted.refuted, refuted.reason) == (True, "1 + 2 is 3")
    assert refuted.p_correct <= 0.02
    assert isinstance(other, Judged)
    ledger = verdicts.members[1].verdicts[0]
    assert isinstance(ledger, Abstained)
    assert ledger.why is Why.DECIDED_BY_CHECKER


async def test_no_model_can_talk_a_refuted_step_up() -> None:
    sure = VerifierEnsemble(
        [checker(FALSE, FALSE)], [judge(Judged(p_correct=1.0), Judged(p_correct=1.0))], CALIBRATION, 0.02
    )
    for verdict in (await sure.verify(TRACE, [], Meter())).combined:
        assert isinstance(verdict, Judged)
        assert verdict.p_correct <= 0.02


async def test_a_member_that_is_down_is_left_out_with_its_reason() -> None:
    down = Says("judge:qwen", QWEN, BackendError("the server is gone"))
    proven = Judged(p_correct=0.9)
    verdicts = await VerifierEnsemble([checker(proven, SILENT)], [down], CALIBRATION, 0.02).verify(TRACE, [], Meter())
    alone, nobody = verdicts.combined
    assert isinstance(alone, Judged)
    assert alone.p_correct == pytest.approx(0.9)
    assert isinstance(nobody, Abstained)
    assert nobody.why is Why.BACKEND_DOWN


async def test_a_refused_model_is_not_asked_and_the_next_one_is() -> None:
    first, second = judge(SILENT, SILENT), judge(Judged(p_correct=0.7), Judged(p_correct=0.7), identity=LLAMA)
    verdicts = await VerifierEnsemble([], [first, second], CALIBRATION, 0.02).verify(TRACE, [QWEN], Meter())
    assert (first.asked, second.asked) == ([], [0, 1])
    assert [row.member for row in verdicts.members] == ["judge:llama", "judge:qwen"]
    assert all(isinstance(v, Abstained) and v.why is Why.SAME_FAMILY for v in verdicts.members[1].verdicts)


async def test_of_two_independent_judges_only_the_preferred_one_is_asked() -> None:
    first, second = judge(Judged(p_correct=0.7), SILENT), judge(SILENT, SILENT, identity=LLAMA)
    await VerifierEnsemble([], [first, second], CALIBRATION, 0.02).verify(TRACE, [], Meter())
    assert (first.asked, second.asked) == ([0, 1], [])


def test_pooling_by_hand() -> None:
    base = logit(0.8)
    expected = base + (logit(0.9) - base) + (0.2 + 0.5 * logit(0.3) - base)
    assert logit(combine([("symbolic", 0.9), ("judge", 0.3)], CALIBRATION)) == pytest.approx(expected)


def test_a_single_unscaled_member_is_taken_at_its_word() -> None:
    assert combine([("symbolic", 0.37)], CALIBRATION) == pytest.approx(0.37)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_surer_member_never_lowers_the_pool(p: float, other: float) -> None:
    low, high = sorted((p, other))
    assert combine([("judge", low)], CALIBRATION) <= combine([("judge", high)], CALIBRATION)
