"""Checkers come first, failures are left out with their reason, and log-odds are pooled."""

import asyncio
import math
from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.calibration import AT_CHANCE, Calibration, CheckerRates, Scale, combine, spread
from rafs.errors import BackendError
from rafs.log_odds import logit
from rafs.reading import read_text
from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, StepVerdicts, Verdict, Why
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


async def ask(
    checkers: Sequence[Says], models: Sequence[Says] = (), refused: Collection[str] = (), n_judges: int = 1
) -> StepVerdicts:
    ensemble = VerifierEnsemble(checkers, models, CALIBRATION, 0.02, n_judges=n_judges)
    checked = await ensemble.check(TRACE, refused, Meter())
    deadline = asyncio.get_running_loop().time() + 60
    return await ensemble.verify(TRACE, checked, refused, deadline, Meter())


SILENT = Abstained(why=Why.NOT_APPLICABLE)
FALSE = Judged(p_correct=0.0, refuted=True, reason="1 + 2 is 3")


async def test_what_a_checker_refuted_is_not_sent_to_a_model() -> None:
    model = judge(Judged(p_correct=0.99), Judged(p_correct=0.9))
    verdicts = await ask([checker(FALSE, SILENT)], [model])
    assert model.asked == [1]
    refuted, other = verdicts.combined
    assert isinstance(refuted, Judged)
    assert (refuted.refuted, refuted.reason) == (True, "1 + 2 is 3")
    assert refuted.p_correct <= 0.02
    assert isinstance(other, Judged)
    assert verdicts.members[1].verdicts[0] == Abstained(why=Why.DECIDED_BY_CHECKER)


async def test_where_everything_is_refuted_no_model_is_asked() -> None:
    model = judge(Judged(p_correct=0.99), Judged(p_correct=0.9))
    verdicts = await ask([checker(FALSE, FALSE)], [model])
    assert model.asked == []
    assert verdicts.refutes


async def test_no_second_checker_can_talk_a_refuted_step_up() -> None:
    sure = [Says(f"checker-{n}", None, [Judged(p_correct=1.0)] * 2) for n in range(2)]
    verdicts = await ask([checker(FALSE, FALSE), *sure])
    assert [v.p_correct for v in verdicts.combined if isinstance(v, Judged)] == [0.02, 0.02]
    assert verdicts.decided_by == (("symbolic",), ("symbolic",))


async def test_a_member_that_is_down_is_left_out_with_its_reason() -> None:
    down = Says("judge:qwen", QWEN, BackendError("the server is gone"))
    proven = Judged(p_correct=0.9)
    verdicts = await ask([checker(proven, SILENT)], [down])
    alone, nobody = verdicts.combined
    assert isinstance(alone, Judged)
    assert alone.p_correct == pytest.approx(0.9)
    assert isinstance(nobody, Abstained)
    assert nobody.why is Why.BACKEND_DOWN
    assert verdicts.decided_by == (("symbolic",), ())


async def test_every_model_has_a_row_and_only_those_needed_are_asked() -> None:
    good = [Judged(p_correct=0.9)] * 2
    first, second, third = judge(*good), judge(*good, identity=GEMMA), judge(*good, identity=LLAMA)
    verdicts = await ask([], [first, second, third], refused=["judge:qwen"])
    assert (first.asked, second.asked, third.asked) == ([], [0, 1], [])
    reasons = {row.member: row.verdicts[0].why for row in verdicts.members if isinstance(row.verdicts[0], Abstained)}
    assert reasons == {"judge:qwen": Why.SAME_FAMILY, "judge:llama": Why.NOT_NEEDED}


