"""The score has the properties that its users rely on."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.aggregation import aggregate
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured

WEIGHTS = {
    ComponentName.VALIDITY: 0.35,
    ComponentName.SUPPORT: 0.30,
    ComponentName.CONSENSUS: 0.20,
    ComponentName.STABILITY: 0.15,
}
EPSILON = 1e-9
values = st.floats(0, 1)
measured = values.map(lambda v: Measured(value=v, coverage=1.0))
maybe: st.SearchStrategy[Component] = st.one_of(measured, st.just(Unmeasured(reason="no_samples")))
four = st.fixed_dictionaries(dict.fromkeys(ComponentName, measured))
some = st.fixed_dictionaries(dict.fromkeys(ComponentName, maybe))


def score(components: Mapping[ComponentName, Component]) -> float:
    result = aggregate(components, WEIGHTS, EPSILON)
    assert result is not None
    return result.score


@given(some)
def test_the_score_lies_between_0_and_100(components: Mapping[ComponentName, Component]) -> None:
    result = aggregate(components, WEIGHTS, EPSILON)
    assert result is None or 0 <= result.score <= 100


@given(four, st.sampled_from(ComponentName), values)
def test_the_score_is_monotone_in_each_component(
    components: dict[ComponentName, Measured], name: ComponentName, other: float
) -> None:
    raised = components | {name: Measured(value=max(other, components[name].value), coverage=1.0)}
    assert score(raised) >= score(components) - 1e-9


@given(four, st.sampled_from(ComponentName))
def test_one_component_at_0_caps_the_score_at_5(components: dict[ComponentName, Measured], name: ComponentName) -> None:
    assert score(components | {name: Measured(value=0.0, coverage=1.0)}) <= 5


def test_a_perfect_trace_scores_100() -> None:
    assert score(dict.fromkeys(ComponentName, Measured(value=1.0, coverage=1.0))) == 100.0


@given(some)
def test_contributions_sum_to_the_logarithm_of_the_score(components: Mapping[ComponentName, Component]) -> None:
    result = aggregate(components, WEIGHTS, EPSILON)
    if result is not None:
        assert sum(result.log_contributions.values()) == pytest.approx(math.log(result.score / 100), abs=1e-8)


@given(some)
def test_what_is_unmeasured_has_no_weight_and_no_contribution(
    components: Mapping[ComponentName, Component],
) -> None:
    result = aggregate(components, WEIGHTS, EPSILON)
    names = {name for name, part in components.items() if isinstance(part, Measured)}
    if result is None:
        assert not names
        return
    assert set(result.weights) == set(result.log_contributions) == names
    assert sum(result.weights.values()) == pytest.approx(1)
    assert result.coverage_of_measured == pytest.approx(1)
    assert (result.coverage == pytest.approx(1)) == (names == set(ComponentName))


def test_a_geometric_mean_by_hand() -> None:
    components: dict[ComponentName, Component] = {
        ComponentName.VALIDITY: Measured(value=0.8, coverage=1.0),
        ComponentName.SUPPORT: Measured(value=0.5, coverage=0.5),
        ComponentName.CONSENSUS: Unmeasured(reason="no_samples"),
        ComponentName.STABILITY: Unmeasured(reason="no_samples"),
    }
    result = aggregate(components, WEIGHTS, 0.0)
    assert result is not None
    assert result.score == pytest.approx(100 * 0.8 ** (0.35 / 0.65) * 0.5 ** (0.30 / 0.65))
    assert result.coverage == pytest.approx(0.35 + 0.30 * 0.5)
    assert result.coverage_of_measured == pytest.approx((0.35 + 0.30 * 0.5) / 0.65)
