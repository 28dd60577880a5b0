"""Cutting text into tokens: signs, markup, words of calculation, times of day, other scripts, and linear time."""

from fractions import Fraction
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind
from rafs.types import ANSWER_PLACEHOLDER


def shape(text: str) -> str:
    """Show what a text is read as: values of numbers, signs, words, `~` for what is not read."""
    shown = []
    for token in lex(text):
        match token.kind:
            case Kind.NUMBER:
                shown.append(str(token.value))
            case Kind.JUNK:
                shown.append("~")
            case Kind.BREAK:
                shown.append(";")
            case _:
                shown.append(token.text)
    return " ".join(shown)


SHAPES = {
    "full_width": ("６ ＋ ３ ＝ ９", "6 + 3 = 9"),
    "full_width_tight": ("６×（２－１）", "6 * ( 2 - 1 )"),
    "full_width_decimals": ("４．５％", "9/200"),
    "arabic": ("٦ + ٢٫٥", "6 + 5/2"),
    "devanagari": ("४५ / ९", "45 / 9"),
    "mathematical_digits": ("𝟒 + 𝟱", "4 + 5"),
    "keycaps": ("3️⃣2️⃣ + 🔟", "32 + 10"),
    "superscripts": ("x² + 7⁻¹", "x ^ 2 + 7 ^ -1"),
    "superscript_name": ("3ⁿ", "3 ^ n"),
    "invisible_signs": ("7\u200b +\ufeff 8", "7 + 8"),
    "text_braces": (r"6 \text{ km {net}} + 1", "6 km { net } + 1"),
    "one_digit_arguments": (r"\frac35", "frac 3 5"),
    "environment": (r"\begin{align*} 6 &= 6 \end{align*}", "; 6 = 6 ;"),
    "entity": ("6 &times; 7 &minus; 1 &#43; &frac14;", "6 * 7 - 1 + 1/4"),
    "entity_power": ("6&sup2;", "6 ^ 2"),
    "raised_tag": ("6<sup>2</sup> &lt; 40", "6 ^ ( 2 ) < 40"),
    "bold_tag": ("<b>6 + 1</b>", "6 + 1"),
    "letters_compared": ("a<b and b>c", "a < b and b > c"),
    "emphasis": ("**6 + 1**", "6 + 1"),
    "stars_power": ("6**2", "6 ^ 2"),
    "bullets": ("- 6\n- 7 - 1", "; 6 ; ; 7 - 1"),
    "bullet_after_a_number": ("6\n- 7", "6 ; ; 7"),
    "letter_times": ("6 x 7 X 2", "6 * 7 * 2"),
    "cyrillic_times": ("6 х 7", "6 * 7"),
    "letter_name": ("6x = 12", "6 x = 12"),
    "remainder": ("19 % 4 and 19%4", "19 mod 4 and 19 mod 4"),
    "percent": ("19% and 4 %", "19/100 and 1/25"),
    "list_of_percentages": ("19% 4%", "19/100 1/25"),
    "digit_comma": ("7,5", "7 ~ 5"),
    "comma_in_a_call": ("gcd(7,5)", "gcd ( 7 , 5 )"),
    "comma_behind_a_call": ("gcd(7,5),5", "gcd ( 7 , 5 ) , 5"),
    "placeholder": (f"so 6 = {ANSWER_PLACEHOLDER}.", f"so 6 = {ANSWER_PLACEHOLDER} ;"),
    "reference": ("#12", "~"),
}


