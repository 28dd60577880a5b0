from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.contracts import PromptPart
from rafs.engines.remembered_probes import prefix_keys

HEAD = [PromptPart(text="Problem: ", trusted=True), PromptPart(text="Tom has 3 apples.")]
TAIL = [PromptPart(text="\nIs the last step correct?", trusted=True)]


def key(head: Sequence[PromptPart], steps: Sequence[Sequence[PromptPart]], *scope: str) -> bytes:
    return prefix_keys(scope, head, steps, TAIL, [len(steps) - 1])[0]


def part(text: str, *, trusted: bool = False) -> PromptPart:
    return PromptPart(text=text, trusted=trusted)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(key([part("a")], [[part("b")]]), key([part("ab")], [[part("")]]), id="where a part ends"),
        pytest.param(key([], [[part("a")]]), key([], [[part("a", trusted=True)]]), id="trust"),
        pytest.param(key([], [[part("a"), part("b")]]), key([], [[part("a")], [part("b")]]), id="where a step ends"),
        pytest.param(key([], [[part("a")]], "a", "b"), key([], [[part("a")]], "ab", ""), id="where a name ends"),
        pytest.param(key([], [[part("\udc80")]]), key([], [[part("?")]]), id="half a character"),
    ],
)
def test_prompts_that_differ_have_different_keys(one: bytes, other: bytes) -> None:
    assert one != other


@settings(max_examples=50)
@given(st.lists(st.text(max_size=5), min_size=1, max_size=8), st.data())
def test_a_key_depends_on_the_prefix_alone(texts: list[str], data: st.DataObject) -> None:
    steps = [[part(text)] for text in texts]
    t = data.draw(st.integers(0, len(texts) - 1))
    assert prefix_keys(["m"], HEAD, steps, TAIL, [t]) == prefix_keys(["m"], HEAD, steps[: t + 1], TAIL, [t])
