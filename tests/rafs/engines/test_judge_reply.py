"""What a reply is read as; the table of cases is the bank `judge_parse`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.judge_objects import find_objects
from rafs.engines.judge_reply import Reply, Said, labels_of, read_reply
from rafs.engines.judge_words import MAX_REPLY_CHARS
from rafs.engines.label_mass import read_label_mass
from rafs.types import LabelMass

PIECES = [
    *("yes", "no", "Verdict:", "score", "7/10", "[[", "]]", "{", "}", '"', "'", ":", ",", "\\", "\n", " ", ".", "```"),
    *(
        '{"verdict": "yes"}',
        "{'score': 3",
        "<think>",
        "</think>",
        "not",
        "is correct",
        "//",
        "/*",
        "*/",
        "1e999",
        "NaN",
    ),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text())
def test_any_text_is_read_without_an_error_and_a_score_stays_in_range(text: str) -> None:
    reply = read_reply(text, scale=(0, 10))
    assert reply.score is None or 0 <= reply.score <= 1


@given(st.text(alphabet=st.characters(exclude_categories=["L", "N"])))
def test_a_reply_without_letters_and_numbers_says_nothing(text: str) -> None:
    assert read_reply(text, scale=(0, 1)) == Reply()


@given(st.sampled_from(["yes", "no"]), st.floats(0, 1), st.text(alphabet="ab {}[]:,\"'\\\n`"))
def test_well_formed_json_is_read_as_json_does(verdict: str, score: float, reason: str) -> None:
    consistent = score >= 0.5 if verdict == "yes" else score <= 0.5
    reply = read_reply(json.dumps({"reason": reason, "verdict": verdict, "score": score}), scale=(0, 1))
    expected = Reply(verdict=Said(verdict), score=score) if consistent else Reply()
    assert (reply.verdict, reply.score) == (expected.verdict, pytest.approx(expected.score) if consistent else None)


@pytest.mark.parametrize("label", ["Yes", "No"])
@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "Verdict: {}", "I checked it.\n{}", '{{"verdict": "{}"}}'])
def test_labels_in_the_other_order_give_the_other_verdict(form: str, label: str) -> None:
    said = {read_reply(form.format(label), labels).verdict for labels in (("Yes", "No"), ("No", "Yes"))}
    assert said == {Said.YES, Said.NO}


SAID = {
    "both": ("The line is both valid and invalid.", Said.UNKNOWN),
    "both_in_a_way": ("That is true and false, depending on the base.", Said.UNKNOWN),
    "twice_praised": ("The step is correct and valid.", Said.YES),
    "denied_in_another_sentence": ("The total ought to be even. 31 is not.\n\nNo", Said.NO),
    "denied_across_a_line": ("The step is not\ncorrect.", Said.UNKNOWN),
    "denied_across_dots": ("The step is not... correct.", Said.UNKNOWN),
    "short_copula": ("It's incorrect", Said.NO),
    "field": ("Correct: No", Said.NO),
    "bold_field": ("**Valid**: yes", Said.YES),
    "judged_as": ("I deem this step as incorrect.", Said.NO),
    "named_verdict": ("Verdict: the line is wrong", Said.NO),
    "named_verdict_taken_back": ("Verdict: right. But no, it is wrong.", Said.UNKNOWN),
    "filler": ("Right, let me look at 7 * 3", Said.UNKNOWN),
    "right_side": ("Assessment: the right side is 21", Said.UNKNOWN),
    "fenced_in_a_line": ("```No```", Said.NO),
}


@pytest.mark.parametrize(("raw", "said"), SAID.values(), ids=SAID)
def test_a_verdict_is_read_only_where_it_is_plain(raw: str, said: Said) -> None:
    assert read_reply(raw).verdict is said


@pytest.mark.parametrize(
    ("raw", "score"),
    [("Score: about 4", 0.4), ("Rating: roughly 9/10", 0.9), ("6 pts", 0.6), ("Score: about 4-6", None)],
)
def test_a_score_may_be_told_roughly_but_not_as_a_range(raw: str, score: float | None) -> None:
    assert read_reply(raw, scale=(0, 10)).score == score


def test_no_score_is_read_where_none_was_asked_for() -> None:
    assert read_reply('{"verdict": "no", "score": 0.1}').score is None


def test_a_reply_of_unreasonable_length_says_nothing() -> None:
    assert read_reply("Yes" + " " * MAX_REPLY_CHARS) == Reply()


@pytest.mark.parametrize("opening", ["{", "[", '{"a":', "{'a': '", '{"a": "', "{a: /*", '{"a": {'])
def test_what_is_nested_or_left_open_many_times_is_no_verdict(opening: str) -> None:
    text = opening * (MAX_REPLY_CHARS // len(opening) - 1)
    assert read_reply(text, scale=(0, 1)) == Reply()


def test_an_object_keeps_a_key_that_stands_twice() -> None:
    (found,) = find_objects('text {"a": "1", "a": "2"} text')
    assert found.pairs == (("a", "1"), ("a", "2"))


def test_objects_in_strings_and_objects_are_not_found_again() -> None:
    text = '{"a": "{\\"b\\": 1}", "c": {"d": 2}} {"e": 3}'
    assert [found.pairs and [key for key, _ in found.pairs] for found in find_objects(text)] == [["a", "c"], ["e"]]


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        pytest.param("Is it correct? Answer yes or no.", ("yes", "no"), id="yes-no"),
        pytest.param("Answer yes if it is correct, no if it is incorrect.", ("yes", "no"), id="two pairs"),
        pytest.param("Answer CORRECT or INCORRECT.", ("correct", "incorrect"), id="one in the other"),
        pytest.param("A: the step is wrong. B: the step is right.", ("b", "a"), id="letters"),
        pytest.param("Is it incorrect?", None, id="no pair"),
    ],
)
def test_the_menu_is_taken_from_the_question(question: str, labels: tuple[str, str] | None) -> None:
    assert labels_of(question) == labels


@pytest.mark.parametrize("token", ["Yes", " yes", "▁YES", "ĠYes", "**Yes", '"yes', "Yes.", "Ċyes"])
def test_a_label_counts_however_its_token_is_dressed(token: str) -> None:
    mass = read_label_mass({token: 0.0, "No": -2.0}, ("Yes", "No"))
    assert isinstance(mass, LabelMass)
    assert mass.yes == 1.0


@pytest.mark.parametrize("token", ["Yesterday", "Nothing", "Y", "yes-no", "Not"])
def test_a_word_that_begins_like_a_label_is_none(token: str) -> None:
    assert not isinstance(read_label_mass({token: -0.1, "No": -2.0}, ("Yes", "No")), LabelMass)
