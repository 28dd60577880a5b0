"""Which option a response names."""

import pytest

from rafs.answers.extraction import extract_answer

CHOICES = {"A": "5", "B": "6", "C": "7"}


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
        ("**B**\n\nFor A would be 5.", "B"),
        ("(C) because 7 is prime", "C"),
        ("Therefore, C.", "C"),
        ("Answer: <B>", "B"),
        ("\\boxed{Option C}", "C"),
        ("\\boxed{(\\text{B})}", "B"),
        ("Answer: A and C", "A, C"),
        ("The answer is a riddle.", None),
        ("The answer is neither A nor B, it is C.", "C"),
        ("A careful look gives option B.", "B"),
        ("That fits choice (C) best.", "C"),
        ("Option A is small, so it cannot be option A.", None),
        ("We rule out option A.", None),
        ("Eliminate A and B. That leaves C.", "C"),
        ("The answer can't be A, so it's B.", "B"),
        ("**C**\n\nOption A forgets a case.", "C"),
        ("Options: option A or option B.", None),
        ("**B** is correct. C is too large.", "B"),
        ("I choose **A** since C is odd.", "A"),
        ("Correct answer - C", "C"),
        ("My choice: B. Not A.", "B"),
        ("So the letter is C, not A.", "C"),
        ("B. The others are too small.", "B"),
        ("A. red\nB. blue\nC. green", None),
        ("\\boxed{\\text{B and C}}", "B, C"),
        ("Answer: B is wrong, so C", "C"),
        ("**C) 7** – A) 5 is too small", "C"),
        ("正确答案是 B。", "B"),
        ("故选C", "C"),
        ("정답은 B입니다.", "B"),
        ("答えはCです。", "C"),
        ("Jawaban yang benar adalah B.", "B"),
        ("La respuesta correcta es la opción B.", "B"),
        ("I would go with C.", "C"),
        ("Only B works.", "B"),
        ("By elimination, C.", "C"),
        ("Option C", "C"),
        ("Answer → B", "B"),
        ("(c)", "C"),
    ],
)
def test_with_choices_only_an_option_counts(text: str, letter: str | None) -> None:
    found = extract_answer(text, CHOICES)
    assert (found and found.text) == letter


@pytest.mark.parametrize(
    ("text", "choices", "key"),
    [
        ("Answer: b", {"a": "7", "b": "9"}, "b"),
        ("(A)", {"a": "7", "b": "9"}, "a"),
        ("Answer: 2", {"1": "oak", "2": "elm"}, "2"),
        ("Option 2", {"1": "oak", "2": "elm"}, "2"),
        ("Answer: 2", {"1": "2", "2": "3"}, None),
        ("So the tree is an old elm.", {"A": "a young oak", "B": "the old elm"}, "B"),
        ("So it is no old elm.", {"A": "a young oak", "B": "the old elm"}, None),
    ],
)
def test_an_option_is_named_by_its_key_or_its_text(text: str, choices: dict[str, str], key: str | None) -> None:
    found = extract_answer(text, choices)
    assert (found and found.text) == key
