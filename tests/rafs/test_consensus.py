"""C follows its formula; who voted for what is kept."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.answers.equivalence import equivalent
from rafs.consensus import answer_consensus, consensus_value, group_answers
from rafs.outcomes import Measured, Unmeasured
from rafs.types import Truth


def same_number(a: str, b: str) -> Truth:
    if "?" in (a, b):
        return Truth.UNKNOWN
    return Truth.TRUE if float(a) == float(b) else Truth.FALSE


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        pytest.param([4], 1.0, id="all agree"),
        pytest.param([1, 1, 1], 0.0, id="all differ"),
        pytest.param([2, 2], 0.5, id="two halves of four: 1 - log 2 / log 4"),
        pytest.param([3, 1], 1 - (0.75 * math.log(4 / 3) + 0.25 * math.log(4)) / math.log(4), id="three to one"),
    ],
)
def test_consensus_is_one_minus_the_normalised_entropy(sizes: list[int], expected: float) -> None:
    assert consensus_value(sizes) == pytest.approx(expected)


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9))
def test_consensus_lies_between_0_and_1(sizes: list[int]) -> None:
    assert 0 <= consensus_value(sizes) <= 1


def test_equal_numbers_in_other_clothes_are_one_class() -> None:
    assert group_answers(["1.0", "2", "1", "2.0", "1"], same_number) == [[0, 2, 4], [1, 3]]


def same_with_units(a: str, b: str) -> Truth:
    (one, unit), (other, other_unit) = ([*text.split(), ""][:2] for text in (a, b))
    return Truth.TRUE if one == other and (unit == other_unit or "" in (unit, other_unit)) else Truth.FALSE


@pytest.mark.parametrize("order", list(permutations(["12", "12 cm", "12 usd", "13"])))
def test_grouping_does_not_depend_on_the_order_of_answers(order: tuple[str, ...]) -> None:
    groups = {frozenset(order[i] for i in members) for members in group_answers(order, same_with_units)}
    assert groups == {frozenset({"12"}), frozenset({"12 cm"}), frozenset({"12 usd"}), frozenset({"13"})}


def test_unknown_equivalence_never_merges() -> None:
    assert group_answers(["1", "?", "1.0"], same_number) == [[0, 2], [1]]


@given(st.lists(st.sampled_from(["1", "1.0", "2", None]), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(answers: list[str | None], random: object) -> None:
    shuffled = list(answers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (answer_consensus(order, "1", same_number) for order in (answers, shuffled))
    if isinstance(one.component, Measured):
        assert isinstance(other.component, Measured)
        assert one.component.value == pytest.approx(other.component.value)
    else:
        assert one.component == other.component
    assert (one.share_of_stated, one.answer_is_modal) == (other.share_of_stated, other.answer_is_modal)


def test_missing_answers_are_a_class_but_never_the_modal_one() -> None:
    vote = answer_consensus([None, None, "7"], "7", same_number)
    assert vote.component == Measured(value=consensus_value([1, 2]), coverage=1.0)
    assert vote.modal == (2,)
    assert vote.share_of_stated == pytest.approx(1 / 3)
    assert vote.answer_is_modal is True


def test_a_tie_has_no_modal_answer() -> None:
    vote = answer_consensus(["3", "3", "4", "4"], "3", same_number)
    assert (vote.modal, vote.answer_is_modal, vote.share_of_stated) == (None, None, 0.5)


def test_a_stated_answer_that_nobody_gave_is_not_modal() -> None:
    vote = answer_consensus(["3", "3", "4"], "5", same_number)
    assert (vote.answer_is_modal, vote.share_of_stated) == (False, 0.0)


def test_one_sample_is_no_vote_though_its_answer_is_the_only_one() -> None:
    vote = answer_consensus(["3"], "3", same_number)
    assert isinstance(vote.component, Unmeasured)
    assert (vote.modal, vote.share_of_stated, vote.answer_is_modal) == ((0,), None, None)


def test_a_blank_answer_is_a_missing_one() -> None:
    vote = answer_consensus(["", None, "5", " "], None, same_number)
    assert (vote.missing, vote.modal) == ((0, 1, 3), (2,))


@pytest.mark.parametrize("empty", ["$$", "\\boxed{}", "\\text{ }", "**", "N/A", "-"])
def test_an_answer_that_states_nothing_is_a_missing_one(empty: str) -> None:
    vote = answer_consensus([empty, empty, "8"], None, equivalent)
    assert (vote.missing, vote.modal) == ((0, 1), (2,))


@pytest.mark.parametrize(
    ("answers", "groups"),
    [
        pytest.param(["No", "no", "False", "false", "Yes"], [[0, 1, 2, 3], [4]], id="standing words"),
        pytest.param(["{4,9}", "{9,4}", "\\{4,9\\}"], [[0, 1, 2]], id="sets"),
        pytest.param(["0,625", "0.625", "625"], [[0, 1], [2]], id="decimal comma"),
        pytest.param(["κ", "\\kappa", "\\mu"], [[0, 1], [2]], id="Greek letters"),
        pytest.param(["6,11", "6, 11", "6.11"], [[0, 1], [2]], id="list or decimal"),
    ],
)
def test_answers_are_grouped_across_their_spellings(answers: list[str], groups: list[list[int]]) -> None:
    assert group_answers(answers, equivalent) == groups


def test_an_answer_that_agrees_with_two_different_ones_joins_neither() -> None:
    assert group_answers(["12 cm", "12", "12 usd", "12", "12 cm"], same_with_units) == [[0, 4], [1, 3], [2]]


def test_a_chain_of_agreement_is_one_class() -> None:
    near = lambda a, b: Truth.TRUE if abs(int(a) - int(b)) == 1 else Truth.UNKNOWN  # noqa: E731
    assert group_answers(["1", "3", "2", "7"], near) == [[0, 1, 2], [3]]


def test_a_stated_answer_that_cannot_be_compared_is_neither_modal_nor_not() -> None:
    vote = answer_consensus(["3", "3", "4"], "?", same_number)
    assert (vote.answer_is_modal, vote.share_of_stated) == (None, None)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        pytest.param([], "too_few_samples", id="none"),
        pytest.param(["1"], "too_few_samples", id="one"),
        pytest.param([None, None], "no_sample_has_an_answer", id="no answers"),
    ],
)
def test_too_little_to_vote_on_is_unmeasured(answers: list[str | None], reason: str) -> None:
    part = answer_consensus(answers, "1", same_number).component
    assert isinstance(part, Unmeasured)
    assert part.reason == reason


def test_answers_that_differ_are_in_one_class_by_no_way_round() -> None:
    """a = b = c = d, but a and d differ, and no single answer agrees with two that do."""
    known = {"ab": Truth.TRUE, "bc": Truth.TRUE, "cd": Truth.TRUE, "ad": Truth.FALSE}
    compare = lambda a, b: known.get("".join(sorted((a, b))), Truth.UNKNOWN)  # noqa: E731
    assert group_answers(["a", "b", "c", "d", "a"], compare) == [[0, 4], [1], [2], [3]]


@pytest.mark.parametrize(
    ("answers", "is_modal"),
    [
        pytest.param(["12", "12", "12 usd"], True, id="most spellings agree"),
        pytest.param(["12 usd", "12 usd", "12"], False, id="most spellings differ"),
        pytest.param(["12 usd", "12"], None, id="as many agree as differ"),
    ],
)
def test_the_stated_answer_belongs_to_a_class_as_most_of_its_samples_say(
    answers: list[str], is_modal: bool | None
) -> None:
    assert answer_consensus(answers, "12 cm", same_with_units).answer_is_modal is is_modal


def test_only_voters_vote_and_cut_samples_lower_the_coverage() -> None:
    vote = answer_consensus(["3", "9", "3", "4", None], "3", same_number, voters=[0, 2, 3], n_cut=1)
    assert vote.component == Measured(value=consensus_value([2, 1]), coverage=0.75)
    assert (vote.classes, vote.missing, vote.standing) == (((0, 2), (3,)), (), (Truth.TRUE, Truth.FALSE))


@given(st.lists(st.sampled_from(["1", "1.0", "2", "?1", "?2", None]), min_size=2, max_size=7))
def test_adding_an_unknown_never_merges(answers: list[str | None]) -> None:
    compare = lambda a, b: Truth.UNKNOWN if "?" in a + b else same_number(a, b)  # noqa: E731
    before, after = (answer_consensus(given, "1", compare).classes for given in (answers, [*answers, "?3"]))
    assert {*before, (len(answers),)} == set(after)


@pytest.mark.parametrize(
    ("answers", "mostly"),
    [
        pytest.param(["4", None, None], True, id="one answer, two without"),
        pytest.param(["4", "4", None, None], False, id="as many"),
        pytest.param(["4", "4", "5", "5", None], False, id="a tie is no silence"),
        pytest.param([None, None], True, id="none"),
        pytest.param([], False, id="no samples"),
    ],
)
def test_a_vote_knows_when_most_samples_said_nothing(answers: list[str | None], mostly: bool) -> None:
    assert answer_consensus(answers, "4", same_number).mostly_unanswered is mostly
