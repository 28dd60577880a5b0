"""No text around a step makes a checker think better of the step, or of the trace."""

from functools import cache

import pytest

from benchmarks.bank.attacks import CLEAN, Attack, Twin, read_attacks, twins
from rafs.calibration import DEFAULT_CALIBRATION
from rafs.outcomes import Measured
from rafs.padding import carrying_steps
from rafs.reading import read_text
from rafs.types import Judged, Reading, Span, Verdict
from rafs.usage import Meter
from rafs.validity import step_validity
from verifiers.ensemble import VerifierEnsemble
from verifiers.symbolic import SymbolicVerifier

ATTACKS = read_attacks()
NOISE = 1e-9
Q_REFUTED = 0.02
LAMBDA = 0.5


@cache
def read(twin: Twin, attack: Attack) -> tuple[Reading, list[Span]]:
    text, spans = twin.attacked(attack.template)
    return read_text(twin.problem, text, None), spans


async def checked(reading: Reading) -> list[Verdict]:
    ensemble = VerifierEnsemble([SymbolicVerifier(DEFAULT_CALIBRATION.checker)], [], DEFAULT_CALIBRATION, Q_REFUTED)
    return list((await ensemble.check(reading.blind(), (), Meter())).combined)


def worst_at(reading: Reading, verdicts: list[Verdict], span: Span) -> Judged | None:
    """Return the worst verdict on the steps in which a part of the text stands."""
    inside = [
        verdict
        for step, verdict in zip(reading.trace.derivation(), verdicts, strict=True)
        if isinstance(verdict, Judged) and step.span.start < span.end and span.start < step.span.end
    ]
    return min(inside, key=lambda verdict: verdict.p_correct, default=None)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
async def test_no_attack_raises_the_verdict_on_a_step_or_hides_a_refuted_one(attack: Attack) -> None:
    raised = []
    for twin in twins():
        (clean, old_spans), (attacked, new_spans) = read(twin, CLEAN), read(twin, attack)
        before, after = await checked(clean), await checked(attacked)
        for old, new in zip(old_spans, new_spans, strict=True):
            was, now = worst_at(clean, before, old), worst_at(attacked, after, new)
            hidden = was is not None and was.refuted and not (now and now.refuted)
            if hidden or (was and now and now.p_correct > was.p_correct + NOISE):
                raised.append((twin.id, was, now))
    assert raised == []


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
async def test_no_attack_raises_the_validity_of_a_trace(attack: Attack) -> None:
    raised = []
    for twin in twins():
        was, now = [await validity(read(twin, each)[0]) for each in (CLEAN, attack)]
        if now > was + NOISE:
            raised.append((twin.id, was, now))
    assert raised == []


async def validity(reading: Reading) -> float:
    component = step_validity(await checked(reading), carrying_steps(reading), LAMBDA)
    assert isinstance(component, Measured)
    return component.value


def test_the_corpus_is_wide() -> None:
    assert len({attack.kind for attack in ATTACKS}) >= 25
    assert all(attack.template.count("{step}") == 1 for attack in ATTACKS)


@pytest.mark.parametrize("twin", list(twins()), ids=lambda twin: twin.id)
async def test_the_twins_differ_in_what_the_checker_says(twin: Twin) -> None:
    verdicts = await checked(read(twin, CLEAN)[0])
    doubted = any(isinstance(verdict, Judged) and verdict.p_correct < 0.6 for verdict in verdicts)
    assert doubted != twin.is_right
