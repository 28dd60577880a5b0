from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.request import ScoreRequest
from service.batch.canonical import canonical, hash_of

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=20).filter(
    lambda text: bool(text.strip())
)
MESSAGE = st.fixed_dictionaries({"role": st.just("assistant"), "content": TEXT})
TURNS = st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "tool"]), "content": TEXT}), max_size=2)
TRACE = TEXT | st.lists(TEXT, min_size=1, max_size=3) | MESSAGE | st.tuples(TURNS, MESSAGE).map(lambda t: [*t[0], t[1]])
SAMPLE = TEXT | MESSAGE | st.fixed_dictionaries({"message": MESSAGE, "finish_reason": st.just("stop")})
REQUEST = st.fixed_dictionaries(
    {"problem": TEXT, "trace": TRACE},
    optional={
        "answer": TEXT,
        "generator": st.fixed_dictionaries({"model": st.just("gpt-4o-mini")}),
        "samples": st.lists(SAMPLE, max_size=2),
        "preset": st.sampled_from(["gate", "deep"]),
        "seed": st.integers(0, 9),
        "rules": st.just([{"rule": "words", "at_most": 200}]),
    },
)


@given(REQUEST)
def test_the_canonical_form_is_read_as_the_same_request(fields: dict[str, Any]) -> None:
    request = ScoreRequest.model_validate(fields)
    assert ScoreRequest.model_validate_json(canonical(request)) == request


@given(REQUEST)
def test_the_canonical_form_of_what_was_read_from_it_is_the_same(fields: dict[str, Any]) -> None:
    written = canonical(ScoreRequest.model_validate(fields))
    assert canonical(ScoreRequest.model_validate_json(written)) == written


@pytest.mark.parametrize(
    "changes",
    [
        {"problem": "another"},
        {"trace": "another"},
        {"answer": "4"},
        {"seed": 1},
        {"preset": "deep"},
        {"samples": ["x"]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_whatever_a_score_hangs_on_is_in_the_hash(changes: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"problem": "p", "trace": "t"}
    one, other = (ScoreRequest.model_validate(fields) for fields in (plain, plain | changes))
    assert hash_of(canonical(one)) != hash_of(canonical(other))


def test_what_would_hold_without_it_changes_nothing() -> None:
    one = ScoreRequest.model_validate({"problem": "p", "trace": "t"})
    other = ScoreRequest.model_validate({"problem": "p", "trace": "t", "seed": 0, "samples": [], "answer": None})
    assert canonical(one) == canonical(other)
