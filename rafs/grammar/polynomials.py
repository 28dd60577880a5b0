"""Exact normal forms: a quotient of polynomials over the rationals, square roots, i and names."""

from fractions import Fraction
from math import isqrt, prod

from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable
from rafs.immutable import placed

Monomial = tuple[tuple[str, int], ...]
Polynomial = dict[Monomial, Fraction]

MAX_TERMS = 120
"""Terms of one polynomial; a product of two such takes milliseconds."""
MAX_POWER = 24
"""Largest exponent that is multiplied out."""
MAX_BITS = 4000
"""Bits of one coefficient, some 1200 digits."""
MAX_RADICAND = 10**8
"""Largest integer whose square factors are drawn out of a root, by 10^4 trial divisions."""
_CONSTANTS = frozenset(["pi", "e"])
_ROOT, OPAQUE_SIGN = "√", "?"
"""First signs of the atoms that are square roots, and of those that are only known by their text."""


_ZERO, _ONE = Fraction(0), Fraction(1)
NO_DIVISOR: Polynomial = {(): _ONE}
"""The bottom of whatever is no fraction; one and the same, so that it need not be multiplied by."""


class TooLarge(Exception):
    """A cap was hit, or the form is outside of the normal form."""


@placed
class Quotient:
    """`top / bottom`, not reduced; two of them are compared by cross multiplication."""

    top: Polynomial
    bottom: Polynomial

    def atoms(self) -> frozenset[str]:
        """Return the names, roots and opaque calls in it."""
        return frozenset(atom for side in (self.top, self.bottom) for term in side for atom, _ in term)

    def is_opaque(self) -> bool:
        """Say whether a call that is only known by its text occurs, so that inequality is not proven."""
        return any(
            atom.startswith(OPAQUE_SIGN) for side in (self.top, self.bottom) for term in side for atom, _ in term
        )

    def variables(self) -> frozenset[str]:
        """Return the names without a value of their own."""
        return frozenset(
            a for a in self.atoms() if a not in _CONSTANTS and a != "i" and a[0] not in (_ROOT, OPAQUE_SIGN)
        )


def normal_form(expression: Expression) -> Quotient | None:
    """Multiply an expression out; None where a cap is hit or it divides by zero."""
    try:
        return _form(expression)
    except (TooLarge, RecursionError):
        return None


def same_quotient(a: Quotient, b: Quotient) -> bool | None:
    """Say whether two forms are identical; None where a cap was hit or an opaque call hides the answer."""
    try:
        difference = _add(_multiply(a.top, b.bottom), _multiply(b.top, a.bottom), -1)
    except TooLarge:
        return None
    if not difference:
        return True
    return None if a.is_opaque() or b.is_opaque() else False


def proportional(a: Polynomial, b: Polynomial) -> bool:
    """Say whether one polynomial is a rational multiple, not 0, of the other."""
    if a.keys() != b.keys() or not a:
        return False
    return len({a[term] / b[term] for term in a}) == 1


def show_polynomial(polynomial: Polynomial) -> str:
    """Write a polynomial in a fixed order of terms, in base 16: in base 10 Python refuses more than 4300 digits."""
    ratios = {term: coefficient.as_integer_ratio() for term, coefficient in polynomial.items()}
    return "+".join(f"{top:x}/{bottom:x}{term}" for term, (top, bottom) in sorted(ratios.items()))


def _form(expression: Expression) -> Quotient:
    match expression:
        case Number():
            form = constant(expression.value)
        case Variable():
            form = named(expression.name)
        case Unary(op="-"):
            form = combine("-", constant(Fraction(0)), _form(expression.operand))
        case Binary(op="^"):
            form = raised(_form(expression.left), _form(expression.right))
        case Binary(op="+" | "-" | "*" | "/"):
            form = combine(expression.op, _form(expression.left), _form(expression.right))
        case Call(name="sqrt"):
            form = square_root(_form(expression.args[0]))
        case Call(name=name) if name != "ambiguous":
            form = _opaque(name, *map(_form, expression.args))
        case _:
            raise TooLarge
    return form


def named(name: str) -> Quotient:
    """Return a name as a form."""
    return Quotient({((name, 1),): _ONE}, NO_DIVISOR)


def constant(value: Fraction) -> Quotient:
    """Return a number as a form."""
    return Quotient({(): value} if value else {}, NO_DIVISOR)


def rational_of(form: Quotient) -> Fraction | None:
    """Return the rational number that a form is, if it is one."""
    if any(form.top) or any(form.bottom):  # a term with an atom
        return None
    value = form.top.get((), _ZERO)
    return value if form.bottom is NO_DIVISOR else value / form.bottom[()]


