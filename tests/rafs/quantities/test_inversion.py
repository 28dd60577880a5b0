"""One equation, solved for each of its numbers."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from rafs.quantities.inversion import solve_for
from rafs.quantities.prose import compute
from rafs.types import Implied, Operand, SourceKind, Span

_NUMBERS = st.integers(1, 500).map(Fraction)


@given(_NUMBERS, _NUMBERS, st.sampled_from("+-*/"), st.integers(0, 1))
def test_an_operand_follows_from_the_result_and_the_other_operand(
    a: Fraction, b: Fraction, op: str, place: int
) -> None:
    result, nowhere = compute(op, [a, b]), Span(start=0, end=1)
    assert result is not None
    operands = tuple(Operand(text="", value=value, span=nowhere, source=SourceKind.UNGROUNDED) for value in (a, b))
    solved = solve_for(Implied(step=0, span=nowhere, value=result, op=op, operands=operands), place)
    if result == 0 and solved is None:
        return  # a product that is none, or a divisor of nothing
    assert solved is not None
    assert solved.value == (a, b)[place]
    assert compute(solved.op, [one.value for one in solved.operands]) == solved.value


def test_a_total_of_three_is_not_solved() -> None:
    operand = Operand(text="", value=Fraction(2), span=Span(start=0, end=1), source=SourceKind.PROBLEM)
    total = Implied(step=0, span=Span(start=3, end=4), value=Fraction(6), op="+", operands=(operand,) * 3)
    assert solve_for(total, 0) is None
