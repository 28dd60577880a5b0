"""A model never judges what its own family wrote."""

import pytest

from rafs.independence import Writer, judge_independence, refused
from rafs.policy import Independence
from rafs.types import ModelIdentity

SMOL = ModelIdentity(id="smollm2-135m", family="smollm", revision="1")
QWEN = ModelIdentity(id="qwen-7b", family="qwen", revision="1")
DISTILLED = ModelIdentity(id="r1-distill-qwen", family="deepseek", revision="1", kin=frozenset({"qwen"}))


def writer(*families: str) -> Writer:
    return Writer(model=None, families=frozenset(families))


@pytest.mark.parametrize(
    ("models", "families", "override", "expected"),
    [
        pytest.param([SMOL], ["gpt"], False, Independence.INDEPENDENT, id="another family"),
        pytest.param([SMOL], ["smollm"], False, Independence.NONE_LEFT, id="the only judge is of the family"),
        pytest.param([SMOL, QWEN], ["smollm"], False, Independence.INDEPENDENT, id="another judge is left"),
        pytest.param([DISTILLED], ["qwen"], False, Independence.NONE_LEFT, id="one of two families is enough"),
        pytest.param([SMOL], [], False, Independence.UNKNOWN, id="unknown writer"),
        pytest.param([], ["gpt"], False, Independence.NONE_LEFT, id="no model at all"),
        pytest.param([SMOL], ["smollm"], True, Independence.OVERRIDDEN, id="override is on the record"),
        pytest.param([SMOL], ["gpt"], True, Independence.INDEPENDENT, id="override without need"),
    ],
)
def test_independence(models: list[ModelIdentity], families: list[str], override: bool, expected: Independence) -> None:
    assert judge_independence(models, writer(*families), override=override) is expected


def test_refused_are_those_of_the_writers_families() -> None:
    assert refused([SMOL, QWEN, DISTILLED], writer("qwen"), override=False) == {QWEN, DISTILLED}
    assert refused([SMOL, QWEN], writer("qwen"), override=True) == frozenset()
