"""A model never judges what its own family wrote."""

import pytest

from rafs.independence import Writer, appoint
from rafs.policy import Independence
from rafs.types import ModelIdentity

SMOL = ("judge:smollm2-135m", ModelIdentity(id="smollm2-135m", family="smollm", revision="1"))
QWEN = ("judge:qwen-7b", ModelIdentity(id="qwen-7b", family="qwen", revision="1"))
DISTILLED = ("judge:r1-qwen", ModelIdentity(id="r1-qwen", family="deepseek", revision="1", kin=("qwen",)))
REWARD = ("prm:qwen-prm", ModelIdentity(id="qwen-prm", family="qwen", revision="1"))


def writer(*families: str) -> Writer:
    return Writer(model=None, families=frozenset(families))


@pytest.mark.parametrize(
    ("models", "families", "override", "asked", "independence"),
    [
        pytest.param([SMOL], ["gpt"], False, [SMOL], "independent", id="another family"),
        pytest.param([SMOL], ["smollm"], False, [], "none_left", id="the only judge is of the family"),
        pytest.param([SMOL, QWEN], ["smollm"], False, [QWEN], "independent", id="another judge is left"),
        pytest.param([SMOL, QWEN], ["gpt"], False, [SMOL], "independent", id="the first of a kind is enough"),
        pytest.param([SMOL, REWARD], ["gpt"], False, [SMOL, REWARD], "independent", id="one of each kind"),
        pytest.param([DISTILLED], ["qwen"], False, [], "none_left", id="one of two families is enough"),
        pytest.param([SMOL], [], False, [SMOL], "unknown", id="unknown writer"),
        pytest.param([], ["gpt"], False, [], "none_left", id="no model at all"),
        pytest.param([SMOL], ["smollm"], True, [SMOL], "overridden", id="override is on the record"),
        pytest.param([SMOL], ["gpt"], True, [SMOL], "independent", id="override without need"),
        pytest.param([SMOL, QWEN], ["qwen"], True, [SMOL], "independent", id="override of a model that is not asked"),
    ],
)
def test_who_is_asked(
    models: list[tuple[str, ModelIdentity]],
    families: list[str],
    override: bool,
    asked: list[tuple[str, ModelIdentity]],
    independence: str,
) -> None:
    found = appoint(models, writer(*families), override=override)
    assert found.asked == {name for name, _ in asked}
    assert found.independence is Independence(independence)


def test_refused_are_those_of_the_writers_families() -> None:
    models = [SMOL, QWEN, DISTILLED]
    assert appoint(models, writer("qwen"), override=False).refused == {QWEN[0], DISTILLED[0]}
    assert appoint(models, writer("qwen"), override=True).refused == frozenset()
