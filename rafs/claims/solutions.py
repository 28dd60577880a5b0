"""Solutions that a step gives for the equations in it: `3x = 12, so x = 4`."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.claims.relations import Link
from rafs.claims.verdicts import Ruling
from rafs.grammar.expressions import evaluate, show
from rafs.grammar.terms import Number, Variable
from rafs.types import Truth

_ALTERNATIVES = re.compile(r"\b(?:or|case|if|when|either|solutions|roots|where|test|try|form)\b", re.IGNORECASE)
"""Words of a step that speaks of several values of one name."""


def speaks_of_several(text: str) -> bool:
    """Say whether a step speaks of several values of one name."""
    return _ALTERNATIVES.search(text) is not None


def rule_solution(
    link: Link, equations: Sequence[Link], trial: Mapping[str, Fraction], *, alternatives: bool
) -> Ruling:
    """Substitute a solution in the equations of its step; FALSE only when it solves none, and no case is left out.

    Args:
        link: The name with the value that is said to be the solution.
        equations: The equations of the step in that name.
        trial: The values of all names, that one among them.
        alternatives: Whether the step speaks of several values.
    """
    assert isinstance(link.left, Variable)
    name, value = link.left.name, trial[link.left.name]
    wrong = ""
    for equation in equations:
        assert equation.right is not None
        left, right = evaluate(equation.left, trial), evaluate(equation.right, trial)
        if left is None or right is None or (isinstance(link.right, Number) and link.right.decimals and left != right):
            truth, reason = Truth.UNKNOWN, "the equation could not be computed"
        elif left == right:
            return Ruling(truth=Truth.TRUE, value=value, result=value, result_span=link.right_span, reason="solves it")
        else:
            truth, reason = Truth.FALSE, f"with {name} = {show(value)} the equation reads {show(left)} = {show(right)}"
        wrong = wrong or (reason if truth is Truth.FALSE else "")
        if truth is Truth.UNKNOWN:
            return Ruling(truth=truth, value=value, result=value, result_span=link.right_span, reason=reason)
    doubted = link.doubts or any(equation.doubts for equation in equations) or alternatives
    return Ruling(
        truth=Truth.UNKNOWN if doubted else Truth.FALSE,
        value=value,
        result=value,
        result_span=link.right_span,
        reason=wrong,
    )