@pytest.mark.parametrize(("text", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_signs_are_read_in_every_spelling(text: str, expected: str) -> None:
    assert shape(text) == expected


WORDS = {
    "negative_adjective": (r"it is negative (\(-4\))", "it is negative ( - 4 )"),
    "three_times_as_many": ("three times as many", "3 times as many"),
    "divided_among": ("divided among nine", "divided among 9"),
    "twice_as_many": ("twice as many", "twice as many"),
    "one_as_a_word": ("one's share", "one's share"),
    "hyphens": ("a five-mile walk, one-to-one", "a five-mile walk , one-to-one"),
    "article": ("a fence of a park", "a fence of a park"),
    "percent_word": ("Twelve percent of 50", "3/25 of 50"),
    "listed": ("the product of two and a half", "the product of 2 and 1/2"),
    "mixed": ("it is two and a half", "it is 5/2"),
    "list_of_three": ("the sum of one hundred and five and two", "the sum of 105 and 2"),
    "name_with_index": ("x_{12} + rate_2", "x_{12} + rate_2"),
}


@pytest.mark.parametrize(("text", "expected"), WORDS.values(), ids=WORDS.keys())
def test_words_are_numbers_where_they_count(text: str, expected: str) -> None:
    assert shape(text) == expected


HAN = {
    "sum": ("六加三等于九", "6 + 3 = 9"),
    "traditional": ("十二減五等於七", "12 - 5 = 7"),
    "product_in_digits": ("6乘以7是42", "6 * 7 is 42"),
    "quotient": ("两千四百除以六等于四百", "2400 / 6 = 400"),
    "zero_inside": ("一千零五", "1005"),
    "place_left_out": ("三万二加两百五", "32000 + 250"),
    "digit_by_digit": ("二〇二四", "2024"),
    "percent": ("60的百分之二十五是15", "60 * 1/4 is 15"),
    "fraction": ("三十的三分之二是二十", "30 * 2/3 is 20"),
    "decimal": ("三点二五", "13/4"),
    "negative": ("负三加五", "- 3 + 5"),
    "half": ("20的一半是10", "20 * 1/2 is 10"),
    "digits_with_magnitude": ("3万加5千", "30000 + 5000"),
    "unit": ("一共是12×5=60元。", "一共是 12 * 5 = 60 yuan ;"),
    "counted": ("3个苹果加4个苹果等于7个苹果", "3 个苹果 + 4 个苹果 = 7 个苹果"),
    "japanese": ("三足す四は七", "3 + 4 is 7"),
    "words_only": ("他一共加了油，于是一起走", "他一共加了油 ; 于是一起走"),
}


@pytest.mark.parametrize(("text", "expected"), HAN.values(), ids=HAN.keys())
def test_chinese_and_japanese_numerals_are_numbers_between_words_of_calculation(text: str, expected: str) -> None:
    assert shape(text) == expected


CLOCKS = {
    "morning": ("9:40 am", 580, "am"),
    "evening": ("7:05 p.m.", 1145, "pm"),
    "full_hour": ("at 4pm", 960, "pm"),
    "after_midnight": ("12:15 am", 15, "am"),
    "after_noon": ("12:15 PM", 735, "pm"),
    "bare": ("at 9:40", 580, "unsaid"),
    "long_day": ("at 14:30", 870, "unsaid"),
    "o_clock": ("at 3 o'clock", 180, "unsaid"),
    "noon": ("from 11 am until noon", 720, "pm"),
    "midnight": ("midnight, then 1 am", 60, "am"),
}


@pytest.mark.parametrize(("text", "minutes", "half"), CLOCKS.values(), ids=CLOCKS.keys())
def test_a_time_of_day_counts_its_minutes(text: str, minutes: int, half: str) -> None:
    clock = [token for token in lex(text) if token.kind is Kind.CLOCK][-1]
    assert (clock.value, clock.text) == (Fraction(minutes), half)


NO_CLOCKS = {
    "ratio_word": "the ratio 10:15 is 2 to 3",
    "beside_a_ratio": "10:15 = 2:3",
    "too_many_minutes": "25:75",
    "noon_alone": "the noon sun",
    "spaced": "10 : 15",
    "three_terms": "1:20:30 = 2:40:60",
}


@pytest.mark.parametrize("text", NO_CLOCKS.values(), ids=NO_CLOCKS.keys())
def test_a_ratio_is_no_time_of_day(text: str) -> None:
    assert Kind.CLOCK not in [token.kind for token in lex(text)]


DATES = {
    "year_first": ("on 2023-11-05", "on 2023 ~ 11 ~ 5"),
    "slashes": ("due 11/5/2023.", "due 11 ~ 5 ~ 2023 ;"),
    "always": ("open 24/7 here", "open 24 ~ 7 here"),
    "telephone": ("call 555-0188 now", "call 555 ~ 188 now"),
    "quotient": ("24/7 = 3", "24 / 7 = 3"),
    "difference": ("2023 - 11 - 5", "2023 - 11 - 5"),
    "plain_difference": ("15-5 = 10", "15 - 5 = 10"),
}


@pytest.mark.parametrize(("text", "expected"), DATES.values(), ids=DATES.keys())
def test_a_date_has_numbers_and_no_arithmetic(text: str, expected: str) -> None:
    assert shape(text) == expected


CURRENCIES = {
    "before": ("€5", "€"),
    "behind": ("5 €", "€"),
    "escaped": (r"\$5", "$"),
    "us_dollars": ("US$5", "$"),
    "canadian_dollars": ("C$5", "C$"),
    "code": ("EUR 5", "€"),
    "rupees": ("Rs. 5", "₹"),
    "full_width_yen": ("￥5", "¥"),
    "dollar_behind": ("5$", ""),
    "plain": ("5", ""),
}


@pytest.mark.parametrize(("text", "currency"), CURRENCIES.values(), ids=CURRENCIES.keys())
def test_a_currency_stands_before_or_behind(text: str, currency: str) -> None:
    (number,) = [token for token in lex(text) if token.kind is Kind.NUMBER]
    assert (number.value, number.currency) == (Fraction(5), currency)


def test_digits_that_go_on_at_the_end_of_a_chain_are_one_number() -> None:
    number = lex("1/7 = 0.1428...")[-1]
    assert (number.kind, number.value, number.text) == (Kind.NUMBER, Fraction(1428, 10**4), "...")


@given(st.text(max_size=120) | st.text(alphabet="2²+= \x1b[0m\x00\u200b\\sqrt{", max_size=30))
def test_tokens_tile_the_text_in_order(text: str) -> None:
    end = 0
    for token in lex(text):
        assert end <= token.start <= token.end <= len(text)
        end = token.end


@given(st.text(alphabet="0123456789.,:/-_%xeE½²₈一百加的 \n\\{}()<>&;$€'amp", max_size=60))
def test_no_noise_of_digits_and_signs_raises(text: str) -> None:
    for variable_x in (None, True, False):
        lex(text, variable_x=variable_x)


HOSTILE = [
    *["1,", "1 ", "1.", "1:", "1/", "1-", "1_", "1%1", "0x10 ", "1e5", "12345", "0.3333...", "1️⃣", "½", "²"],
    *["(", "{", r"\frac{", r"\text{", "x^", "<<1+", "a-", "a'", "a_", "$1k ", "!", "&#1;", "<b>", "</sup>", " ", "\n"],
    *[
        "one ",
        "one hundred and ",
        "a half ",
        "noon ",
        "5 pm noon ",
        "10:15 ",
        "sum of one and ",
        "三加",
        "3的",
        "百分之",
    ],
]


@pytest.mark.parametrize("repeated", HOSTILE)
def test_a_hundred_thousand_hostile_characters_do_not_hang(repeated: str) -> None:
    started = process_time()
    lex(repeated * (100_000 // len(repeated)))
    assert process_time() - started < 5.0, "measured below 0.7 s; quadratic time would take minutes"
