"""An edit of what an earlier step says too is none that a writer has to follow."""

import pytest

from counterfactuals.constraints import Broken, broken_constraint
from counterfactuals.edits import draw_edits
from counterfactuals.prefixes import first_mentions
from rafs.interventions import EditFamily
from rafs.reading import read_text

PROBLEM = "A hall has 18 rows of 24 chairs. 32 chairs are broken, and half of the others are taken. How many are taken?"


def codes_of_edits(first: str, second: str, *, is_read: bool) -> set[Broken | None]:
    """Return what the edits of the second step's conclusion break."""
    read = read_text(PROBLEM, (first, second, "So 400 / 2 = 200 are taken.", "The answer is 200."), None)
    claim = next(i for i, one in enumerate(read.graph.claims) if one.step == 1)
    mentioned = first_mentions(read.trace) if is_read else None
    drawn = draw_edits(read.graph, claim, None, read.trace.steps[1].blind_text, 3, PROBLEM)
    return {broken_constraint(one, read, None, mentioned) for one in drawn if one.family is EditFamily.VALUE}


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        pytest.param("So 18 * 24 = 432.", "It has 18 * 24 = 432 chairs.", Broken.RESTATED, id="the same calculation"),
        pytest.param("24 times 18 is 432.", "It has 18 * 24 = 432 chairs.", Broken.RESTATED, id="the same in words"),
        pytest.param("I counted 432.", "It has 18 * 24 = 432 chairs.", Broken.RESTATED, id="the number alone"),
        pytest.param("Now 400 + 32 = 432.", "It has 18 * 24 = 432 chairs.", None, id="another calculation"),
        pytest.param("The hall is full.", "It has 18 * 24 = 432 chairs.", None, id="nothing of the kind"),
        pytest.param("Of 24 none is free.", "And 56 - 32 = 24 lamps are red.", None, id="a number of the problem"),
    ],
)
def test_what_an_earlier_step_concludes_is_restated_where_a_writer_reads_it(
    first: str, second: str, code: Broken | None
) -> None:
    assert codes_of_edits(first, second, is_read=True) == {code}
    assert codes_of_edits(first, second, is_read=False) == {None}
