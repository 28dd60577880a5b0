"""What units mean, and what converts into what."""

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.unit_words import SPELLINGS
from rafs.grammar.units import conversion, factors, family_of, is_known_unit, may_convert, read_unit


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        ("hours", "minutes", Fraction(60)),
        ("hr", "sec", Fraction(3600)),
        ("fortnights", "days", Fraction(14)),
        ("years", "months", Fraction(12)),
        ("decades", "years", Fraction(10)),
        ("km", "m", Fraction(1000)),
        ("inches", "cm", Fraction(254, 100)),
        ("miles", "feet", Fraction(5280)),
        ("acres", "square feet", Fraction(43560)),
        ("m^2", "cm²", Fraction(10_000)),
        ("square yards", "sq ft", Fraction(9)),
        ("liters", "cubic cm", Fraction(1000)),
        ("gallons", "cups", Fraction(16)),
        ("pounds", "ounces", Fraction(16)),
        ("tonnes", "kg", Fraction(1000)),
        ("km/h", "m/s", Fraction(5, 18)),
        ("mph", "miles per hour", Fraction(1)),
        ("miles an hour", "feet per second", Fraction(22, 15)),
        ("$ per hour", "cents per minute", Fraction(5, 3)),
        ("N", "kg·m/s^2", Fraction(1)),
        ("kWh", "J", Fraction(3_600_000)),
        ("\\frac{\\text{km}}{\\text{h}}", "m s^{-1}", Fraction(5, 18)),
        ("dollars", "cents", Fraction(100)),
        ("$", "¢", Fraction(100)),
        ("quarters", "nickels", Fraction(5)),
        ("pounds", "pence", Fraction(100)),
        ("dozen", "", Fraction(12)),
        ("dozen", "eggs", Fraction(12)),
        ("pairs", "shoes", Fraction(2)),
    ],
)
def test_a_conversion_is_exact_in_both_directions(one: str, other: str, factor: Fraction) -> None:
    assert conversion(one, other) == factor
    if not {"", "eggs", "shoes"} & {other}:
        assert conversion(other, one) == 1 / factor


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("months", "days", id="a month has no fixed days"),
        pytest.param("years", "weeks", id="nor a year weeks"),
        pytest.param("apples", "pears", id="nouns"),
        pytest.param("hours", "kg", id="other dimensions"),
        pytest.param("m", "m^2", id="other powers"),
        pytest.param("dollars", "euros", id="no rate is known"),
        pytest.param("°C", "°F", id="a temperature is no multiple"),
        pytest.param("gallons", "liters", id="two gallons"),
        pytest.param("tons", "pounds", id="three tons"),
        pytest.param("", "hours", id="nothing"),
    ],
)
def test_what_no_definition_fixes_is_not_converted(one: str, other: str) -> None:
    assert conversion(one, other) is None


def test_a_calendar_gives_bounds_and_no_factor() -> None:
    month, day, year, week = (read_unit(word) for word in ("months", "days", "years", "weeks"))
    assert month is not None and day is not None and year is not None and week is not None
    (in_days,) = factors(month, day)
    assert (in_days.low, in_days.high) == (Fraction(28), Fraction(31))
    (in_weeks,) = factors(year, week)
    assert in_weeks.low < 52 < in_weeks.high


def test_a_word_with_two_meanings_converts_in_the_one_that_fits() -> None:
    assert conversion("pounds", "kg") == Fraction(45359237, 100_000_000)
    assert conversion("£", "pounds") == 1
    assert conversion("pounds", "$") is None


@pytest.mark.parametrize(
    ("text", "nouns"),
    [
        ("red apples", {"red", "apple"}),
        ("kg of rice", {"rice"}),
        ("dollars in total", set()),
        ("boxes", {"box"}),
        ("years old", set()),
        ("apples per box", {"apple", "per", "box"}),
    ],
)
def test_nouns_are_labels(text: str, nouns: set[str]) -> None:
    unit = read_unit(text)
    assert unit is not None
    assert unit.nouns == nouns
    assert unit.is_measure == (text.split(maxsplit=1)[0] in ("kg", "dollars", "years"))


@pytest.mark.parametrize("text", ["", " ", "in total", "altogether", "123", "$$", "^2", "per"])
def test_no_words_are_no_measure(text: str) -> None:
    unit = read_unit(text)
    assert unit is None or text == "$$" or not unit.is_measure


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_read_and_conversions_are_inverse(one: str, other: str) -> None:
    read_unit(one)
    factor, back = conversion(one, other), conversion(other, one)
    assert factor is None or back is None or factor * back == 1


@given(st.sampled_from(sorted(SPELLINGS)), st.sampled_from(sorted(SPELLINGS)), st.sampled_from(sorted(SPELLINGS)))
def test_conversions_compose(one: str, two: str, three: str) -> None:
    first, second, both = conversion(one, two), conversion(two, three), conversion(one, three)
    if first is not None and second is not None and both is not None:
        assert first * second == both


@given(st.sampled_from(sorted(SPELLINGS)))
def test_every_spelling_is_a_measure_and_converts_into_itself(word: str) -> None:
    assert is_known_unit(word)
    unit = read_unit(word)
    assert unit is not None
    assert conversion(word, word) == (None if unit.scale else 1)


@pytest.mark.parametrize(
    ("unit", "ratio", "may"),
    [
        ("$", Fraction(100), True),
        ("$", Fraction(4), False),
        ("dollars", Fraction(4), True),
        ("hours", Fraction(1, 60), True),
        ("hours", Fraction(7), False),
        ("weeks", Fraction(52), True),
        ("apples", Fraction(60), False),
        ("hours", Fraction(1), False),
        ("", Fraction(12), False),
    ],
)
def test_an_unsaid_change_of_unit_is_one_within_its_family(unit: str, ratio: Fraction, may: bool) -> None:
    assert may_convert(unit, ratio) is may


def test_a_family_is_given_in_one_unit() -> None:
    family = family_of("minutes")
    assert family is not None
    assert family["hour"] / family["minute"] == 60
    assert family_of("apples") is None


def test_the_unit_library_is_loaded_only_when_two_units_differ() -> None:
    script = (
        "import sys; from rafs.grammar.units import read_unit, conversion\n"
        "read_unit('km/h'); conversion('dozen', ''); conversion('km', 'km'); assert 'pint' not in sys.modules\n"
        "assert conversion('km', 'm') == 1000 and 'pint' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0
