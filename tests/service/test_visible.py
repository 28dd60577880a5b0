import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.visible import show_text, show_value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("left\u202eright", "left\\u202eright"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("Größe 漢 →", "Größe 漢 →"),
    ],
    ids=["plain", "white space", "terminal codes", "right-to-left", "lone surrogate", "tag character", "letters"],
)
def test_what_would_not_be_seen_is_escaped(text: str, shown: str) -> None:
    assert show_text(text) == shown


@given(st.text(alphabet=st.characters(codec=None)), st.integers(2, 100))
def test_shown_text_is_short_printable_and_can_be_written(text: str, limit: int) -> None:
    shown = show_text(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()
    shown.encode()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "the number 1.5"),
        (10**5_000, "a huge integer"),
        ("", "an empty text"),
        ("x" * 100, "'" + "x" * 79 + "…' (100 characters)"),
        ([1, 2], "a list of 2"),
        ({"a": 1}, "an object with 1 keys"),
    ],
    ids=["null", "true", "number", "huge", "empty", "long", "list", "object"],
)
def test_a_value_is_described_in_the_words_of_json(value: object, shown: str) -> None:
    assert show_value(value) == shown
