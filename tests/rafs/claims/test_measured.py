"""Units, ranges, ratios and percent signs behind a right number: they may undo an equation or save it."""

import pytest

from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth

R, W, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN

DIMENSIONS = {
    "length_and_time": ("7 meters = 7 seconds.", U),
    "speed_and_mass": ("60 miles / 5 hours = 12 kg", U),
    "a_length_for_an_area": ("9 cm × 4 cm = 36 cm", U),
    "a_length_for_a_volume": ("2 cm × 3 cm × 4 cm = 24 cm", U),
    "things_and_mass": ("6 bags * 3 kg = 18 seconds", U),
    "an_area": ("9 cm × 4 cm = 36 cm²", R),
    "speed_times_time": ("7 km/h * 3 h = 21 km", R),
    "speed_times_time_is_no_time": ("7 km/h * 3 h = 21 h", U),
    "things_of_things": ("6 bags * 3 pears = 18 pears", R),
    "a_rate": ("90 miles / 3 hours = 30 miles per hour", R),
    "a_price_without_per": ("7 pears * $3 = $21", R),
    "a_rate_without_per": ("90 miles / 3 hours = 30 miles", R),
    "a_factor_without_per": ("3 hours * 60 = 180 miles", R),
    "a_conversion_without_per": ("5 feet * 12 inches = 60 inches", R),
    "a_quotient_of_things": ("90 miles / 30 miles = 3 hours", R),
}
POWERS = {
    "superscript": ("12 in × 24 in = 2 ft².", R),
    "caret": ("12 in × 24 in = 2 ft^2", R),
    "cube": ("12 in × 12 in × 24 in = 2 ft³.", R),
    "wrong": ("12 in × 24 in = 9 ft².", W),
}
RATIOS = {
    "colon": ("1:4 = 20%:80%", U),
    "to": ("1:4 = 20% to 80%", U),
    "no_other_number": ("1:4 = 20%", W),
    "places": ("5 / 4 = 1.6 to 1 decimal place", W),
    "one_number": ("1:4 = 0.25", R),
}
RANGES = {
    "years": ("1991-1997 = 6 years.", U),
    "years_both_counted": ("1991–1997 = 7 years", U),
    "no_unit": ("13-19 = 6", U),
    "over_noon": ("She works 8-3 = 7 hours.", U),
    "backwards": ("19-13 = 5", W),
    "blanks": ("13 - 19 = 6", W),
}
PERCENT = {
    "a_decimal": ("0.07 = 0.07%.", U),
    "a_quotient": ("1/2 = 0.5%", U),
    "a_part": ("50% of 14 = 7%.", U),
    "a_part_as_a_number": ("15% of 60 = 9", R),
    "a_share": ("3/4 = 75%", R),
    "a_decimal_share": ("0.35 = 35%", R),
    "times_hundred": ("0.35 * 100 = 35%", R),
    "a_sum": ("20 + 15 = 35%", R),
    "added_to_a_number": ("40 + 25% = 40.25", U),
    "added_in_words": ("40 plus 25% is 40.25", U),
    "a_share_added": ("30% + (40% * 50%) = 30% + 20%", R),
    "added_to_one": ("80 * (1 + 25%) = 100", R),
    "added_to_one_wrong": ("80 * (1 + 25%) = 90", W),
    "taken_off_one_wrong": ("1 - 25% = 70%", W),
}
SUMS = {
    "a_counted_term": ("4 × 35 minutes + 2 hours = 260 minutes", R),
    "a_counted_term_wrong": ("4 × 35 minutes + 2 hours = 142 minutes", W),
    "every_term_counted": ("3 × $2 + 6 × 40¢ = $8.40", R),
    "every_term_counted_wrong": ("5 × 2 m + 3 × 40 cm = 130 m", W),
    "taken_off": ("2 kg − 3 × 250 g = 1250 g", R),
    "divided": ("3 m / 4 + 25 cm = 1 m", R),
    "a_factor_that_converts": ("3 hours * 60 + 15 minutes = 195 minutes", R),
    "areas": ("2 × 6 feet + 4 × 5 feet = 32 square feet", R),
    "two_currencies": ("$6 + €3 = $9", U),
    "mass_and_length": ("7 kg + 4 cm = 11", U),
    "taken_off_another": ("9 cm − 4 kg = 5 cm", U),
    "things": ("6 pears + 4 kiwis = 10 fruits", R),
}
KINDS = {
    "dimensions": DIMENSIONS,
    "powers": POWERS,
    "ratios": RATIOS,
    "ranges": RANGES,
    "percent": PERCENT,
    "sums": SUMS,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [pytest.param(*case, id=f"{kind}_{name}") for kind, cases in KINDS.items() for name, case in cases.items()],
)
def test_what_stands_behind_the_right_number_counts(text: str, expected: Truth) -> None:
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    assert [claim.truth for claim in claims] == [expected]
