"""Which answer a response states."""

import time
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
        pytest.param("The answer is Ida saves $35 if she works 2 days.", "$35", "phrase", id="condition behind it"),
        pytest.param("The answer is 21 when k = 4.", "21", "phrase", id="value of another name behind it"),
        pytest.param("The answer is he needs 6 hours to paint 4 doors.", "6", "phrase", id="purpose behind it"),
        pytest.param("The total is 14 if k is 2.", "14", "last_number", id="unmarked, a condition behind it"),
        pytest.param("He has 19, which is 4 more than Tim.", "19", "last_number", id="comparison behind it"),
        pytest.param("He has 19 now (4 more than Tim).", "19", "last_number", id="bracket behind it"),
        pytest.param("He keeps 9 instead of 11.", "9", "last_number", id="another number denied"),
        pytest.param("That comes to 72 since there are 8 rows of 9.", "72", "last_number", id="reason behind it"),
        pytest.param("They carry 8 and if we add 5 we get 13.", "13", "last_number", id="condition before it"),
        pytest.param("Half of 50 is 25, and taking off 4 leaves 21.", "21", "last_number", id="later result"),
        pytest.param("Here each is 3 so all 9 cost 27.", "27", "last_number", id="so without a comma"),
        pytest.param("So the form is \\(3n - 5\\).", "3n - 5", "last_number", id="expression at the end"),
        pytest.param("The roots are $x = 2, 7, 9$.", "2, 7, 9", "last_number", id="list at the end"),
        pytest.param("Rounding, we get \\[n \\geq 8\\]", "8", "last_number", id="bound at the end"),
        pytest.param("So Ann needs 7 boxes for the 4 weeks.", "7", "last_number", id="first number of a conclusion"),
        pytest.param("After 3 days the count is 15", "15", "last_number", id="what a verb comes to"),
        pytest.param("So 2 of 3 make 2 * 3 = 6 in 9 days.", "6", "last_number", id="result of an equation"),
        pytest.param(
            "#### Final Answer:\nMara rests for **215 minutes**.", "215 minutes", "label", id="set off in bold"
        ),
        pytest.param("Answer: the cost of 3 pens is **$12**.", "$12", "label", id="set off behind a number"),
        pytest.param("Answer: they are **not** alike", "they are", "label", id="a word set off is no number"),
        pytest.param("#### 14 guests did not come.", "14 guests", "hash", id="quantity before its verb"),
        pytest.param("Answer: 9 boats couldn't leave", "9 boats", "label", id="quantity before a denied verb"),
        pytest.param("In all \\boxed{45 + 36 = 81}.", "81", "boxed", id="calculation in a box"),
        pytest.param("\\boxed{\\$4 \\times 3 = \\$12}", "$12", "boxed", id="calculation with prices in a box"),
        pytest.param("\\boxed{3 + 4 = 7 \\text{ cm}}", "7 \\text{ cm}", "boxed", id="calculation with a unit in a box"),
        pytest.param("\\boxed{x + 2 = 7}", "x + 2 = 7", "boxed", id="an equation in a name is an answer"),
        pytest.param("\\boxed{4 + 7 = 11, 5 + 6 = 11}", "4 + 7 = 11, 5 + 6 = 11", "boxed", id="equations in a box"),
        pytest.param("**Answer: 42.** Reason: 6 * 7 = 42, not 48.", "42", "label", id="answer first"),
        pytest.param("The answer is not 5 but 6.", "6", "phrase", id="denied, then said"),
        pytest.param("The answer isn't 5; it is 6.", "6", "phrase", id="denied in short"),
        pytest.param("I get 9. Wait, no. The answer is 7.", "7", "phrase", id="taken back before it was marked"),
        pytest.param("The answer is 7. No wait, that is off: it should be 8.", "8", "phrase", id="taken back"),
        pytest.param('Ann says "the answer is 5". We find 6 * 2 = 12.', "12", "last_number", id="somebody else's"),
        pytest.param('{"reasoning": "3 * 4 = 12", "answer": 17}', "17", "label", id="JSON number"),
        pytest.param('{"answer": "7 boxes", "why": "1 + 6 = 7"}', "7 boxes", "label", id="JSON text"),
        pytest.param("<answer> 12 cm </answer>", "12 cm", "label", id="tag"),
        pytest.param("| Item | Value |\n|---|---|\n| Answer | 12 |", "12", "label", id="table"),
        pytest.param("Run it:\n```output\n42\n```", "42", "last_number", id="what code prints"),
        pytest.param("The answer is (1;2).", "(1;2)", "phrase", id="tuple with a semicolon"),
        pytest.param("The answer is (1, 2) and (3, 4).", "(1, 2) and (3, 4)", "phrase", id="two points"),
        pytest.param("The answer is [2, 5) ∪ (7, 9].", "[2, 5) ∪ (7, 9]", "phrase", id="union"),
        pytest.param("The answer is (3 + 4) * 2 = 14.", "14", "phrase", id="a bracket that is no tuple"),
        pytest.param("The answer is x < 5.", "x < 5", "phrase", id="inequality"),
        pytest.param("The answer is x = 2 or x = -2.", "x = 2 or x = -2", "phrase", id="two solutions"),
        pytest.param("The answer is x = 1, y = 2.", "x = 1, y = 2", "phrase", id="one solution of two parts"),
        pytest.param("So we take \\boxed{4} = a, b = \\boxed{9}.", "9", "boxed", id="boxes that are no list"),
        pytest.param("a = \\boxed{4}, b = \\boxed{9}", "4, 9", "boxed", id="a box for each name"),
        pytest.param("Answer: \\boxed{(1, 2)", "(1, 2)", "boxed", id="unclosed box with a tuple"),
        pytest.param("The answer is 5 ft 3 in.", "5 ft 3 in", "phrase", id="two units"),
        pytest.param("#### 2 hours 15 minutes", "2 hours 15 minutes", "hash", id="hours and minutes"),
        pytest.param("####\n12", "12", "hash", id="hash alone in its line"),
        pytest.param("Answer: 1.2 billion", "1.2 billion", "label", id="billions"),
        pytest.param("Answer: March 3, 2021", "March 3, 2021", "label", id="date"),
        pytest.param("They meet at 4:45 p.m.", "4:45 p.m", "last_number", id="time of day"),
        pytest.param("Answer: the red box", "the red box", "label", id="a thing"),
        pytest.param("Therefore, there are no real solutions.", "no real solutions", "conclusion", id="nothing"),
        pytest.param("I pick option B, for A is too small.", "B", "phrase", id="picked"),
        pytest.param("So option C is correct.", "C", "phrase", id="called correct"),
        pytest.param("Odpowiedź: 12", "12", "label", id="Polish"),
        pytest.param("La respuesta final es: 3,5 kg", "3.5 kg", "phrase", id="Spanish"),
        pytest.param("There are 5 trays of 9, which makes 45 eggs.", "45", "last_number", id="which makes"),
        pytest.param("He is 12, leaving 4 more for Ann.", "4", "last_number", id="leaving"),
        pytest.param("First 2.5 + 3 = 5.5, then doubled: 11.", "11", "last_number", id="behind a colon"),
        pytest.param("Here are 5 trays of 9, so 45 eggs.", "45", "last_number", id="last clause"),
        pytest.param("The **Answer** is __27__.", "27", "phrase", id="emphasised"),
        pytest.param("Answer: not 6 but 8", "8", "label", id="denied behind a label"),
        pytest.param("6 * 7 = 42. <!-- The answer is 9 -->", "42", "last_number", id="comment"),
        pytest.param("Answer: –6", "–6", "label", id="long minus sign"),
        pytest.param("The answer is minus 6.", "minus 6", "phrase", id="minus in words"),
        pytest.param("So the limit is negative 6.", "negative 6", "conclusion", id="negative in words"),
        pytest.param("\\boxed{ \\ } So we get 6.", "6", "conclusion", id="box still to be filled in"),
        pytest.param("So the centre is $(4, -3)$.", "(4, -3)", "last_number", id="unmarked point"),
        pytest.param("The class ends at 2:10 PM.", "2:10 PM", "last_number", id="capital half of the day"),
        pytest.param("Answer: half past 4", "half past 4", "label", id="time in words"),
        pytest.param("<!-- answer: 9-->", "9", "label", id="comment alone"),
        pytest.param("The answer is 9π.", "9π", "phrase", id="plain pi"),
        pytest.param("#### 3√7 cm", "3√7 cm", "hash", id="plain root"),
        pytest.param("Answer: 10⁻⁴", "10⁻⁴", "label", id="raised exponent"),
        pytest.param("The answer is 6¼.", "6¼", "phrase", id="vulgar fraction"),
        pytest.param("Answer: 8xy", "8xy", "label", id="glued letters"),
        pytest.param("Answer: 8kg", "8", "label", id="a glued unit"),
        pytest.param("Answer: ln 7", "ln 7", "label", id="function in plain text"),
        pytest.param("The answer is 7 : 4.", "7 : 4", "phrase", id="spaced ratio"),
        pytest.param("The answer is 7 to 4.", "7 to 4", "phrase", id="ratio in words"),
        pytest.param("The answer is 7.25 to 2 decimal places.", "7.25", "phrase", id="rounded to places"),
        pytest.param("The answer is 9 ± 4.", "9 ± 4", "phrase", id="plus or minus"),
        pytest.param("Answer: 11 R3", "11 R3", "label", id="remainder"),
        pytest.param("Answer: Rs. 340", "340", "label", id="rupees"),
        pytest.param("The answer is the square root of 7.", "the square root of 7", "phrase", id="root in words"),
        pytest.param("The answer is ⟨4, 9⟩.", "⟨4, 9⟩", "phrase", id="angle brackets"),
        pytest.param("The answer is $4$ and $9$.", "4, 9", "phrase", id="listed maths"),
        pytest.param("El resultado es 12,5.", "12.5", "phrase", id="Spanish result"),
        pytest.param("So the area is 9π cm.", "9π", "conclusion", id="pi in a conclusion"),
        pytest.param("So the slope is 7x.", "7x", "conclusion", id="term at the end"),
        pytest.param("So y = 7x + 4.", "7x + 4", "last_number", id="plain expression at the end"),
        pytest.param("Therefore $g(x) = 7x + 4$.", "7x + 4", "last_number", id="function at the end"),
        pytest.param("So t > 9.", "t > 9", "conclusion", id="inequality at the end"),
        pytest.param("So the ratio is 7 to 4.", "7 to 4", "last_number", id="ratio at the end"),
        pytest.param("She owns $3.5 million.", "$3.5 million", "last_number", id="millions at the end"),
        pytest.param("It took 4 hours and 10 minutes.", "4 hours and 10 minutes", "last_number", id="hours at the end"),
        pytest.param("They cross at (4, 9).", "(4, 9)", "last_number", id="point at the end"),
        pytest.param("So the set is {4, 9, 11}.", "{4, 9, 11}", "last_number", id="set at the end"),
        pytest.param("The roots are 4 and -9.", "4 and -9", "last_number", id="plain list at the end"),
        pytest.param("Thus $x = 4$ or $x = 9$.", "x = 4 or x = 9", "last_number", id="solutions at the end"),
        pytest.param("The limit is ∞.", "∞", "last_number", id="infinity at the end"),
        pytest.param("So he has 14 pens.\n\nCheck: 14 - 5 = 9 ✓", "14", "conclusion", id="a check behind it"),
        pytest.param("So he has 14 pens.\n\nConfidence: 90%", "14", "conclusion", id="a remark behind it"),
        pytest.param("Sanity check: 14 is less than 20.", "20", "last_number", id="a remark alone"),
        pytest.param("The answer is 4. Correction: 9.", "9", "phrase", id="corrected in short"),
        pytest.param("The answer is 4... no, 9.", "9", "phrase", id="no, another"),
        pytest.param("Suppose the answer is 4. Then 4 > 3. So x = 9.", "9", "last_number", id="supposed"),
        pytest.param("Some say the answer is 4. In fact 4 + 5 = 9.", "9", "last_number", id="a mistake of others"),
        pytest.param(
            "The answer is 4. Wait, I made an error: 4 + 5 = 9. So she has 9 pens.", "9", "conclusion", id="an error"
        ),
        pytest.param("The answer is a multiple of 9. So x = 18.", "18", "last_number", id="what it is a multiple of"),
        pytest.param("The answer is the sum of 4 and 5, so 9.", "9", "last_number", id="what it is the sum of"),
        pytest.param("There are 4 red and 5 blue pens.\n\n**9**", "9", "last_number", id="a bold number alone"),
        pytest.param("He drives 50 km for 3 h.\n\n__150__", "150", "last_number", id="an underlined number alone"),
        pytest.param(
            "Answer: Each costs 10/5 = 2. So 7 cost 7 * 2 = 14.", "14", "last_number", id="a solution's heading"
        ),
    ],
)
def test_the_answer_is_what_was_stated_last(text: str, answer: str, source: str) -> None:
    found = extract_answer(text)
    assert found is not None
    assert (found.text, found.source) == (answer, source)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No idea.",
        "<think>\\boxed{3}",
        "The answer is correct.",
        "The answer is not clear.",
        "Answer: I don't know",
        "The answer is I cannot tell.",
        "Answer:",
        "####",
        "\\boxed{}",
        "\\boxed{\\text{}}",
    ],
)
def test_where_nothing_is_stated_there_is_no_answer(text: str) -> None:
    assert extract_answer(text) is None


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [
        pytest.param("The answer is 5. The answer is 5.0.", False, id="said twice"),
        pytest.param("The answer is 5. The answer is 6.", True, id="two answers"),
        pytest.param("<!-- The answer is 6 -->\nThe answer is 5.", True, id="another in a comment"),
        pytest.param("<!--The answer is 5-->\nThe answer is 5.", False, id="the same in a comment"),
        pytest.param("<!-- The answer is 5 -->", True, id="in a comment alone"),
        pytest.param('Ann said "the answer is 5".', True, id="quoted alone"),
    ],
)
def test_an_answer_that_something_speaks_against_is_ambiguous(text: str, ambiguous: bool) -> None:
    found = extract_answer(text)
    assert found is not None
    assert found.ambiguous is ambiguous


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", Fraction(1234)),
        ("$\\frac{3}{4}$", Fraction(3, 4)),
        ("2 1/2 hours", Fraction(5, 2)),
        ("50%", Fraction(1, 2)),
        ("$12.50", Fraction(25, 2)),
        ("x = 2^{10}", Fraction(1024)),
        ("seventy six.", Fraction(76)),
        ("3/6 truck-loads of sand.", Fraction(1, 2)),
        (": 59", Fraction(59)),
        ("2 hours 15 minutes", Fraction(135)),
        ("1.2 billion", Fraction(1_200_000_000)),
        ("$26 per week", Fraction(26)),
        ("4\n5\n0", None),
        ("1/2x", None),
        ("\\sqrt{2}", None),
        ("(1, 2)", None),
        ("blue", None),
    ],
)
def test_a_value_is_exact_or_none(text: str, value: Fraction | None) -> None:
    assert answer_value(text) == value


@pytest.mark.parametrize(
    "piece",
    [
        "the answer is ",
        "answer: ",
        "(1, ",
        "x = 1, ",
        "5 ft ",
        "\\boxed{",
        '"answer": ',
        "A and ",
        "9 if ",
        "9 (is now ",
        "the answer is 9 to paint ",
        "<!-- answer: 5 --> ",
        "<!--",
        "$2$ and ",
        "x = 1 or ",
        "So the sum is 4, ",
        "I made an error: the answer is 4. Correction: ",
        "选 B，",
    ],
)
def test_eighty_thousand_hostile_characters_do_not_hang(piece: str) -> None:
    started = time.process_time()
    extract_answer((piece * 80_000)[:80_000], CHOICES)
    assert time.process_time() - started < 8.0, "measured below 1 s; quadratic time would take minutes"
