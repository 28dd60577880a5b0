"""Reading a trace: what tiles, what is set apart, and what a verifier may see."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.quantities.graph import read_graph
from rafs.steps import read_trace
from rafs.types import ANSWER_PLACEHOLDER, Reading, StepKind, Trace

TRACES = [
    pytest.param("Each pen costs 3.\nSo 4 pens cost 4 * 3 = 12.\n#### {}", id="hash"),
    pytest.param("4 * 3 = 12 and 12 + 5 = 17, so the total is 12 + 5 = \\boxed{{{}}}.", id="box in an equation"),
    pytest.param("We add: 4 + 3 = 7. The final answer is $\\boxed{{{}}}$.", id="box in a phrase"),
    pytest.param("We add: 4 + 3 = 7.\n\n**Answer:** {}", id="bold label"),
    pytest.param("The answer is {}. To see this, note that 4 + 3 = 7.", id="statement first"),
    pytest.param("Answer: {0}\nIndeed 4 + 3 = 7.\nThe answer is {0}.", id="statement twice"),
    pytest.param("He rides 4 + 3 = 7 km. Therefore, Ben rides a total of {} km.", id="conclusion"),
    pytest.param("He rides 4 + 3 = 7 km. Each lap is 2 km and the rest is {}", id="last number"),
    pytest.param("<think>4 + 3 = 7, or \\boxed{{9}}?</think>\n\nThe answer is **{}**.", id="reply after thinking"),
    pytest.param("Wir addieren: 4 + 3 = 7. Die Antwort lautet {}.", id="german"),
    pytest.param("Il y a 4 + 3 = 7 pommes. La réponse est {}.", id="french"),
    pytest.param("4 + 3 = 7。答案是{}。", id="chinese"),
]
numerals = st.one_of(
    st.integers(-10_000, 10_000).map(str),
    st.integers(1000, 9_999_999).map("{:,}".format),
    st.decimals(0, 1000, places=2).map(str),
    st.tuples(st.integers(1, 99), st.integers(1, 99)).map("{0[0]}/{0[1]}".format),
    st.integers(0, 100).map("{}%".format),
)


def seen(trace: Trace) -> list[tuple[str, StepKind]]:
    return [(step.blind_text, step.kind) for step in trace.steps]


@pytest.mark.parametrize("form", TRACES)
@given(one=numerals, other=numerals)
def test_another_stated_answer_changes_nothing_that_a_verifier_sees(form: str, one: str, other: str) -> None:
    assert seen(read_trace("p", form.format(one))) == seen(read_trace("p", form.format(other)))


@pytest.mark.parametrize("form", TRACES)
def test_the_stated_answer_is_read_and_hidden(form: str) -> None:
    trace = read_trace("p", form.format("861"))
    assert trace.answer is not None
    assert trace.answer.text == "861"
    assert "861" not in "".join(step.blind_text for step in trace.steps)


@given(one=numerals, other=numerals)
def test_another_answer_in_the_field_changes_nothing_but_the_answer(one: str, other: str) -> None:
    text = "4 + 3 = 7.\nThe answer is 7."
    first, second = read_trace("p", text, one), read_trace("p", text, other)
    assert first.steps == second.steps
    assert first.answer is not None
    assert (first.answer.text, first.answer.source) == (one, "field")


PIECES = [
    *(
        "So 3 * 4 = 12",
        ". ",
        "\n",
        "\r\n",
        "\n\n",
        "1. ",
        "- ",
        "e.g. ",
        "$x = 2.5. y$",
        "\\[ a = 1 \\]",
        "\\boxed{7}",
        "$",
    ),
    *(
        "<think>",
        "</think>",
        "#### 5",
        "| 1 | 2 |\n",
        "```\nx = 1.\n```",
        "Answer: ",
        "3.14",
        "。",
        "!",
        "\u2028",
        "  ",
        "{",
    ),
    *("The answer is ", "(see 2. It is)", "😀", "\x00", "\\begin{align}"),
]
pieces = st.sampled_from([*PIECES, ANSWER_PLACEHOLDER])


@given(st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=25).map("".join))
def test_steps_tile_any_text(text: str) -> None:
    steps = read_trace("p", text).steps
    if steps:
        assert "".join(step.text for step in steps) == text
        assert all(step.text == text[step.span.start : step.span.end] for step in steps)
        assert all(step.text.strip() for step in steps)
    assert [step.index for step in steps] == list(range(len(steps)))
    assert steps or not any(char.isalnum() for char in text.replace("think", ""))


@given(st.lists(st.one_of(pieces, st.text(max_size=8)), max_size=10))
def test_a_list_of_steps_is_kept_one_for_one(items: list[str]) -> None:
    trace = read_trace("p", items)
    if trace.steps:
        assert "".join(step.text for step in trace.steps) == trace.text
        assert [step.text for step in trace.steps[:-1]] == [item + "\n" for item in items[:-1]]
        assert trace.steps[-1].text == items[-1]
    else:
        assert not "".join(items).strip()


@pytest.mark.parametrize("text", ["", " \n\t \n", []], ids=["empty", "white space", "no items"])
def test_a_blank_text_has_no_steps_and_no_answer(text: str | list[str]) -> None:
    trace = read_trace("p", text)
    assert trace.steps == ()
    assert trace.answer is None


@pytest.mark.parametrize(
    ("text", "blind", "kind"),
    [
        ("The final answer is $\\boxed{42}$.", "The final answer is $[answer]$.", StepKind.ANSWER),
        ("So the total is 6*7 = \\boxed{42}.", "So the total is 6*7 = [answer].", StepKind.INFERENCE),
        ("The answer is 6*7 = 42.", "The answer is 6*7 = [answer].", StepKind.INFERENCE),
        ("#### 42", "#### [answer]", StepKind.ANSWER),
        ("So $\\boxed{6 * 7 = 42}$.", None, StepKind.INFERENCE),
        ("So $\\boxed{x = 42}$.", "So $[answer]$.", StepKind.ANSWER),
        ("Thus the value of $k$ is $\\boxed{42}$.", "Thus the value of $k$ is $[answer]$.", StepKind.ANSWER),
        ("Hence $x = \\boxed{42}$.", "Hence $x = [answer]$.", StepKind.ANSWER),
        (
            "Since all parts are alike, it is \\boxed{42}.",
            "Since all parts are alike, it is [answer].",
            StepKind.INFERENCE,
        ),
        ("First, we need to find the price of one pen.", None, StepKind.SETUP),
        ("How many are left?", None, StepKind.SETUP),
        ("Let $x$ be the number of pens.", None, StepKind.SETUP),
        ("So all of them are red.", None, StepKind.INFERENCE),
        ("Then 3 pens cost 3 * 2 = 6.", None, StepKind.INFERENCE),
        ("Ann has 8 pens.", None, StepKind.SETUP),
        ("Ann has 9 pens.", None, StepKind.INFERENCE),
    ],
)
def test_a_step_is_told_by_what_it_does(text: str, blind: str | None, kind: StepKind) -> None:
    step = read_trace("Ann has 8 pens.", [text, "The answer is 1."]).steps[0]
    assert (step.blind_text, step.kind) == (text if blind is None else blind, kind)


def test_a_conclusion_before_a_marker_stays_in_the_derivation() -> None:
    trace = read_trace("p", "2 * 4 = 8. Therefore, Ben rides 8 km.\n#### 8")
    assert [step.kind for step in trace.steps] == [StepKind.INFERENCE, StepKind.INFERENCE, StepKind.ANSWER]
    assert "8 km" in trace.steps[1].blind_text


def test_a_restatement_in_the_middle_stays() -> None:
    trace = read_trace("p", "So the sum is 8. It is even. The answer is 8.")
    assert trace.steps[0].blind_text == "So the sum is 8."


def test_a_trace_of_statements_alone_has_no_derivation() -> None:
    assert read_trace("p", "The answer is 5.\n#### 5").derivation() == ()


def test_statements_that_disagree_are_flagged_and_the_last_wins() -> None:
    trace = read_trace("p", "This gives \\boxed{14}. No, I forgot one: \\boxed{15}.")
    assert trace.answer is not None
    assert (trace.answer.text, trace.answer.ambiguous) == ("15", True)


def test_statements_that_agree_in_value_are_not_ambiguous() -> None:
    answer = read_trace("p", "Answer: $12.00\nThe answer is 12 dollars.").answer
    assert answer is not None
    assert not answer.ambiguous


def test_an_unclosed_thinking_block_has_no_answer() -> None:
    trace = read_trace("p", "<think>Let me try 9: \\boxed{9} and then")
    assert trace.answer is None
    assert ANSWER_PLACEHOLDER in trace.steps[-1].blind_text


@pytest.mark.parametrize(
    ("text", "blind"),
    [
        ("She has 4 * 15 = [answer] nuts.\n#### 60", ["She has 4 * 15 = (answer) nuts.", "#### [answer]"]),
        ("The answer is [answer].", ["The answer is [answer]."]),
        ("[answer]\nAnswer: 9", ["(answer)", "Answer: [answer]"]),
        ("So [answer\\boxed{3}] it is.", ["So [answer[answer]] it is."]),
        ("<think>4 + 5 = [answer]</think>Answer: 9", ["4 + 5 = (answer)", "Answer: [answer]"]),
    ],
    ids=["open claim", "stated", "before a statement", "around a statement", "thought"],
)
def test_a_placeholder_of_the_writers_own_is_not_taken_for_ours(text: str, blind: list[str]) -> None:
    trace = read_trace("p", text)
    assert [step.blind_text for step in trace.steps] == blind
    assert "".join(step.text for step in trace.steps) == text


@given(st.lists(st.sampled_from(["[answer]", "[", "[ans", "wer]", "]", "\n", " k = ", "so ", "<think>"]), max_size=12))
def test_no_step_of_a_text_without_a_statement_shows_the_placeholder(words: list[str]) -> None:
    trace = read_trace("p", "".join(words) + "\nand so on", stated="1")
    assert all(ANSWER_PLACEHOLDER not in step.blind_text for step in trace.steps)
    assert "".join(step.text for step in trace.steps) == trace.text


def test_a_placeholder_in_the_problem_is_not_shown_as_ours() -> None:
    reading = Reading(trace=read_trace("What is [answer] + 1?", "It is 3."), graph=read_graph("p", []))
    assert reading.blind().problem == "What is (answer) + 1?"
    assert reading.trace.problem == "What is [answer] + 1?"


def test_thinking_tags_are_in_no_blind_text() -> None:
    trace = read_trace("p", "<think>\n2 + 2 = 4\n</think>\nThe answer is 4.")
    assert [step.blind_text for step in trace.steps] == ["2 + 2 = 4", "The answer is [answer]."]
    assert "".join(step.text for step in trace.steps) == trace.text


HOSTILE = [
    *(
        "\\boxed{",
        "$",
        "$1 ",
        "(",
        "the answer is ",
        "Answer: ",
        "Answer:\n",
        "#### ",
        "1,111",
        "1.",
        "*",
        "`",
        "<think>",
    ),
    *(
        "[answer]",
        "\\[",
        "<<",
        "https://",
        "a.b.",
        "\\frac{1}",
        "{",
        "|\n",
        "= 1\n",
        "so 1. ",
        "。",
        "1 and ",
        "\\",
        "\\( ",
    ),
]


@pytest.mark.parametrize("piece", HOSTILE, ids=repr)
def test_fifty_thousand_hostile_characters_take_linear_time(piece: str) -> None:
    def seconds(length: int) -> float:
        started = time.process_time()
        read_trace("p", (piece * length)[:length] + "\nThe answer is 5.")
        return time.process_time() - started

    assert seconds(50_000) < 3.0, "measured below 1 s; quadratic time would take minutes"
