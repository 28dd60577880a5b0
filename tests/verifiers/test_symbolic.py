"""The checker refutes what is false, doubts what comes from nowhere, and says nothing where it knows nothing."""

import pytest

from rafs.calibration import CheckerRates
from rafs.reading import read_text
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.usage import Meter
from verifiers.symbolic import SymbolicVerifier

RATES = CheckerRates(proven=0.9, ungrounded=0.8, invented=0.4)
PROBLEM = "A shop has 12 crates with 8 melons each and sells 30 melons. How many are left?"


async def judge(*steps: str) -> list[Verdict]:
    trace = read_text(PROBLEM, steps, None).blind()
    return list(await SymbolicVerifier(RATES).verify(trace, range(len(trace.steps)), Meter()))


async def test_a_false_claim_is_refuted_with_its_reason() -> None:
    (verdict,) = await judge("The shop has 12 * 8 = 90 melons.")
    assert isinstance(verdict, Judged)
    assert (verdict.p_correct, verdict.refuted) == (0.0, True)
    assert "96" in verdict.reason


@pytest.mark.parametrize("claim", ["12 * 8 = 90", "12 < 8 < 8", "96 / 12 \\neq 8", "12 * 8 \\geq 97", "30 ≈ 96"])
async def test_a_false_claim_at_the_very_end_is_checked_and_not_taken_for_a_statement(claim: str) -> None:
    (verdict,) = await judge(claim)
    assert isinstance(verdict, Judged)
    assert verdict.refuted


@pytest.mark.parametrize("claim", ["6 ÷ 3/4 = 8", "1/2 ÷ 1/4 = 2", "6 / 3/4 = 0.5"])
async def test_a_division_by_a_bare_fraction_is_left_open(claim: str) -> None:
    (verdict,) = await judge(f"It fills {claim} cups.")
    assert not (isinstance(verdict, Judged) and verdict.refuted)


async def test_proven_arithmetic_is_evidence_not_proof() -> None:
    (verdict,) = await judge("The shop has 12 * 8 = 96 melons.")
    assert isinstance(verdict, Judged)
    assert (verdict.p_correct, verdict.refuted) == (0.9, False)


async def test_an_invented_quantity_is_named() -> None:
    _, verdict = await judge("The shop has 12 * 8 = 96 melons.", "After a delivery it has 96 + 17 = 113 melons.")
    assert isinstance(verdict, Judged)
    assert (verdict.p_correct, verdict.refuted) == (0.4, False)
    assert "17" in verdict.reason


async def test_a_bare_number_without_a_source_is_a_smaller_doubt() -> None:
    _, verdict = await judge("The shop has 12 * 8 = 96 melons.", "We note that 96 + 17 = 113.")
    assert isinstance(verdict, Judged)
    assert (verdict.p_correct, verdict.refuted) == (0.8, False)
    assert "17" in verdict.reason


async def test_words_alone_are_not_its_business() -> None:
    (verdict,) = await judge("So the shop has plenty of melons.")
    assert isinstance(verdict, Abstained)
    assert verdict.why is Why.NOT_APPLICABLE


async def test_a_calculation_that_ends_in_the_set_apart_answer_asserts_nothing_false() -> None:
    _, verdict = await judge("The shop has 12 * 8 = 96 melons.", r"So 96 - 30 = \boxed{70} are left.")
    assert isinstance(verdict, Judged)
    assert not verdict.refuted


@pytest.mark.parametrize("position", [0, 1, 2])
async def test_a_later_step_changes_no_verdict(position: int) -> None:
    steps = ["It has 12 * 8 = 96 melons.", "It sells 30, so 96 - 30 = 66 are left.", "Half of 66 is 30."]
    assert (await judge(*steps))[: position + 1] == await judge(*steps[: position + 1])


async def test_units_that_do_not_match_are_doubted_and_named() -> None:
    problem = "A rope is 6 feet long and a ribbon 5 inches. How long are they together?"
    trace = read_text(problem, ["Together they are 6 + 5 = 11 feet."], None).blind()
    (verdict,) = await SymbolicVerifier(RATES).verify(trace, [0], Meter())
    assert isinstance(verdict, Judged)
    assert (verdict.p_correct, verdict.refuted) == (0.4, False)
    assert "feet and inches" in verdict.reason
