"""Which answer a response states."""

from fractions import Fraction

import pytest

from rafs.answers.extraction import answer_value, extract_answer

CHOICES = {"A": "5", "B": "6", "C": "7"}


@pytest.mark.parametrize(
    ("text", "answer", "source"),
    [
        pytest.param("3 + 4 = 7\n#### 7", "7", "hash", id="hash"),
        pytest.param("#### -3/4", "-3/4", "hash", id="signed fraction"),
        pytest.param("#### Step 2: Go\nSo it is 4.\n#### 4", "4", "hash", id="a heading is no answer"),
        pytest.param("So $\\boxed{\\frac{1}{2}}$.", "\\frac{1}{2}", "boxed", id="nested braces"),
        pytest.param("The roots are $\\boxed{2}$ and $\\boxed{3}$.", "2, 3", "boxed", id="neighbouring boxes"),
        pytest.param("So \\boxed{8}. Again:\n\\boxed{8}", "8", "boxed", id="repeated box"),
        pytest.param("I put it in \\boxed{}. The answer is 9.", "9", "phrase", id="empty box"),
        pytest.param("Thus \\boxed{17 and we are done", "17", "boxed", id="unclosed box"),
        pytest.param("The answer is x = 7.", "7", "phrase", id="equation"),
        pytest.param("The answer is 64, all told, which will do.", "64", "phrase", id="comma after it"),
        pytest.param("The final answer is: $(2, 3]$.", "(2, 3]", "phrase", id="interval"),
        pytest.param("The final answer is\n\\[ 12 \\]", "12", "phrase", id="display maths on the next line"),
        pytest.param("**Final Answer**\n\n42", "42", "label", id="heading label"),
        pytest.param("He walks 3 km.\nA: 3", "3", "label", id="short label"),
        pytest.param("Answer: \\$26 per week", "$26 per week", "label", id="price"),
        pytest.param("Answer: no solution", "no solution", "label", id="words"),
        pytest.param("Answer: (B)", "B", "label", id="letter"),
        pytest.param("So the answer is (B) 12 pens.", "B", "phrase", id="letter with its text"),
        pytest.param("So the correct choice is Choice D: an interval.", "D", "phrase", id="named choice"),
        pytest.param("Solution: Choice_C", "C", "label", id="solution label"),
        pytest.param("The answer is x equals 6.", "6", "phrase", id="spelled equation"),
        pytest.param("The answer is A + B.", "A + B", "phrase", id="letters in a formula"),
        pytest.param("Die Antwort ist 3,5.", "3.5", "phrase", id="decimal comma"),
        pytest.param("Add 1. Thus, she has 12 pens.", "12", "conclusion", id="conclusion"),
        pytest.param("So Ann needs 7 boxes for the 4 weeks.", "7", "last_number", id="first number of a conclusion"),
        pytest.param("After 3 days the count is 15", "15", "last_number", id="what a verb comes to"),
        pytest.param("So 2 of 3 make 2 * 3 = 6 in 9 days.", "6", "last_number", id="result of an equation"),
    ],
)
def test_the_answer_is_what_was_stated_last(text: str, answer: str, source: str) -> None:
    found = extract_answer(text)
    assert found is not None
    assert (found.text, found.source) == (answer, source)


@pytest.mark.parametrize(
    "text",
    ["", "No idea.", "<think>\\boxed{3}", "The answer is correct.", "The answer is not clear."],
)
def test_where_nothing_is_stated_there_is_no_answer(text: str) -> None:
    assert extract_answer(text) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is C because I checked each.", "C"),
        ("Answer: C rather than A", "C"),
        ("Answer: $B", "B"),
        ("Answer:\nAnswer: (B)", "B"),
        ("So \\boxed{\\text{A}}", "A"),
        ("The answer is 6.", "B"),
        ("ANSWER: Don't know", None),
        ("The answer is D.", None),
    ],
)
def test_with_choices_only_an_option_counts(text: str, letter: str | None) -> None:
    found = extract_answer(text, CHOICES)
    assert (found and found.text) == letter


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", Fraction(1234)),
        ("$\\frac{3}{4}$", Fraction(3, 4)),
        ("2 1/2 hours", Fraction(5, 2)),
        ("50%", Fraction(1, 2)),
        ("$12.50", Fraction(25, 2)),
        ("x = 2^{10}", Fraction(1024)),
        ("\\sqrt{2}", None),
        ("(1, 2)", None),
        ("blue", None),
    ],
)
def test_a_value_is_exact_or_none(text: str, value: Fraction | None) -> None:
    assert answer_value(text) == value
