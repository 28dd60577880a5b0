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
    degree = _degree(equation, name)
    solutions = {
        value
        for link in links
        if isinstance(link.left, Variable) and link.left.name == name and link.right and not variables(link.right)
        if (value := evaluate(link.right)) is not None and _solves({**bindings, name: value}, equation)
    }
    return 0 < degree <= len(solutions)


def _degree(equation: Link, name: str) -> int:
    """Return the degree of a polynomial equation in one name; 0 for any other."""
    assert equation.right is not None
    form = normal_form(Binary(op="-", left=equation.left, right=equation.right))
    if form is None or form.atoms() != {name} or set(form.bottom) != {()}:
        return 0
    return max((power for term, value in form.top.items() if value for _, power in term), default=0)


def _solves(trial: Mapping[str, Fraction], equation: Link) -> bool:
    left = evaluate(equation.left, trial)
    return left is not None and equation.right is not None and left == evaluate(equation.right, trial)


def speaks_of_several(text: str) -> bool:
    """Say whether a step speaks of several values of one name."""
    return _ALTERNATIVES.search(text) is not None


def rule_solution(
    link: Link, equations: Sequence[Link], trial: Mapping[str, Fraction], *, alternatives: bool, since: int
) -> Ruling:
    """Substitute a solution in the equations of its step; FALSE only when it solves none, and no case is left out.

    Args:
        link: The name with the value that is said to be the solution.
        equations: The equations of the step in that name.
        trial: The values of all names, that one among them.
        alternatives: Whether the step speaks of several values.
        since: Where the name last got another value: an equation before that may be of another case.

    Returns:
        TRUE where it solves one of them, and either that one may have other solutions or it solves the others too: of
        two linear equations with different solutions, one is no rewriting of the other.
    """
    assert isinstance(link.left, Variable)
    name, value = link.left.name, trial[link.left.name]
    solved, wrong, contradicted = list[Link](), "", False
    for equation in equations:
        assert equation.right is not None
        left, right = evaluate(equation.left, trial), evaluate(equation.right, trial)
        if left is not None and left == right:
            solved.append(equation)
        elif left is None or right is None or (isinstance(link.right, Number) and link.right.decimals):
            if not solved:
                return _ruling(link, value, Truth.UNKNOWN, "the equation could not be computed")
        else:
            contradicted = contradicted or equation.left_span.start >= since
            wrong = wrong or f"with {name} = {show(value)} the equation reads {show(left)} = {show(right)}"
    if solved and (not contradicted or any(_degree(equation, name) != 1 for equation in solved)):
        return _ruling(link, value, Truth.TRUE, "solves it")
    doubted = link.doubts or any(equation.doubts or runs_on(equation) for equation in equations) or alternatives
    return _ruling(link, value, Truth.UNKNOWN if solved or doubted else Truth.FALSE, wrong)


def _ruling(link: Link, value: Fraction, truth: Truth, reason: str) -> Ruling:
    return Ruling(truth=truth, value=value, result=value, result_span=link.right_span, reason=reason)
