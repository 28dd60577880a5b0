"""Steps that carry nothing do not count in P's mean, however many there are and wherever they stand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.bank.attacks import Twin, twins
from rafs.calibration import CheckerRates
from rafs.outcomes import Measured
from rafs.padding import carrying_steps
from rafs.reading import read_text
from rafs.types import Abstained, Judged, Verdict, Why
from rafs.validity import step_validity
from verifiers.symbolic import CheckerSays, check_step

PROBLEM = "A shop has 12 crates with 8 melons each and sells 30 melons. How many are left?"
SUM, REST = "It has 12 * 8 = 96 melons.", "Then 96 - 30 = 66 melons are left."

TRACES = {
    "chain": ([SUM, REST], [True, True]),
    "identity": ([SUM, "Indeed 7 = 7.", REST], [True, False, True]),
    "times_one": ([SUM, "1 * 96 = 96 melons.", REST], [True, False, True]),
    "plus_nothing": ([SUM, "And 96 + 0 = 96.", REST], [True, False, True]),
    "nothing_left": ([SUM, "Now 96 - 96 = 0.", REST], [True, False, True]),
    "unrelated_sum": (["2 + 2 = 4.", SUM, REST], [False, True, True]),
    "unrelated_sum_behind": ([SUM, REST, "2 + 2 = 4."], [True, True, False]),
    "unrelated_chain": ([SUM, REST, "2 + 2 = 4.", "4 + 4 = 8.", "8 + 8 = 16."], [True, True, False, False, False]),
    "a_sum_with_the_same_result": ([SUM, "95 + 1 = 96.", REST], [True, False, True]),
    "claim_again": ([SUM, "Again, 8 * 12 = 96.", REST], [True, False, True]),
    "sentence_again": ([SUM, REST, REST], [True, True, False]),
    "given_again": (["So a shop has 12 crates with 8 melons each.", SUM, REST], [False, True, True]),
    "unused_but_false": ([SUM, "2 + 2 = 5.", REST], [True, True, True]),
    "false_end": ([SUM, "Then 96 - 30 = 76 melons are left."], [True, True]),
    "inference_in_words": ([SUM, "Therefore every crate must be full.", REST], [True, True, True]),
    "announcement": (["Let's see how many there are.", SUM, REST], [False, True, True]),
}


@pytest.mark.parametrize(("steps", "carries"), TRACES.values(), ids=TRACES.keys())
def test_a_step_counts_where_the_derivation_rests_on_it(steps: list[str], carries: list[bool]) -> None:
    assert carrying_steps(read_text(PROBLEM, steps, None)) == carries


RATES = CheckerRates(proven=0.9, ungrounded=0.85, invented=0.4)
_Q = {
    CheckerSays.REFUTED: 0.02, CheckerSays.INVENTED: RATES.invented, CheckerSays.UNGROUNDED: RATES.ungrounded,
    CheckerSays.PROVEN: RATES.proven,
}  # fmt: skip
_NEW = st.integers(201, 899)
"""Numbers that no problem or trace here has, nor any sum or product of theirs."""


def validity(problem: str, steps: list[str]) -> float:
    reading = read_text(problem, steps, None)
    blind = reading.blind()
    said = [check_step(blind, t) for t in range(len(blind.steps))]
    verdicts: list[Verdict] = [
        Judged(p_correct=_Q[one]) if one in _Q else Abstained(why=Why.NOT_APPLICABLE) for one in said
    ]
    component = step_validity(verdicts, carrying_steps(reading), 0.5)
    assert isinstance(component, Measured)
    return component.value


@st.composite
def padded(draw: st.DrawFn, twin: Twin) -> list[str]:
    """Put true steps that carry nothing anywhere into a trace."""
    steps = list(twin.steps)
    for _ in range(draw(st.integers(1, 8))):
        at, a, b = draw(st.integers(0, len(steps))), draw(_NEW), draw(_NEW)
        sentences = [one.strip(" ?.") + "." for one in twin.problem.split(". ")]
        trivial = [
            *(f"{n} = {n}." for n in (a, 5, 8, 24)), f"1 * {a} = {a}.", f"{a} + 0 = {a}.", "Note 24 - 24 = 0.",
            *("2 + 2 = 4.", "Also 1 + 1 = 2.", f"{a} + {b} = {a + b}.", f"Indeed {a} * {b} = {a * b}."),
            *(sentences[0], f"So we know that {sentences[0]}"), *steps[:at],
        ]  # fmt: skip
        steps.insert(at, draw(st.sampled_from(trivial)))
    return steps


@pytest.mark.parametrize("twin", list(twins()), ids=lambda twin: twin.id)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_padding_with_trivially_true_steps_never_raises_it(twin: Twin, data: st.DataObject) -> None:
    assert validity(twin.problem, data.draw(padded(twin))) <= validity(twin.problem, list(twin.steps)) + 1e-9
