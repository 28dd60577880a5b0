"""What a reading must settle before it is computed: degrees or radians, the base of `log`, and what `e` and `i` are."""

from collections.abc import Callable, Set
from dataclasses import replace
from fractions import Fraction

from rafs.claims.relations import Link
from rafs.grammar.angles import has_inverse, in_radians, is_bare
from rafs.grammar.functions import TRIGONOMETRIC
from rafs.grammar.terms import (
    Binary,
    Call,
    Expression,
    Number,
    Unary,
    Variable,
    calls,
    in_degrees,
    literal_of,
    mapped,
    variables,
    walk,
)
from rafs.immutable import immutable

_BASES = (Fraction(10), None, Fraction(2))
"""What `log` without a base may mean; None is Euler's number."""


@immutable
class Readings:
    """All that a link may mean, the usual meaning first, and whether a contradiction in all of them is certain."""

    links: tuple[Link, ...]
    certain: bool
    first_counts: bool = False
    """The first reading is what mathematics means by it, so that its truth is enough."""
    logarithms: bool = False
    """They differ in the base of a logarithm, which may also be any other."""


def read_conventions(link: Link, bound: Set[str]) -> Readings:
    """Settle names and units of angles.

    Args:
        link: A link whose sides are no plain arithmetic.
        bound: Names that the trace gives a value.
    """
    assert link.right is not None
    certain = True
    free = link.names - bound
    for name, constant, is_clear in ((_I, _IMAGINARY, _is_imaginary), (_E, _EULER, _is_euler)):
        if name.name in free:
            certain = certain and is_clear(link)
            link = _mapped(link, _exchange(name, constant))
    link = _angles_alike(link)
    named = [call for side in _sides(link) for call in calls(side)]
    if not named:
        return Readings(links=(link,), certain=certain)
    if any(_is_baseless(node) for node in named):
        based = tuple(_mapped(link, _give_base(base)) for base in _BASES)
        return Readings(links=based, certain=certain, logarithms=True)
    if any(_is_bare_call(node) for node in named):
        degrees = _mapped(link, lambda node: _call_in_degrees(node) if _is_bare_call(node) else node)
        return Readings(links=(link, degrees), certain=certain, first_counts=True)
    left, right = _sides(link)
    for one, other in ((left, right), (right, left)):
        if has_inverse(one) and not has_inverse(other) and not variables(other) and is_bare(other):
            degrees = replace(link, left=in_radians(left)) if other is left else replace(link, right=in_radians(right))
            return Readings(links=(link, degrees), certain=certain, first_counts=True)
    return Readings(links=(link,), certain=certain)


def _sides(link: Link) -> tuple[Expression, Expression]:
    assert link.right is not None
    return link.left, link.right


def _mapped(link: Link, change: Callable[[Expression], Expression]) -> Link:
    left, right = (mapped(side, change) for side in _sides(link))
    return replace(link, left=left, right=right)


def _is_baseless(node: Expression) -> bool:
    return isinstance(node, Call) and node.name in ("log", "lg") and len(node.args) == 1


Change = Callable[[Expression], Expression]


def _exchange(name: Variable, constant: Variable) -> Change:
    return lambda node: constant if node == name else node


def _give_base(base: Fraction | None) -> Change:
    def change(node: Expression) -> Expression:
        if not isinstance(node, Call) or not _is_baseless(node):
            return node
        return replace(node, name="ln") if base is None else Call(name="log", args=(Number(value=base), *node.args))

    return change


def _is_bare_call(node: Expression) -> bool:
    return isinstance(node, Call) and node.name in TRIGONOMETRIC and is_bare(node.args[0])


def _call_in_degrees(node: Expression) -> Expression:
    assert isinstance(node, Call)
    return replace(
        node, args=(mapped(node.args[0], lambda leaf: replace(leaf, unit="°") if isinstance(leaf, Number) else leaf),)
    )


def _angles_alike(link: Link) -> Link:
    """Write a side in degrees in radians where the other is: `arcsin(1/2) = 30°`, `180° = pi`."""
    left, right = _sides(link)
    outside = [in_degrees(side) for side in (left, right)]
    if outside[0] == outside[1]:
        return link
    other = right if outside[0] else left
    if not has_inverse(other) and not any(node == Variable(name="pi") for node in walk(other)):
        return link
    return replace(link, left=in_radians(left)) if outside[0] else replace(link, right=in_radians(right))


_I, _E = Variable(name="i"), Variable(name="e")
_IMAGINARY, _EULER = Variable(name="ⅈ"), Variable(name="ⅇ")


def _has(expression: Expression, name: Variable) -> bool:
    return any(node == name for node in walk(expression))


def _is_imaginary(link: Link) -> bool:
    """Say whether `i` can only be the imaginary unit, and no index and no unknown of an equation."""
    left, right = _sides(link)
    sums = 0
    for node in (*walk(left), *walk(right)):
        match node:
            case Binary(op="^", left=Variable(name="i")) if node is not left or _is_unit(right):
                return True
            case Binary(op="^" | "*" | "/") if _is_complex_sum(node.left) or (
                node.op != "^" and _is_complex_sum(node.right)
            ):
                return True
            case Binary(op="/", left=Number(), right=Variable(name="i")) if _is_unit(left) and _is_unit(right):
                return True
            case Call(name="abs" | "conj" | "Re" | "Im" | "arg" | "exp") if _has(node, _I):
                return True
            case Binary(op="^", left=Variable(name="e")) if _has(node.right, _I):
                return True
            case Call(name="sqrt") if not _has(node, _I) and _is_negative(node.args[0]):
                return True
            case Binary(op="+" | "-"):
                sums += _is_complex_sum(node)
    return sums > 1


def _is_unit(expression: Expression) -> bool:
    """Say whether it is 1, -1, i or -i: what powers of i are."""
    match expression:
        case Unary(op="-"):
            return _is_unit(expression.operand)
        case Number():
            return abs(expression.value) == 1
        case Binary(op="/"):
            return _is_unit(expression.left) and _is_unit(expression.right)
    return expression == _I


def _is_negative(expression: Expression) -> bool:
    return isinstance(expression, Unary) and isinstance(expression.operand, Number)


def _is_complex_sum(expression: Expression) -> bool:
    """Say whether it reads `a + bi`."""
    if not isinstance(expression, Binary) or expression.op not in "+-":
        return False
    return _has(expression.left, _I) != _has(expression.right, _I)


def _is_euler(link: Link) -> bool:
    """Say whether `e` can only be Euler's number."""
    if link.relation == "≈":
        return True
    for side in _sides(link):
        for node in walk(side):
            if isinstance(node, Call) and node.name in ("ln", "exp", "integral", "derivative") and _has(side, _E):
                return True
            if isinstance(node, Binary) and node.op == "^" and node.left == _E and not isinstance(node.right, Number):
                return True
    return False


def states_constant(link: Link, bound: Set[str]) -> bool:
    """Say whether a link tells the digits of pi or e rather than giving a name its value: `π ≈ 3.14`, `e ≈ 2.72`."""
    literal = literal_of(link.right)
    if not isinstance(link.left, Variable) or link.relation != "≈" or literal is None or link.left.name in bound:
        return False
    return link.left.name == "pi" or (link.left.name == "e" and literal.decimals > 1)


def states_identity(left: Expression, right: Expression) -> bool:
    """Say whether an equation can only mean every value of its names: a derivative, an integral, a sum to n."""
    named = {call.name for side in (left, right) for call in calls(side)}
    if named & {"derivative", "integral"}:
        return True
    return bool(named & {"sum", "product"}) and variables(left) == variables(right)