def combine(op: str, a: Quotient, b: Quotient) -> Quotient:
    """Return `a op b` for one of + - * /; raises `TooLarge` over a cap and for a division by zero."""
    if op in "*/":
        if op == "/":
            if not b.top:
                raise TooLarge
            b = Quotient(b.bottom, b.top)
        return Quotient(_multiply(a.top, b.top), _multiply(a.bottom, b.bottom))
    if a.bottom is b.bottom or a.bottom == b.bottom:
        return Quotient(_add(a.top, b.top, 1 if op == "+" else -1), a.bottom)
    left, right = _multiply(a.top, b.bottom), _multiply(b.top, a.bottom)
    return Quotient(_add(left, right, 1 if op == "+" else -1), _multiply(a.bottom, b.bottom))


def raised(base: Quotient, exponent: Quotient) -> Quotient:
    """Return a power; one whose exponent is no whole number and not 1/2 is opaque."""
    power = rational_of(exponent)
    if power == Fraction(1, 2):
        return square_root(base)
    if power is None or power.denominator != 1:
        return _opaque("^", base, exponent)
    known = rational_of(base)
    limit = MAX_POWER if known is None else MAX_BITS
    if abs(power) > limit or (power < 0 and not base.top):
        raise TooLarge
    if known is not None:
        if abs(power) * max(known.numerator.bit_length(), known.denominator.bit_length()) > MAX_BITS:
            raise TooLarge
        return constant(Fraction(known ** int(power)))
    if power < 0:
        base = Quotient(base.bottom, base.top)
    result = constant(Fraction(1))
    for _ in range(abs(int(power))):
        result = combine("*", result, base)
    return result


def square_root(inside: Quotient) -> Quotient:
    """Return the principal root, with the square factors drawn out; that of a form with names is opaque."""
    value = rational_of(inside)
    if value is None:
        return _opaque("sqrt", inside)
    radicand = abs(value.numerator) * value.denominator
    if radicand > MAX_RADICAND:
        root = isqrt(radicand)
        if root * root != radicand:
            return _opaque("sqrt", inside)
        radicand, outside = 1, root
    else:
        outside = next(n for n in range(isqrt(radicand), 0, -1) if radicand % (n * n) == 0) if radicand else 0
        radicand = radicand // (outside * outside) if outside else 1
    atoms = [(f"{_ROOT}{radicand}", 1)] if radicand != 1 else []
    atoms += [("i", 1)] if value < 0 else []
    coefficient = Fraction(outside, value.denominator)
    return Quotient({tuple(sorted(atoms)): coefficient} if coefficient else {}, NO_DIVISOR)


def _opaque(name: str, *args: Quotient) -> Quotient:
    shown = ";".join(f"{show_polynomial(arg.top)}/{show_polynomial(arg.bottom)}" for arg in args)
    return Quotient({((f"{OPAQUE_SIGN}{name}({shown})", 1),): _ONE}, NO_DIVISOR)


def _add(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    total = dict(a)
    for term, coefficient in b.items():
        before = total.get(term, _ZERO)
        total[term] = before + coefficient if sign > 0 else before - coefficient
    return _capped({term: coefficient for term, coefficient in total.items() if coefficient})


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    if a is NO_DIVISOR or b is NO_DIVISOR:
        return _capped(b if a is NO_DIVISOR else a)
    product: Polynomial = {}
    for left, p in a.items():
        for right, q in b.items():
            term, factor = _monomial(left, right)
            coefficient = p if q is _ONE else q if p is _ONE else p * q
            if factor != 1:
                coefficient *= factor
            product[term] = product[term] + coefficient if term in product else coefficient
    return _capped({term: coefficient for term, coefficient in product.items() if coefficient})


def _monomial(a: Monomial, b: Monomial) -> tuple[Monomial, int]:
    """Multiply two monomials; square roots meet in one root and i*i is -1."""
    if not a or not b:
        return a or b, 1
    powers: dict[str, int] = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    roots = [int(atom[1:]) for atom, power in powers.items() if atom[0] == _ROOT for _ in range(power)]
    factor = 1
    if len(roots) > 1:
        powers = {atom: power for atom, power in powers.items() if atom[0] != _ROOT}
        radicand = prod(roots)
        if radicand > MAX_RADICAND:
            raise TooLarge
        factor = next(n for n in range(isqrt(radicand), 0, -1) if radicand % (n * n) == 0)
        if radicand != factor * factor:
            powers[f"{_ROOT}{radicand // factor**2}"] = 1
    if powers.get("i", 0) > 1:
        factor *= (-1) ** (powers["i"] // 2)
        powers["i"] %= 2
    return tuple(sorted((atom, power) for atom, power in powers.items() if power)), factor


def _capped(polynomial: Polynomial) -> Polynomial:
    if len(polynomial) > MAX_TERMS:
        raise TooLarge
    for coefficient in polynomial.values():
        top, bottom = coefficient.as_integer_ratio()
        if top.bit_length() > 2 * MAX_BITS or bottom.bit_length() > 2 * MAX_BITS:
            raise TooLarge
    return polynomial
