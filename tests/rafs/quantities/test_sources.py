"""Numbers that a derivation takes apart or announces are known; those that nothing brings in are not."""

import pytest

from rafs.quantities.graph import read_graph
from rafs.types import BlindStep, SourceKind, StepKind


def ungrounded(problem: str, *texts: str) -> set[str]:
    steps = [BlindStep(index=index, text=text, kind=StepKind.INFERENCE) for index, text in enumerate(texts)]
    operands = [operand for claim in read_graph(problem, steps).claims for operand in claim.operands]
    return {operand.text for operand in operands if operand.source is SourceKind.UNGROUNDED}


KNOWN = {
    "two_places": ("What is 13 times 37?", ["13 * 30 = 390 and 13 * 7 = 91."]),
    "three_places": ("What is 3 times 586?", ["3 * 500 = 1500, 3 * 80 = 240 and 3 * 6 = 18."]),
    "places_of_a_result": ("What is 9 * 5 + 3, times 19?", ["9 * 5 + 3 = 48", "19 * 40 = 760, 19 * 8 = 152"]),
    "common_denominator": ("Add 1/4 and 1/6.", ["The common denominator is 12.", "12 / 4 = 3, 12 / 6 = 2"]),
    "spelled_in_mathematics": ("Add \\(5\\).", ["There are seventeen.", "\\(17 + 5 = 22\\)"]),
    "part_of_a_fraction": ("Take 3/4 of it.", ["3/4 = 33/44", "33/44 * 2 = 66/44"]),
    "said_again": ("Half of 50 pens.", ["Half of 50 is 25, so 25.", "She has 25.", "25 * 2 = 50"]),
    "known_under_a_condition": ("13 toys at 15 dollars.", ["That is 195.", "If she gets 195, it is 195 - 13 = 182."]),
}


@pytest.mark.parametrize(("problem", "texts"), KNOWN.values(), ids=KNOWN.keys())
def test_a_number_that_was_taken_apart_or_announced_is_known(problem: str, texts: list[str]) -> None:
    assert ungrounded(problem, *texts) == set()


INVENTED = {
    "one_place_alone": ("What is 13 times 37?", ["13 * 30 = 390."], {"30"}),
    "another_number": ("What is 13 times 37?", ["13 * 30 = 390 and 13 * 7 = 91.", "91 + 80 = 171"], {"80"}),
    "announced_in_the_same_step": ("Halve 5.", ["With 77, 5 * 77 = 385."], {"77"}),
    "half_of_a_result_by_chance": (
        "Mira has $55. She buys a lamp for $32 and a book for $8.",
        ["32 + 8 = 40.", "55 - 40 = 10.", "She gets back a bank fee of $5, so she has 10 + 5 = 15."],
        {"5"},
    ),
    "by_an_identity": ("8 pens at 3 dollars.", ["77 = 77.", "77 - 8 = 69"], {"77"}),
    "times_one": ("8 pens at 3 dollars.", ["1 * 77 = 77.", "77 - 8 = 69"], {"77"}),
    "from_two_that_nothing_brings_in": ("8 pens at 3.", ["71 + 6 = 77.", "77 - 8 = 69"], {"71", "6", "77"}),
    "assumed": ("8 pens at 3 dollars.", ["Let the fee be 77.", "77 - 8 = 69"], {"77"}),
    "assumed_beside_amounts": ("Half of the 8 pens.", ["Suppose 60 more.", "60 - 8 = 52"], {"60"}),
    "given_a_name": ("8 pens at 3 dollars.", ["By the table, fee = 77.", "77 - 8 = 69"], {"77"}),
    "spelled": ("8 pens at 3 dollars.", ["There are seventeen of them.", "17 + 5 = 22"], {"17", "5"}),
    "in_an_equation_of_its_own": ("8 pens at 3.", ["x + 77 = 154, so x = 77.", "77 - 8 = 69"], {"77"}),
    "one_more_than_a_price": ("5 pens at 8 dollars.", ["60 - 9 = 51"], {"60", "9"}),
    "number_of_terms_taken_away": ("60 and 40.", ["60 - 40 - 3 = 17"], {"3"}),
    "place_of_a_number_elsewhere": ("35 pens.", ["5 of them.", "48 - 30 = 18"], {"48", "30"}),
    "part_of_an_equal_fraction": ("Take 3/4 of it.", ["3/4 = 33/44", "33 + 3 = 36"], {"33"}),
    "part_of_a_wrong_fraction": ("Take 3/4 of it.", ["3/4 = 33/45", "33 + 3 = 36"], {"33"}),
}


@pytest.mark.parametrize(("problem", "texts", "invented"), INVENTED.values(), ids=INVENTED.keys())
def test_a_number_that_nothing_brings_in_is_ungrounded(problem: str, texts: list[str], invented: set[str]) -> None:
    assert ungrounded(problem, *texts) == invented
