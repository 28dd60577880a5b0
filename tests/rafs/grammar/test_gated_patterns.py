"""A gated pattern finds what it would find without its gate: every match holds a sign, not far behind its start."""

from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rafs.answers import markers
from rafs.claims import assertions, other_arithmetic, reader, retractions, told_bases
from rafs.grammar.gated_patterns import GatedPattern
from rafs.quantities import ending, grounding
from rafs.splitting import step_kinds

MODULES = (markers, assertions, other_arithmetic, reader, retractions, told_bases, ending, grounding, step_kinds)


def gated_in(module: ModuleType) -> Iterator[GatedPattern]:
    return (value for value in vars(module).values() if isinstance(value, GatedPattern))


@pytest.mark.parametrize(
    "gated",
    [pytest.param(one, id=f"{m.__name__}-{at}") for m in MODULES for at, one in enumerate(gated_in(m))],
)
def test_the_gate_changes_no_match(gated: GatedPattern) -> None:
    @settings(max_examples=150, deadline=None)
    @given(st.from_regex(gated.pattern, fullmatch=False))
    def check(text: str) -> None:
        expected = [found.span() for found in gated.pattern.finditer(text)]
        assert [found.span() for found in gated.finditer(text)] == expected

    check()


def test_a_sign_counts_in_letters_of_any_size() -> None:
    gated = GatedPattern(r"\bwait\b", ["wait"])
    assert gated.search("No, WAIT.") is not None
    assert [found.start() for found in gated.finditer("Wait, wait")] == [0, 6]


def test_nothing_is_found_without_a_sign() -> None:
    gated = GatedPattern(r"\bwait\b", ["wait"])
    assert gated.search("Hold on.") is None
    assert list(gated.finditer("Hold on.")) == []
