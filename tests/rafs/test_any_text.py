"""Any text is read in bounded time, without loss, the same each time, and without an error but `InputError`."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.rafs.any_text import PIECES, SENTENCES, check_answers, check_text

pieces = st.one_of(st.sampled_from(PIECES), st.sampled_from(SENTENCES), st.text(max_size=6))
mixtures = st.lists(pieces, max_size=40).map("".join)
spaced = st.lists(pieces, max_size=25).map(" ".join)
repeats = st.builds(lambda unit, n: "".join(unit) * n, st.lists(pieces, min_size=1, max_size=3), st.integers(2, 150))
nests = st.builds(lambda start, core, end, n: start * n + core + end * n, pieces, pieces, pieces, st.integers(1, 100))
texts = st.one_of(mixtures, spaced, repeats, nests, st.text(max_size=200))
problems = st.one_of(st.just("Ann has 12 pens and 3 boxes. How many are left?"), mixtures)
answers = st.one_of(st.lists(pieces, max_size=8).map("".join), repeats, nests, st.text(max_size=30))


@given(problems, texts)
@settings(max_examples=150)
@example("", "")
@example("", " \n")
@example("", r"So x = \sum_{")  # cut off
@example("Ann has 12 pens and 3 boxes.", "| a | b |\n|---|---|\n| 1 | 2 |\n" * 93 + "4d°2I" * 100)  # growing numbers
@example("Ann has 12 pens.", "She has 10^{400} pens, so 10^{400} + 5 = 1e400 + 5.\n\\(Half of 50% of 80 is 20.\n")
def test_any_text_is_read(problem: str, text: str) -> None:
    check_text(problem, text)


@pytest.mark.parametrize("number", ["9" * 330, "1e400", "10^{400}", "1/" + "9" * 330, "0." + "0" * 330 + "1"])
def test_number_beyond_any_float_is_read_and_compared(number: str) -> None:
    check_text(f"Ann has {number} pens and 3 boxes.", "She gives 7 of them away, which makes 3 * 7 = 21 left.")
    check_text("Ann has 3 pens.", f"She has {number} now and gets 5 more. The total is {number} + 5 = 8.")
    check_answers(number, rf"{number}\sqrt{{2}} + \sqrt{{3}}", f"How many of {number}?")


@given(answers, answers, problems)
@settings(max_examples=150)
@example("0", r"\sum_{", "")  # cut off
@example("m/s2" * 87, "m/s" * 80, "")  # every fraction may be read in two ways
def test_any_two_answers_are_compared(a: str, b: str, problem: str) -> None:
    check_answers(a, b, problem)


@pytest.mark.parametrize("unit", [*PIECES, *SENTENCES], ids=ascii)
def test_piece_repeated_to_a_long_step_is_read_in_time(unit: str) -> None:
    check_text(unit, (unit * 2_000)[:2_000])


@pytest.mark.parametrize("unit", [*PIECES, *SENTENCES], ids=ascii)
def test_piece_repeated_is_compared_with_itself_spaced_in_time(unit: str) -> None:
    check_answers((unit * 1_000)[:1_000], (f"{unit} " * 1_000)[:1_000], "")
