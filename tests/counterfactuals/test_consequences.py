"""An edit of what follows from nothing, or that leads to the same option, is discarded."""

from fractions import Fraction

import pytest

from counterfactuals.constraints import Broken, broken_constraint
from counterfactuals.edits import draw_edits
from rafs.interventions import Edit, EditFamily
from rafs.reading import read_text


def test_what_a_unit_is_in_another_one_follows_from_nothing() -> None:
    read = read_text(
        "How many days are 8 weeks?", ["We know that 1 week = 7 days.", "8 * 7 = 56", "The answer is 56."], None
    )
    assert read.graph.claims[0].result == 7
    text = read.trace.steps[0].blind_text
    edit = next(one for one in draw_edits(read.graph, 0, None, text, 3) if one.family is EditFamily.VALUE)
    assert broken_constraint(edit, read, None, None) is Broken.CONTRADICTS_PROBLEM


@pytest.mark.parametrize(
    ("new", "code"),
    [
        pytest.param("39.1", Broken.VACUOUS, id="nearest to the same option"),
        pytest.param("21.2", None, id="nearest to another one"),
    ],
)
def test_a_number_that_leads_to_the_same_option_changes_no_answer(new: str, code: Broken | None) -> None:
    problem = "Which is nearest to 7.76 * 5.1? A. 40 B. 21 C. 5"
    read = read_text(problem, ["We get 7.76 * 5.1 = 39.576.", "The answer is A."], None)
    text, value = f"We get 7.76 * 5.1 = {new}.", Fraction(new)
    old = Fraction("39.576")
    edit = Edit(step=0, claim=0, family=EditFamily.VALUE, text=text, old=old, new=value, predicted=value)
    assert broken_constraint(edit, read, 0, None) is code
