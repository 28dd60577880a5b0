from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.errors import OverloadedError
from rafs.usage import Priority
from service.admission import FIRST_GUESS_S, MAX_RETRY_AFTER_S, Admission, Rate

GATE, SCORE, BATCH = Priority


def fill(admission: Admission, held: ExitStack, priority: Priority) -> int:
    """Enter until the next is refused; return how many are in."""
    n = 0
    while True:
        try:
            held.enter_context(admission.enter(priority))
        except OverloadedError:
            return n
        n += 1


@pytest.mark.parametrize(("priority", "n"), [(BATCH, 4), (SCORE, 8), (GATE, 10)])
def test_each_priority_has_its_share_of_the_places(priority: Priority, n: int) -> None:
    with ExitStack() as held:
        assert fill(Admission(8, 100), held, priority) == n


def test_batch_work_leaves_places_to_scores_and_scores_to_the_gate() -> None:
    admission = Admission(8, 100)
    with ExitStack() as held:
        assert [fill(admission, held, priority) for priority in (BATCH, SCORE, GATE)] == [4, 4, 2]


def test_places_are_free_again_also_after_a_failure() -> None:
    admission = Admission(1, 100)
    with pytest.raises(ZeroDivisionError), admission.enter(SCORE) as place, place.hold(10):
        raise ZeroDivisionError
    assert (admission.in_flight, admission.tokens) == (0, 0)


def test_more_tokens_than_there_is_room_for_are_refused() -> None:
    admission = Admission(8, 100)
    with admission.enter(SCORE) as one, admission.enter(SCORE) as two, one.hold(60):
        with (
            pytest.raises(OverloadedError, match="60 tokens wait to be read, 41 more"),
            two.hold(41),
        ):
            pass
        with two.hold(40):
            assert admission.tokens == 100


def test_a_full_room_is_refused_before_a_body_is_read() -> None:
    admission = Admission(8, 100)
    with (
        admission.enter(SCORE) as one,
        one.hold(100),
        pytest.raises(OverloadedError, match="100 tokens wait"),
        admission.enter(SCORE),
    ):
        pass


def test_the_gate_has_room_for_tokens_where_scores_have_none() -> None:
    admission = Admission(8, 100)
    with admission.enter(SCORE) as one, one.hold(100), admission.enter(GATE) as urgent, urgent.hold(20):
        assert admission.tokens == 120


def test_a_backlog_of_batch_work_refuses_nobody_more_urgent() -> None:
    admission = Admission(8, 100)
    with ExitStack() as held:
        for priority, tokens in ((BATCH, 1_000), (SCORE, 100), (GATE, 100)):
            held.enter_context(held.enter_context(admission.enter(priority)).hold(tokens))
        assert admission.tokens == 1_200


def test_a_request_larger_than_all_room_is_let_in_when_it_is_empty() -> None:
    admission = Admission(8, 100)
    with admission.enter(BATCH) as place, place.hold(1_000):
        assert admission.tokens == 1_000


def test_a_retry_is_worth_while_when_the_queue_is_worked_off() -> None:
    rate = Rate()
    rate.add(1_000, 10.0)
    assert rate.seconds_for(500) == pytest.approx(5.0)


def test_before_anything_was_measured_a_second_is_guessed() -> None:
    assert Rate().seconds_for(10_000) == FIRST_GUESS_S


@given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 1e4)), max_size=20), st.integers(0, 10**9))
def test_a_client_is_never_sent_away_for_longer_than_the_bound(work: list[tuple[int, float]], tokens: int) -> None:
    rate = Rate()
    for done, seconds in work:
        rate.add(done, seconds)
    assert FIRST_GUESS_S <= rate.seconds_for(tokens) <= MAX_RETRY_AFTER_S


def test_what_was_measured_minutes_ago_hardly_counts() -> None:
    rate = Rate()
    rate.add(1_000_000, 1.0)
    for _ in range(600):
        rate.add(10, 1.0)
    assert rate.seconds_for(100) == pytest.approx(10.0, rel=0.1)
