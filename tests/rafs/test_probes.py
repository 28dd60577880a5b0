"""The numbers of the complementary probes follow their formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.outcomes import Measured, Unmeasured
from rafs.probes import ProbeKind, ProbePoint, area_over_curve, conclude_probe, share_changed, share_same


def point(position: float, same: int, read: int = 2, asked: int = 2) -> ProbePoint:
    return ProbePoint(step=0, position=position, same=same, read=read, asked=asked)


@pytest.mark.parametrize(
    ("points", "area"),
    [
        pytest.param([point(0, 2), point(1, 2)], 0.0, id="the answer stands whatever is cut"),
        pytest.param([point(0, 0), point(1, 0)], 1.0, id="it never stands"),
        pytest.param([point(0, 0), point(0.5, 0), point(1, 2)], 0.75, id="only the second half brings it"),
        pytest.param([point(0.25, 0), point(0.75, 2)], 0.5, id="over the range that was probed"),
        pytest.param([point(0, 0), point(0, 2), point(1, 2)], 0.25, id="one place twice"),
        pytest.param([point(1, 2), point(0, 0)], 0.5, id="in any order"),
    ],
)
def test_the_area_over_the_curve_is_by_trapezoids(points: list[ProbePoint], area: float) -> None:
    part = area_over_curve(points)
    assert isinstance(part, Measured)
    assert part.value == pytest.approx(area)


def test_one_place_is_no_curve() -> None:
    part = area_over_curve([point(0, 0, read=0), point(1, 2)])
    assert part == Unmeasured(reason="too_few_answers", detail="answers could be read at 1 of 2 places")


def test_no_place_is_nothing_to_probe() -> None:
    assert area_over_curve([]) == share_changed([]) == share_same([]) == Unmeasured(reason="nothing_to_probe")


def test_what_could_not_be_read_reduces_coverage_and_changes_no_value() -> None:
    assert share_changed([point(0, 1, read=1), point(1, 0, read=0)]) == Measured(value=0.0, coverage=0.25)


def test_every_place_weighs_the_same() -> None:
    assert share_changed([point(0, 0, read=1), point(1, 2)]) == Measured(value=0.5, coverage=0.75)


def test_only_the_controls_have_a_baseline() -> None:
    findings = [conclude_probe(kind, [point(0, 2), point(1, 2)], [point(0, 1)]) for kind in ProbeKind]
    assert [one.kind for one in findings if one.baseline is not None] == [
        ProbeKind.PARAPHRASE,
        ProbeKind.UNEDITED,
    ]


counted = st.integers(0, 4).flatmap(lambda read: st.tuples(st.integers(0, read), st.just(read)))
places = st.lists(
    st.builds(lambda x, n: point(x, n[0], read=n[1], asked=4), st.floats(0, 1), counted), min_size=1, max_size=8
)


@given(places)
def test_every_value_is_a_share(points: list[ProbePoint]) -> None:
    for formula in (area_over_curve, share_changed, share_same):
        part = formula(points)
        assert isinstance(part, Unmeasured) or (-1e-9 <= part.value <= 1 + 1e-9 and 0 < part.coverage <= 1)
