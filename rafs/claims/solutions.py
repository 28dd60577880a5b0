"""Solutions that a step gives for the equations in it: `3x = 12, so x = 4`."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.claims.equation_chains import runs_on
from rafs.claims.relations import Link
from rafs.claims.verdicts import Ruling
from rafs.grammar.expressions import evaluate, show
from rafs.grammar.polynomials import normal_form
from rafs.grammar.terms import Binary, Number, Variable, variables
from rafs.types import Truth

_ALTERNATIVES = re.compile(r"\b(?:or|case|if|when|either|solutions|roots|where|test|try|form)\b", re.IGNORECASE)
"""Words of a step that speaks of several values of one name."""

_ALL = re.compile(
    r"\b(?:only|unique(?:ly)?|sole|single|all|exactly|no other|the solution|solution set"
    r"|(?:solutions|roots|zeros|zeroes)\b(?! include))\b",
    re.IGNORECASE,
)
"""Words by which a value is told to be all that solves an equation."""


def speaks_of_all(text: str) -> bool:
    """Say whether a step may tell all the solutions of an equation rather than one."""
    return _ALL.search(text) is not None


def are_all(equation: Link, name: str, links: Sequence[Link], bindings: Mapping[str, Fraction]) -> bool:
    """Say whether a step names as many solutions of an equation as it can have."""
    assert equation.right is not None
    form = normal_form(Binary(op="-", left=equation.left, right=equation.right))
    if form is None or form.atoms() != {name} or set(form.bottom) != {()}:
        return False
    degree = max((power for term, value in form.top.items() if value for _, power in term), default=0)
    solutions = {
        value
        for link in links
        if isinstance(link.left, Variable) and link.left.name == name and link.right and not variables(link.right)
        if (value := evaluate(link.right)) is not None and _solves({**bindings, name: value}, equation)
    }
    return 0 < degree <= len(solutions)


def _solves(trial: Mapping[str, Fraction], equation: Link) -> bool:
    left = evaluate(equation.left, trial)
    return left is not None and equation.right is not None and left == evaluate(equation.right, trial)


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
    doubted = link.doubts or any(equation.doubts or runs_on(equation) for equation in equations) or alternatives
    return Ruling(
        truth=Truth.UNKNOWN if doubted else Truth.FALSE,
        value=value,
        result=value,
        result_span=link.right_span,
        reason=wrong,
    )