async def test_before_models_are_asked_the_checkers_verdicts_stand_alone() -> None:
    models = [judge(SILENT, SILENT), judge(SILENT, SILENT, identity=GEMMA)]
    ensemble = VerifierEnsemble([checker(Judged(p_correct=0.9), SILENT)], models, CALIBRATION, 0.02)
    verdicts = await ensemble.check(TRACE, ["judge:qwen"], Meter())
    alone, nobody = verdicts.combined
    assert isinstance(alone, Judged)
    assert isinstance(nobody, Abstained)
    assert [model.asked for model in models] == [[], []]
    reasons = [row.verdicts[0].why for row in verdicts.members if isinstance(row.verdicts[0], Abstained)]
    assert reasons == [Why.SAME_FAMILY, Why.NOT_EVALUATED]


async def test_what_only_a_verifier_at_chance_judged_is_not_measured() -> None:
    deaf = judge(Judged(p_correct=0.99), Judged(p_correct=0.01), identity=LLAMA)
    verdicts = await ask([checker(Judged(p_correct=0.9), SILENT)], [deaf])
    heard, unheard = verdicts.combined
    assert isinstance(heard, Judged)
    assert heard.p_correct == pytest.approx(0.9)
    assert isinstance(unheard, Abstained)
    assert unheard.why is Why.AT_CHANCE
    assert verdicts.members[1].verdicts[1] == Judged(p_correct=0.01)
    assert verdicts.heard_models == ()


async def test_what_a_server_said_stays_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    down = Says("judge:qwen", QWEN, BackendError("http://10.0.0.1 refused key abc"))
    verdicts = await ask([], [down])
    assert "10.0.0.1" not in repr(verdicts)
    assert "10.0.0.1" in caplog.text


async def test_the_ledger_names_who_decided_and_how_far_the_judges_are_apart() -> None:
    proven, sure, unsure = Judged(p_correct=0.9), Judged(p_correct=0.9), Judged(p_correct=0.2)
    models = [judge(sure, sure, identity=GEMMA), judge(unsure, SILENT)]
    verdicts = await ask([checker(proven, SILENT)], models, n_judges=2)
    assert verdicts.decided_by == (("symbolic", "judge:gemma", "judge:qwen"), ("judge:gemma",))
    first, second = verdicts.disagreement
    assert first == pytest.approx(0.9 - 1 / (1 + math.exp(-(0.2 + 0.5 * logit(0.2)))))
    assert second is None


def test_pooling_by_hand() -> None:
    base = logit(0.8)
    expected = base + (logit(0.9) - base) + (0.2 + 0.5 * logit(0.3) - base)
    assert logit(combine([("symbolic", 0.9), ("judge:qwen", 0.3)], CALIBRATION)) == pytest.approx(expected)


def test_judges_of_one_panel_are_one_opinion_and_a_reward_model_is_another() -> None:
    base = logit(0.8)
    judges = ((0.2 + 0.5 * logit(0.3) - base) + (logit(0.6) - base)) / 2
    pooled = combine([("judge:qwen", 0.3), ("judge:gemma", 0.6), ("prm:gemma", 0.7)], CALIBRATION)
    assert logit(pooled) == pytest.approx(base + judges + (logit(0.7) - base))


def test_a_judge_that_says_the_same_again_makes_nobody_surer() -> None:
    alone = combine([("judge:gemma", 0.95)], CALIBRATION)
    assert combine([("judge:gemma", 0.95), ("judge:phi", 0.95)], CALIBRATION) == pytest.approx(alone)


@given(st.lists(st.floats(0, 1), max_size=4))
def test_disagreement_is_the_distance_of_the_furthest_apart(said: list[float]) -> None:
    found = spread([(f"judge:{n}", p) for n, p in enumerate(said)], CALIBRATION)
    if len(said) < 2:
        assert found is None
    else:
        assert found == pytest.approx(max(said) - min(said), abs=0.005)  # log-odds are read up to 6


def test_a_single_unscaled_member_is_taken_at_its_word() -> None:
    assert combine([("symbolic", 0.37)], CALIBRATION) == pytest.approx(0.37)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_surer_member_never_lowers_the_pool(p: float, other: float) -> None:
    low, high = sorted((p, other))
    assert combine([("judge:qwen", low)], CALIBRATION) <= combine([("judge:qwen", high)], CALIBRATION)
