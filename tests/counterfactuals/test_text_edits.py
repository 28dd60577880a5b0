"""One word of a conclusion becomes its opposite, and the sentence stays a sentence."""

import pytest

from counterfactuals.text_edits import draw_negations
from rafs.types import Span, Step, StepKind


def negated(text: str) -> set[str]:
    step = Step(index=0, span=Span(start=0, end=len(text)), text=text, blind_text=text, kind=StepKind.INFERENCE)
    return {edit.text for seed in range(5) for edit in draw_negations(step, seed)}


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        pytest.param("So Ann is the owner.", {"So Ann is not the owner."}, id="is"),
        pytest.param("So they are not divisible by 3.", {"So they are divisible by 3."}, id="not divisible"),
        pytest.param("Hence the sum is divisible by 9.", {"Hence the sum is not divisible by 9."}, id="divisible"),
        pytest.param("So Ann has more pens than Bob.", {"So Ann has fewer pens than Bob."}, id="more things"),
        pytest.param("So Ann has more than Bob.", {"So Ann has less than Bob."}, id="more"),
        pytest.param("So it holds less than the jug.", {"So it holds more than the jug."}, id="less"),
        pytest.param("Thus the slope increases.", {"Thus the slope decreases."}, id="increases"),
        pytest.param("Thus it has an odd number of legs.", {"Thus it has an even number of legs."}, id="odd"),
        pytest.param("It has an insufficient sum.", {"It has a sufficient sum."}, id="an becomes a"),
        pytest.param("It takes a rational value.", {"It takes an irrational value."}, id="a becomes an"),
        pytest.param("So she arrives before the train.", {"So she arrives after the train."}, id="before"),
        pytest.param("So all of the pens work.", {"So none of the pens work."}, id="all of"),
        pytest.param("So the lamp can hold it.", {"So the lamp cannot hold it."}, id="can"),
        pytest.param("Bob is older.", {"Bob is younger."}, id="older"),
        pytest.param(
            "Ann is older. So the lid is above the rim.", {"Ann is older. So the lid is below the rim."}, id="last"
        ),
    ],
)
def test_a_word_of_the_last_sentence_is_turned_round(text: str, edited: set[str]) -> None:
    assert negated(text) == edited


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Is Ann older than Bob?", id="a question"),
        pytest.param("Let us see whether Ann is older.", id="a plan"),
        pytest.param("If Ann is older, Bob waits.", id="a condition"),
        pytest.param("We need to find the larger one.", id="a task"),
        pytest.param("Bob waits because Ann is older.", id="a reason"),
        pytest.param("Since Ann is older, Bob waits.", id="a reason before"),
        pytest.param("So x is greater than y: $x > y$.", id="a formula says the same"),
        pytest.param("So we write $a \\text{ is older}$.", id="inside a formula"),
        pytest.param("Even so, Bob waits.", id="even means something else"),
        pytest.param("The prime factors are listed.", id="prime factors"),
        pytest.param("After that, Bob waits.", id="after that"),
        pytest.param("In all, Bob waits for all.", id="in all"),
        pytest.param("Bob waits.", id="no word that has an opposite"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_concludes_nothing_is_left_alone(text: str) -> None:
    assert negated(text) == set()


def test_the_words_of_a_conclusion_are_named() -> None:
    step = Step(index=4, span=Span(start=0, end=0), text="", blind_text="Bob is older.", kind=StepKind.INFERENCE)
    [edit] = draw_negations(step, 0)
    assert (edit.step, edit.claim, edit.old, edit.new, edit.predicted) == (4, None, "older", "younger", None)
