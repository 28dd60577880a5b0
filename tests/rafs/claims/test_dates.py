import pytest

from rafs.reading import read_text
from rafs.types import Truth


def truths(text: str) -> list[Truth]:
    return [claim.truth for claim in read_text("Which day is it?", [text], None).graph.claims]


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        pytest.param("02/29/2016 + 1 day = 03/01/2016", Truth.TRUE, id="leap day"),
        pytest.param("02/28/2015 + 1 day = 02/29/2015", Truth.UNKNOWN, id="no such day"),
        pytest.param("So the date is 8/13/1997 - 10 days = 8/3/1997.", Truth.TRUE, id="days taken off"),
        pytest.param("8/13/1997 - 10 days = 8/4/1997", Truth.FALSE, id="one day off"),
        pytest.param("01/25/2007 + 2 weeks = 02/08/2007", Truth.TRUE, id="weeks"),
        pytest.param("03/04/2020 + 1 day = 03/05/2020", Truth.UNKNOWN, id="month first holds, day first does not"),
        pytest.param("12/30/2020 - 12/25/2020 = 5 days", Truth.TRUE, id="days between"),
        pytest.param("12/30/2020 - 12/25/2020 = 6 days", Truth.FALSE, id="not the days between"),
    ],
)
def test_a_sum_of_a_date_and_days_is_checked_by_the_calendar(text: str, truth: Truth) -> None:
    assert truths(text) == [truth]


def test_a_date_that_nothing_is_done_with_asserts_nothing() -> None:
    assert truths("The form is due 10/12/2024.") == []


def test_quotients_that_look_like_a_date_still_divide() -> None:
    assert truths("120/12/5 = 2") == [Truth.TRUE]
