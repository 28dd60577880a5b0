"""Checkers come first, failures are left out with their reason, and log-odds are pooled."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.calibration import AT_CHANCE, Calibration, CheckerRates, Scale, combine, logit
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
    scales={"judge:qwen": Scale(intercept=0.2, slope=0.5), "judge:llama": AT_CHANCE},
)
TRACE = read_text("One and two?", ["1 + 2 = 3, say.", "So it is three."], None).blind()
QWEN = ModelIdentity(id="qwen", family="qwen", revision="1")
LLAMA = ModelIdentity(id="llama", family="llama", revision="1")
GEMMA = ModelIdentity(id="gemma", family="gemma", revision="1")
ASKED = ["judge:qwen"]


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
    verdicts = await VerifierEnsemble([checker(FALSE, SILENT)], [model], CALIBRATION, 0.02).verify(
        TRACE, ASKED, [], Meter()
    )
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
    for verdict in (await sure.verify(TRACE, ASKED, [], Meter())).combined:
        assert isinstance(verdict, Judged)
        assert verdict.p_correct <= 0.02


async def test_no_second_checker_can_talk_a_refuted_step_up() -> None:
    sure = [Says(f"checker-{n}", None, [Judged(p_correct=1.0)] * 2) for n in range(2)]
    verdicts = await VerifierEnsemble([checker(FALSE, FALSE), *sure], [], CALIBRATION, 0.02).verify(
        TRACE, [], [], Meter()
    )
    assert [v.p_correct for v in verdicts.combined if isinstance(v, Judged)] == [0.02, 0.02]


async def test_a_member_that_is_down_is_left_out_with_its_reason() -> None:
    down = Says("judge:qwen", QWEN, BackendError("the server is gone"))
    proven = Judged(p_correct=0.9)
    verdicts = await VerifierEnsemble([checker(proven, SILENT)], [down], CALIBRATION, 0.02).verify(
        TRACE, ASKED, [], Meter()
    )
    alone, nobody = verdicts.combined
    assert isinstance(alone, Judged)
    assert alone.p_correct == pytest.approx(0.9)
    assert isinstance(nobody, Abstained)
    assert nobody.why is Why.BACKEND_DOWN


async def test_every_model_has_a_row_and_only_the_asked_ones_are_asked() -> None:
    first, second = judge(SILENT, SILENT), judge(SILENT, SILENT, identity=GEMMA)
    third = judge(SILENT, SILENT, identity=LLAMA)
    ensemble = VerifierEnsemble([], [first, second, third], CALIBRATION, 0.02)
    verdicts = await ensemble.verify(TRACE, ["judge:gemma"], ["judge:qwen"], Meter())
    assert (first.asked, second.asked, third.asked) == ([], [0, 1], [])
    reasons = {row.member: row.verdicts[0].why for row in verdicts.members if isinstance(row.verdicts[0], Abstained)}
    assert reasons == {
        "judge:gemma": Why.NOT_APPLICABLE,
        "judge:qwen": Why.SAME_FAMILY,
        "judge:llama": Why.NOT_NEEDED,
    }


async def test_what_only_a_verifier_at_chance_judged_is_not_measured() -> None:
    deaf = judge(Judged(p_correct=0.99), Judged(p_correct=0.01), identity=LLAMA)
    ensemble = VerifierEnsemble([checker(Judged(p_correct=0.9), SILENT)], [deaf], CALIBRATION, 0.02)
    verdicts = await ensemble.verify(TRACE, ["judge:llama"], [], Meter())
    heard, unheard = verdicts.combined
    assert isinstance(heard, Judged)
    assert heard.p_correct == pytest.approx(0.9)
    assert isinstance(unheard, Abstained)
    assert unheard.why is Why.AT_CHANCE
    assert verdicts.members[1].verdicts[1] == Judged(p_correct=0.01)


async def test_what_a_server_said_stays_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    down = Says("judge:qwen", QWEN, BackendError("http://10.0.0.1 refused key abc"))
    verdicts = await VerifierEnsemble([], [down], CALIBRATION, 0.02).verify(TRACE, ASKED, [], Meter())
    assert "10.0.0.1" not in repr(verdicts)
    assert "10.0.0.1" in caplog.text


def test_pooling_by_hand() -> None:
    base = logit(0.8)
    expected = base + (logit(0.9) - base) + (0.2 + 0.5 * logit(0.3) - base)
    assert logit(combine([("symbolic", 0.9), ("judge:qwen", 0.3)], CALIBRATION)) == pytest.approx(expected)


def test_a_single_unscaled_member_is_taken_at_its_word() -> None:
    assert combine([("symbolic", 0.37)], CALIBRATION) == pytest.approx(0.37)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_surer_member_never_lowers_the_pool(p: float, other: float) -> None:
    low, high = sorted((p, other))
    assert combine([("judge:qwen", low)], CALIBRATION) <= combine([("judge:qwen", high)], CALIBRATION)
