"""Numbers written as English words."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.number_words import read_number_words

READ = {
    "unit": ("seven", "7", "seven"),
    "hyphen": ("sixty-three", "63", "sixty-three"),
    "space": ("Sixty Three books", "63", "Sixty Three"),
    "hundred_and": ("two hundred and six", "206", "two hundred and six"),
    "hundreds_listed": ("two hundred and three hundred", "200", "two hundred"),
    "article": ("a hundred and one", "101", "a hundred and one"),
    "thousand_and": ("four thousand and nine", "4009", "four thousand and nine"),
    "thousands_listed": ("four thousand and five thousand", "4000", "four thousand"),
    "hundreds_of_thousands": ("six hundred ten thousand", "610000", "six hundred ten thousand"),
    "all_magnitudes": ("two million three thousand four", "2003004", "two million three thousand four"),
    "fifteen_hundred": ("fifteen hundred", "1500", "fifteen hundred"),
    "year": ("nineteen ninety", "19", "nineteen"),
    "part": ("three quarters", "3/4", "three quarters"),
    "part_hyphen": ("five-eighths", "5/8", "five-eighths"),
    "hundredths": ("thirty hundredths", "3/10", "thirty hundredths"),
    "grader": ("one fourth grader", "1", "one"),
    "half": ("half of it", "1/2", "half"),
    "a_third_of": ("a third of it", "1/3", "a third"),
    "a_third_at_the_end": ("a third.", "1/3", "a third"),
    "half_a_dozen": ("half a dozen", "6", "half a dozen"),
    "half_a_million": ("half a million", "500000", "half a million"),
    "a_dozen": ("a dozen eggs", "12", "a dozen"),
    "dozens_stay_a_unit": ("two dozen", "2", "two"),
    "and_a_half": ("four and a half", "9/2", "four and a half"),
    "and_three_quarters": ("one and three quarters", "7/4", "one and three quarters"),
    "and_a_half_million": ("one and a half million", "1500000", "one and a half million"),
    "point": ("two point seven five", "11/4", "two point seven five"),
    "zero": ("zero", "0", "zero"),
}


@pytest.mark.parametrize(("text", "value", "words"), READ.values(), ids=READ.keys())
def test_the_longest_spelled_number_is_read(text: str, value: str, words: str) -> None:
    assert read_number_words(text, 0) == (Fraction(value), len(words))


@pytest.mark.parametrize("text", ["second", "third", "a third option", "a cat", "hundred", "anyone", "", "7"])
def test_other_words_are_no_numbers(text: str) -> None:
    assert read_number_words(text, 0) is None


def test_no_and_is_crossed_in_a_list() -> None:
    assert read_number_words("two and a half", 0, in_list=True) == (Fraction(2), 3)


UNITS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
UNITS += "seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def spelled(value: int) -> str:
    if value < 20:
        return UNITS[value - 1]
    if value < 100:
        return TENS[value // 10 - 2] + (f"-{UNITS[value % 10 - 1]}" if value % 10 else "")
    if value < 1000:
        return f"{UNITS[value // 100 - 1]} hundred" + (f" and {spelled(value % 100)}" if value % 100 else "")
    if value < 10**6:
        rest = value % 1000
        link = " and " if 0 < rest < 100 else " "
        return f"{spelled(value // 1000)} thousand" + (f"{link}{spelled(rest)}" if rest else "")
    return f"{spelled(value // 10**6)} million" + (f" {spelled(value % 10**6)}" if value % 10**6 else "")


@given(st.integers(1, 10**9 - 1), st.sampled_from([str, str.upper, str.capitalize]))
def test_every_number_is_read_back_from_its_words(value: int, written: type[str]) -> None:
    words = written(spelled(value))
    assert read_number_words(words, 0) == (Fraction(value), len(words))
