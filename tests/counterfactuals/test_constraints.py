"""An edit that changes more than one conclusion, contradicts its step or gives the answer away is discarded."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfactuals.constraints import Broken, broken_constraint
from counterfactuals.edits import draw_edits
from counterfactuals.prefixes import edited_prefix, first_mentions
from rafs.interventions import Edit, EditFamily
from rafs.reading import read_text
from rafs.types import Answer, Reading

PROBLEM = "A hall has 18 rows of 24 chairs. 32 chairs are broken, and half of the others are taken. How many are taken?"
STEPS = (
    "The hall has 18 * 24 = 432 chairs.",
    "Without the broken ones it has 432 - 32 = 400 chairs, so 400 can be used.",
    "Half of them are taken, so 400 / 2 = 200 are taken.",
    "The answer is 200.",
)
LAST = 2


def reading(*steps: str) -> Reading:
    return read_text(PROBLEM, steps or STEPS, None)


def made(text: str, *, step: int = 0, new: int = 433, predicted: int = 250, old: int = 432) -> Edit:
    return Edit(
        step=step,
        claim=step,
        family=EditFamily.VALUE,
        text=text,
        old=Fraction(old),
        new=Fraction(new),
        predicted=Fraction(predicted),
    )


def broken(edit: Edit, read: Reading, target: int | None = LAST, *, is_read: bool = False) -> Broken | None:
    return broken_constraint(edit, read, target, first_mentions(read.trace) if is_read else None)


@given(st.integers(0, 2), st.integers(0, 2**40))
def test_drawn_edits_are_valid(claim: int, seed: int) -> None:
    read = reading()
    edits = draw_edits(read.graph, claim, LAST, STEPS[claim], seed)
    assert {broken(edit, read) for edit in edits} == {None}


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        pytest.param(made("The hall has 18 * 24 = 432 chairs.", new=432), Broken.VACUOUS, id="nothing changed"),
        pytest.param(
            made("In the hall there are, as one can easily work out, 18 * 24 = 433 chairs."),
            Broken.NOT_BOUNDED,
            id="rewritten",
        ),
        pytest.param(made("The hall has many chairs."), Broken.NOT_ISOLATED, id="the claim is gone"),
        pytest.param(
            made("The hall has 18 * 24 = 433, 1 + 1 = 2 chairs."), Broken.NOT_ISOLATED, id="a claim was added"
        ),
        pytest.param(made("The hall has 18 * 24 = 434 chairs."), Broken.NOT_ISOLATED, id="another number than it says"),
        pytest.param(made("The 432 has 18 * 24 = 433 chairs."), Broken.NOT_ISOLATED, id="the old conclusion stays"),
        pytest.param(
            replace(made("The hall has 18 * 24 = 433 chairs."), predicted=None),
            Broken.NOT_REPLAYABLE,
            id="nobody knows what follows",
        ),
    ],
)
def test_a_broken_constraint_is_named(edit: Edit, code: Broken) -> None:
    assert broken(edit, reading()) is code


def test_two_changed_claims_are_not_atomic() -> None:
    read = reading("18 * 24 = 432, and 432 - 32 = 400.", *STEPS[2:])
    assert broken(made("18 * 24 = 433, and 433 - 32 = 401."), read) is Broken.NOT_ATOMIC


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("It has 18 * 24 = <<18*24=432>>432 chairs.", id="calculation and annotation"),
        pytest.param("It has 456 - 24 = $<<456-24=432>>432.", id="currency"),
        pytest.param("It has 864 chairs / 2 = <<864/2=432.0>>432.0 chairs.", id="units"),
    ],
)
def test_an_annotated_calculation_is_edited_in_its_result_alone(step: str) -> None:
    read = reading(step, *STEPS[1:])
    codes = {edit.family: broken(edit, read) for edit in draw_edits(read.graph, 0, LAST, step, 3)}
    assert codes.pop(EditFamily.VALUE) is None
    assert set(codes.values()) == {Broken.NOT_ISOLATED}


def test_an_annotation_that_stands_alone_is_edited_in_every_family() -> None:
    step = "It has <<456-24=432>>432 chairs."
    read = reading(step, *STEPS[1:])
    codes = {edit.family: broken(edit, read) for edit in draw_edits(read.graph, 0, LAST, step, 3)}
    assert codes == dict.fromkeys([EditFamily.VALUE, EditFamily.OPERATOR])


def test_an_annotation_that_says_something_else_is_a_contradiction() -> None:
    step = "It has 18 * 24 = <<18*24=-432>>432 chairs."
    read = reading(step, *STEPS[1:])
    edit = made("It has 18 * 24 = <<18*24=-432>>433 chairs.")
    assert broken(edit, read) is Broken.NOT_ISOLATED


# What the problem gives, and what follows


def first_of(read: Reading, claim: int, family: EditFamily, target: int | None = None) -> Edit:
    text = read.trace.steps[read.graph.claims[claim].step].blind_text
    drawn = draw_edits(read.graph, claim, target, text, 3, read.trace.problem)
    return next(edit for edit in drawn if edit.family is family)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("It is 75 + 11 = 86. So $321_5 = 86_{10}$.", id="in another notation"),
        pytest.param("We divide 49 / 7 = 7, for 7 fits in 7 times.", id="an operand is the same number"),
    ],
)
def test_a_step_that_says_its_conclusion_in_another_way_is_not_isolated(step: str) -> None:
    read = reading(step, *STEPS[1:])
    assert broken(first_of(read, 0, EditFamily.VALUE), read, None) is Broken.NOT_ISOLATED


@pytest.mark.parametrize(
    ("step", "code"),
    [
        pytest.param("It has 432 / 24 = 18 rows.", Broken.CONTRADICTS_PROBLEM, id="the rows of the problem"),
        pytest.param("It has 432 / 24 = 18 lamps.", None, id="as many of something else"),
        pytest.param("In all, 1 * 24 = 24.", Broken.CONTRADICTS_PROBLEM, id="a given as it stands"),
    ],
)
def test_what_the_problem_gives_is_not_edited(step: str, code: Broken | None) -> None:
    read = reading(step, *STEPS[1:])
    assert broken(first_of(read, 0, EditFamily.VALUE), read, None) is code


def test_an_edit_that_leaves_the_answer_as_it_is_is_vacuous() -> None:
    read = reading(STEPS[0], "Then 432 - 432 = 0 are left.", "And 0 + 32 = 32.")
    assert broken(first_of(read, 0, EditFamily.VALUE, 2), read, 2) is Broken.VACUOUS


def test_an_edit_that_leads_to_the_stated_answer_is_vacuous_though_another_was_derived() -> None:
    read = reading(*STEPS[:2], "Half of them are taken, so 400 / 2 = 210 are taken.", "The answer is 200.")
    edit = made("Without the broken ones it has 432 - 32 = 380 chairs, so 380 can be used.", step=1, old=400, new=380)
    assert broken(replace(edit, predicted=Fraction(200)), read) is Broken.VACUOUS
    assert broken(replace(edit, predicted=Fraction(190)), read) is None


OPTIONS = f"{PROBLEM} Options: ['100', '200', '300']"


@pytest.mark.parametrize(("predicted", "code"), [(201, Broken.VACUOUS), (299, Broken.VACUOUS), (101, None)])
def test_an_edit_that_leads_to_the_stated_option_or_the_derived_one_is_vacuous(
    predicted: int, code: Broken | None
) -> None:
    read = read_text(OPTIONS, (*STEPS[:2], "So 600 / 2 = 300 are taken.", "The answer is B."), None)
    edit = made("The hall has 18 * 24 = 433 chairs.", predicted=predicted)
    assert broken(edit, read) is code


def test_a_step_that_goes_on_to_solve_the_edited_equation_is_not_isolated() -> None:
    read = reading("With x = 7 it is 3 * x = 21, so x = 7.", *STEPS[1:])
    claim = next(i for i, one in enumerate(read.graph.claims) if one.result == 21)
    assert broken(first_of(read, claim, EditFamily.VALUE), read, None) is Broken.NOT_ISOLATED


def test_a_given_may_be_left_out_though_that_takes_words_away() -> None:
    read = reading("So 18 chairs + 24 chairs + 32 chairs = 74 chairs, and 74 are red.", *STEPS[1:])
    assert broken(first_of(read, 0, EditFamily.DROPPED_GIVEN), read, None) is None


# What is said in words

SAID = "Every row is full. So the hall is larger."


def said(text: str, *, old: str = "larger", new: str = "smaller") -> Edit:
    return Edit(step=0, claim=None, family=EditFamily.NEGATION, text=text, old=old, new=new, predicted=None)


@pytest.mark.parametrize(
    ("step", "edit", "code"),
    [
        pytest.param(SAID, said("Every row is full. So the hall is smaller."), None, id="one word"),
        pytest.param(SAID, said("No row is full. So the hall is smaller."), Broken.NOT_ATOMIC, id="two places"),
        pytest.param(
            "A larger hall is here. So it is larger.",
            said("A larger hall is here. So it is smaller."),
            Broken.NOT_ISOLATED,
            id="the step says it again",
        ),
        pytest.param(
            "There 18 + 24 = 42 is larger.",
            said("There 18 + 25 = 42 is larger.", old="24", new="25"),
            Broken.NOT_ISOLATED,
            id="a calculation changes",
        ),
        pytest.param(
            "Half of the others are taken.",
            said("Half of the others are not taken.", old="are", new="are not"),
            Broken.CONTRADICTS_PROBLEM,
            id="the problem says it",
        ),
    ],
)
def test_words_keep_the_same_constraints(step: str, edit: Edit, code: Broken | None) -> None:
    assert broken(edit, reading(step, *STEPS), is_read=True) is code


def test_words_have_no_replay() -> None:
    edit = said("Every row is full. So the hall is smaller.")
    assert broken(edit, reading(SAID, *STEPS)) is Broken.NOT_REPLAYABLE


# What a generator is given


def test_the_prefix_is_blind_to_the_stated_answer() -> None:
    read = reading("I know the answer is 200 because halls are large.", *STEPS)
    prefix = edited_prefix(read.trace, made("Without the broken ones it has 432 - 32 = 390 chairs.", step=2))
    assert prefix.splitlines()[1:] == [STEPS[0], "Without the broken ones it has 432 - 32 = 390 chairs."]
    assert "200" not in prefix
    assert prefix.endswith("\n")


FIRST = "The hall has 18 * 24 = 433 chairs."
END = "Half of them are taken, so 400 / 2 = 210 are taken."


@pytest.mark.parametrize(
    ("edit", "steps"),
    [
        pytest.param(made(FIRST, predicted=24), STEPS, id="the new answer in the edited step"),
        pytest.param(
            made(END, step=2, old=200, new=210, predicted=18),
            STEPS,
            id="the new answer before the step that derives it",
        ),
        pytest.param(
            replace(made(END, step=3, old=200, new=210, predicted=210), claim=2),
            ("There are at least 200 chairs.", *STEPS),
            id="the stated answer before the step that derives it",
        ),
        pytest.param(
            replace(made(FIRST, step=1), claim=0),
            ("I know the answer is 200 because halls are large.", *STEPS),
            id="a place where the answer was stated",
        ),
    ],
)
def test_an_answer_in_the_prefix_leaks_only_where_it_is_read(edit: Edit, steps: tuple[str, ...]) -> None:
    assert broken(edit, reading(*steps), is_read=True) is Broken.LEAKS_ANSWER
    assert broken(edit, reading(*steps)) is None


def test_the_step_that_derives_the_answer_may_hold_it_though_other_claims_follow() -> None:
    read = reading(*STEPS[:3], "To check: 18 + 24 = 42.", STEPS[3])
    edit = made(END, step=2, old=200, new=210, predicted=210)
    assert broken(edit, read, is_read=True) is None
    assert broken(edit, read, 3, is_read=True) is Broken.LEAKS_ANSWER


@pytest.mark.parametrize(
    ("stated", "leaks"),
    [
        pytest.param("Rows", True, id="whole word, other case"),
        pytest.param("row", False, id="part of a word"),
        pytest.param("24 rows", True, id="several words"),
        pytest.param("4 rows", False, id="part of a number"),
    ],
)
def test_a_stated_answer_in_words_leaks_as_whole_words(stated: str, leaks: bool) -> None:
    read = reading("It has 24 rows.", *STEPS)
    read = replace(read, trace=replace(read.trace, answer=Answer(text=stated, source="field")))
    code = broken(replace(made(FIRST, step=1), claim=0), read, is_read=True)
    assert code is (Broken.LEAKS_ANSWER if leaks else None)


def test_the_edited_step_ends_before_it_states_the_answer() -> None:
    read = reading(*STEPS[:2], "Half of them are taken, so 400 / 2 = 200. The answer is 200.")
    edit = made("Half of them are taken, so 400 / 2 = 210. The answer is [answer].", step=2, old=200, new=210)
    assert edited_prefix(read.trace, edit).splitlines()[-1] == "Half of them are taken, so 400 / 2 = 210."
    assert broken(edit, read, is_read=True) is None


def test_an_answer_that_is_stated_before_the_edit_leaks() -> None:
    read = reading(*STEPS[:2], "The answer is 200. Half of them are taken, so 400 / 2 = 200.", "The answer is 200.")
    edit = first_of(read, 2, EditFamily.VALUE, 2)
    assert broken(edit, read, is_read=True) is Broken.LEAKS_ANSWER
