"""Where a text is cut, and where it is not."""

import pytest

from rafs.splitting.segments import split_spans


def cut(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in split_spans(text)]


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        pytest.param("It costs 2.5 each. We buy 4.", ["It costs 2.5 each.", "We buy 4."], id="decimals"),
        pytest.param(
            "Use approx. 30 l, i.e. 3 cans. Done.", ["Use approx. 30 l, i.e. 3 cans.", "Done."], id="abbreviations"
        ),
        pytest.param(
            "Room no. 7 holds 20 vs. 12 before. Fine.", ["Room no. 7 holds 20 vs. 12 before.", "Fine."], id="no., vs."
        ),
        pytest.param(
            "It opens at 8 a.m. and ends at 5 p.m. today. Good.",
            ["It opens at 8 a.m. and ends at 5 p.m. today.", "Good."],
            id="a.m.",
        ),
        pytest.param("Mr. J. Smith pays 3. He leaves.", ["Mr. J. Smith pays 3.", "He leaves."], id="initials"),
        pytest.param("It was size M. It fits.", ["It was size M.", "It fits."], id="single letter at the end"),
        pytest.param("We take Option B. Divide by 3.", ["We take Option B.", "Divide by 3."], id="letter as a label"),
        pytest.param("Ann B. Hall pays 3.", ["Ann B. Hall pays 3."], id="initial in a name"),
        pytest.param("1. Add 2 and 3.\n2. Stop.", ["1. Add 2 and 3.", "2. Stop."], id="numbered list"),
        pytest.param("- a = 1\n- b = 2", ["- a = 1", "- b = 2"], id="bullets"),
        pytest.param(
            "## Step 1: Start\nLet n = 2.\n## Step 2: End\nSo n = 3.",
            ["## Step 1: Start\nLet n = 2.", "## Step 2: End\nSo n = 3."],
            id="headings",
        ),
        pytest.param(
            "Step 1: We add 1 + 1 = 2. Step 2: We double it.",
            ["Step 1: We add 1 + 1 = 2.", "Step 2: We double it."],
            id="steps in a line",
        ),
        pytest.param("a = 1\nb = 2\na + b = 3", ["a = 1", "b = 2", "a + b = 3"], id="an equation a line"),
        pytest.param("x = 2 * 3\n= 6", ["x = 2 * 3\n= 6"], id="chained equation"),
        pytest.param(
            "We get\n\\[\na = 1.\n\nb = 2\n\\]\nThen stop.",
            ["We get\n\\[\na = 1.\n\nb = 2\n\\]", "Then stop."],
            id="display maths",
        ),
        pytest.param(
            "So \\[ a = 1 \\] Then \\[ b = 2 \\]", ["So \\[ a = 1 \\]", "Then \\[ b = 2 \\]"], id="two displays"
        ),
        pytest.param("Let $f = 2.5x. g = x$ here. Next.", ["Let $f = 2.5x. g = x$ here.", "Next."], id="inline maths"),
        pytest.param("It costs $5. Then $6 more.", ["It costs $5.", "Then $6 more."], id="two prices are no maths"),
        pytest.param("Run `a. B` now. Done.", ["Run `a. B` now.", "Done."], id="inline code"),
        pytest.param("```\na = 1. Then\n\nb\n```\nDone.", ["```\na = 1. Then\n\nb\n```", "Done."], id="fenced code"),
        pytest.param(
            "| n | m |\n|---|---|\n| 2 | 4 |\n\nSo 6.", ["| n | m |\n|---|---|\n| 2 | 4 |", "So 6."], id="table"
        ),
        pytest.param("先算3+4=7。再乘2得14。", ["先算3+4=7。", "再乘2得14。"], id="full-width stops"),
        pytest.param("One.\r\n\r\nTwo.\r\n", ["One.", "Two."], id="windows line ends"),
        pytest.param("a = 1\u2028b = 2", ["a = 1", "b = 2"], id="unicode line separator"),
        pytest.param(
            "See https://a.org/v1.2.html for it. Done.", ["See https://a.org/v1.2.html for it.", "Done."], id="link"
        ),
        pytest.param("4! = 24. Wow! It grows.", ["4! = 24.", "Wow!", "It grows."], id="factorial"),
        pytest.param("2 + 4 + ... + 10 = 30. Halve it.", ["2 + 4 + ... + 10 = 30.", "Halve it."], id="terms left out"),
        pytest.param("1, 4, 9, … go on. Stop.", ["1, 4, 9, … go on.", "Stop."], id="a list that goes on"),
        pytest.param("Odd are 3, 5, ... These go on.", ["Odd are 3, 5, ...", "These go on."], id="a list at the end"),
        pytest.param("0.333... = 1/3. So... Then 2.", ["0.333... = 1/3.", "So...", "Then 2."], id="digits that go on"),
        pytest.param('"Is it 8?" he asked. It was.', ['"Is it 8?" he asked.', "It was."], id="a quoted question"),
        pytest.param("i. Add 3.\nii. Add 8.", ["i. Add 3.", "ii. Add 8."], id="small roman numbers"),
        pytest.param("We met at 9 p.m. EST today. Fine.", ["We met at 9 p.m. EST today.", "Fine."], id="time zone"),
        pytest.param("The U.S. team has 3. Fine.", ["The U.S. team has 3.", "Fine."], id="U.S."),
        pytest.param("Add 2 tbsp. of oil. Stir.", ["Add 2 tbsp. of oil.", "Stir."], id="kitchen units"),
        pytest.param("She wrote 'n = 8.' and left. Fine.", ["She wrote 'n = 8.' and left.", "Fine."], id="quoted line"),
        pytest.param("By Thm. 5 it holds. So n = 5.", ["By Thm. 5 it holds.", "So n = 5."], id="numbered theorem"),
        pytest.param("We sell 6 *\nThus it is 30.", ["We sell 6 *", "Thus it is 30."], id="given up, begun anew"),
        pytest.param("At 9 p.m. She left.", ["At 9 p.m.", "She left."], id="p.m. at the end"),
        pytest.param("At 9 p.m. Ida left. Good.", ["At 9 p.m. Ida left.", "Good."], id="p.m. at the head"),
        pytest.param("In Mar. Ida saved 4. Good.", ["In Mar. Ida saved 4.", "Good."], id="month at the head"),
        pytest.param("Hr. Vogt hat 4. Gut.", ["Hr. Vogt hat 4.", "Gut."], id="foreign title"),
        pytest.param("El Sr. Gil da 4. Bien.", ["El Sr. Gil da 4.", "Bien."], id="title that is a suffix too"),
        pytest.param("A.B. Yehoshua wrote 4. Good.", ["A.B. Yehoshua wrote 4.", "Good."], id="two initials"),
        pytest.param("Ida C. has 4. Good.", ["Ida C. has 4.", "Good."], id="initial at the end of a name"),
        pytest.param("Am 7. Juni sind es 4. Gut.", ["Am 7. Juni sind es 4.", "Gut."], id="German date"),
        pytest.param("There are m! orders. Good.", ["There are m! orders.", "Good."], id="factorial of a letter"),
        pytest.param("Seat (k-2)! rows. Good.", ["Seat (k-2)! rows.", "Good."], id="factorial of a bracket"),
        pytest.param("3.1. Add 4.\n3.2. Stop.", ["3.1. Add 4.", "3.2. Stop."], id="list numbers of two levels"),
        pytest.param("a | b\n--- | ---\n1 | 2. Or\n", ["a | b\n--- | ---", "1 | 2. Or"], id="table without a frame"),
        pytest.param("\\(x=4.\\) Then 9.", ["\\(x=4.\\)", "Then 9."], id="stop inside maths"),
        pytest.param("Pick A. Pick D.", ["Pick A.", "Pick D."], id="picked letters"),
        pytest.param("It is 4.[2] Then 9.", ["It is 4.[2]", "Then 9."], id="footnote"),
        pytest.param("It is 4.\u200b Then 9.", ["It is 4.\u200b", "Then 9."], id="zero-width space"),
        pytest.param("\ufeff", [], id="a byte order mark alone"),
        pytest.param("It is 4.\n\n**9**", ["It is 4.", "**9**"], id="a bold number is no heading"),
        pytest.param(
            "The sum is 7 (see above. It holds). We go on.",
            ["The sum is 7 (see above. It holds).", "We go on."],
            id="brackets",
        ),
    ],
)
def test_a_segment_is_one_thought(text: str, segments: list[str]) -> None:
    assert cut(text) == segments
