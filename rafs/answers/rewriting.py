"""Rewrites powers, roots, logarithms and angles so that equal expressions get equal normal forms.

sin(x) becomes (z - 1/z) / 2i with z = e^(ix), and e^(2x) the square of e^x, each e^(..) under a name of its own: what
is left are quotients of polynomials, which `rafs.grammar.polynomials` compares exactly. Special angles become roots.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, lcm

from rafs.grammar.expressions import evaluate
from rafs.grammar.polynomials import Monomial, Quotient, normal_form
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable

MAX_FACTORED = 10**6
"""Integers up to here are factored, by at most a thousand trial divisions."""
MAX_SCALE = 24
"""Largest common denominator of exponents."""
_PI: Monomial = (("pi", 1),)
_ONE: Monomial = ()
_I, _TWO = Variable(name="i"), Number(value=Fraction(2))


_DEGREE = Binary(op="/", left=Variable(name="pi"), right=Number(value=Fraction(180)))
_DEGREE_WORDS = frozenset(["°", "degree", "degrees", "deg"])
_NAMES = {"ⅇ": "e", "ⅈ": "i"}
"""How the grammar names the two constants once it is sure of them."""


class _Opaque(Exception):
    """Nothing to rewrite here: the call keeps its own name in the normal form."""


def standard(node: Expression) -> Expression:
    """Return the expression with fewer functions: sine, cosine, powers of e, and angles in radians."""
    match node:
        case Number(unit=unit) if unit in _DEGREE_WORDS:
            return Binary(op="*", left=Number(value=node.value), right=_DEGREE)
        case Variable():
            return Variable(name=_NAMES.get(node.name, node.name))
        case Unary():
            return Unary(op=node.op, operand=standard(node.operand))
        case Binary():
            return Binary(op=node.op, left=standard(node.left), right=standard(node.right))
        case Call():
            return _standard_call(node.name, [standard(arg) for arg in node.args])
    return node


def _standard_call(name: str, args: list[Expression]) -> Expression:
    match name, args:
        case "exp", [x]:
            return Binary(op="^", left=Variable(name="e"), right=x)
        case "lg", [x]:
            return Call(name="log", args=(Number(value=Fraction(10)), x))
        case (("tan" | "cot"), [x]):
            sine, cosine = Call(name="sin", args=(x,)), Call(name="cos", args=(x,))
            top, bottom = (sine, cosine) if name == "tan" else (cosine, sine)
            return Binary(op="/", left=top, right=bottom)
        case (("sec" | "csc"), [x]):
            below = Call(name="cos" if name == "sec" else "sin", args=(x,))
            return Binary(op="/", left=Number(value=Fraction(1)), right=below)
        case (("sinh" | "cosh"), [x]):
            up, down = (Binary(op="^", left=Variable(name="e"), right=each) for each in (x, Unary(op="-", operand=x)))
            return Binary(op="/", left=Binary(op="-" if name == "sinh" else "+", left=up, right=down), right=_TWO)
    return Call(name=name, args=tuple(args))


def rewritten_forms(a: Expression, b: Expression) -> tuple[Quotient, Quotient] | None:
    """Return the normal forms of both expressions after one common rewriting; None where a cap is hit."""
    rewriter = _Rewriter()
    try:
        for side in (a, b):
            rewriter.rewrite(side)  # finds the denominators of exponents, so that both sides share their atoms
        if any(scale > MAX_SCALE for scale in rewriter.scales.values()):
            return None
        first, second = (normal_form(rewriter.rewrite(side)) for side in (a, b))
    except RecursionError:
        return None
    return (first, second) if first is not None and second is not None else None


@dataclass(slots=True)
class _Rewriter:
    """The denominators with which each atom occurs in exponents and angles."""

    scales: dict[str, int] = field(default_factory=dict)

    def rewrite(self, node: Expression) -> Expression:
        match node:
            case Variable(name=name):
                scale = self.scales.get(f"r:{name}", 1)
                return node if scale == 1 else _power(Variable(name=f"r:{name}"), Fraction(scale))
            case Unary():
                return Unary(op=node.op, operand=self.rewrite(node.operand))
            case Binary(op="^"):
                return self._or_opaque(self._exponential, node)
            case Binary():
                return Binary(op=node.op, left=self.rewrite(node.left), right=self.rewrite(node.right))
            case Call():
                return self._or_opaque(self._called, node)
        return node

    def _or_opaque(self, rewrite: Callable[[Binary | Call], Expression], node: Binary | Call) -> Expression:
        try:
            return rewrite(node)
        except _Opaque:
            pass
        if isinstance(node, Call):
            return Call(name=node.name, args=tuple(self.rewrite(arg) for arg in node.args))
        return Binary(op=node.op, left=self.rewrite(node.left), right=self.rewrite(node.right))

    def _called(self, node: Binary | Call) -> Expression:
        assert isinstance(node, Call)
        match node.name, node.args:
            case (("sin" | "cos"), (angle,)):
                return self._angle(node.name, angle)
            case "sqrt", (inside,):
                return self._root(inside, Fraction(1, 2))
            case "root", (inside, degree) if (n := evaluate(degree)) is not None and n.denominator == 1 and n > 0:
                return self._root(inside, 1 / n)
            case "ln", (inside,):
                return self._logarithm(inside)
            case "log", (base, inside):
                return Binary(op="/", left=self._logarithm(inside), right=self._logarithm(base))
            case "binom", (above, below) if (k := evaluate(below)) is not None and k in range(7):
                return self.rewrite(_binomial(above, int(k)))
        raise _Opaque

    def _root(self, inside: Expression, power: Fraction) -> Expression:
        """Rewrite the root of `c x`: the root of c times the root of x."""
        form = normal_form(self.rewrite(inside))
        if form is None or form.bottom.keys() != {_ONE} or len(form.top) != 1:
            raise _Opaque
        ((monomial, coefficient),) = form.top.items()
        if len(monomial) != 1 or monomial[0][1] != 1 or coefficient <= 0 or monomial[0][0][0] in "√?@^ir":
            raise _Opaque
        name, constant = monomial[0][0], coefficient / form.bottom[_ONE]
        scale = self._scale(f"r:{name}", power)
        number: Expression = Number(value=constant)
        if constant != 1:
            number = (
                Call(name="root", args=(number, Number(value=1 / power)))
                if power != Fraction(1, 2)
                else _root_of(number)
            )
        return _times([number, _power(Variable(name=f"r:{name}"), power * scale)])

    def _exponential(self, node: Binary | Call) -> Expression:
        assert isinstance(node, Binary)
        exponent = evaluate(node.right)
        if exponent is not None:
            if exponent.denominator > 1 and isinstance(node.left, Variable) and node.left.name not in ("pi", "e", "i"):
                scale = self._scale(f"r:{node.left.name}", exponent)
                return _power(Variable(name=f"r:{node.left.name}"), exponent * scale)
            if exponent.denominator > 1 or not _is_variable(node.left, "e"):
                raise _Opaque
            return Binary(op="^", left=node.left, right=Number(value=exponent))
        if _is_variable(node.left, "e"):
            return _times([self._e_to(part, coefficient) for part, coefficient in self._linear(node.right)])
        base = evaluate(node.left)
        if base is None or base <= 0 or base == 1:
            raise _Opaque
        factors = [*_factors(base.numerator), *((prime, -power) for prime, power in _factors(base.denominator))]
        terms = self._linear(node.right)
        return _times([self._prime_to(p, part, k * c) for p, k in factors for part, c in terms])

    def _e_to(self, part: Monomial, coefficient: Fraction) -> Expression:
        """Return e^(coefficient * part); an imaginary exponent is an angle."""
        if part == _ONE and coefficient.denominator == 1:
            return Binary(op="^", left=Variable(name="e"), right=Number(value=coefficient))
        if ("i", 1) in part:
            rest = tuple(atom for atom in part if atom != ("i", 1))
            return self._turn([(rest, coefficient)])[0]
        return self._atom(f"^e{part}", coefficient)

    def _prime_to(self, prime: int, part: Monomial, coefficient: Fraction) -> Expression:
        if part == _ONE and coefficient.denominator == 1:
            return Number(value=Fraction(prime) ** int(coefficient))
        return self._atom(f"^{prime}{part}", coefficient)

    def _angle(self, name: str, angle: Expression) -> Expression:
        terms = self._linear(angle)
        if terms and all(part == _ONE for part, _ in terms):
            raise _Opaque  # nothing tells degrees from radians
        turn, back = self._turn(terms)
        sine = Binary(op="/", left=Binary(op="-", left=turn, right=back), right=_times([_TWO, _I]))
        cosine = Binary(op="/", left=Binary(op="+", left=turn, right=back), right=_TWO)
        return sine if name == "sin" else cosine

    def _turn(self, terms: Sequence[tuple[Monomial, Fraction]]) -> tuple[Expression, Expression]:
        """Return e^(i angle) and e^(-i angle)."""
        turns: list[Expression] = []
        backs: list[Expression] = []
        for part, coefficient in terms:
            if part == _PI and (coefficient * 12).denominator == 1:
                cosine, sine = _special(coefficient)
                turns.append(Binary(op="+", left=cosine, right=_times([_I, sine])))
                backs.append(Binary(op="-", left=cosine, right=_times([_I, sine])))
            else:
                turns.append(self._atom(f"@{part}", coefficient))
                backs.append(self._atom(f"@{part}", -coefficient))
        return _times(turns), _times(backs)

    def _logarithm(self, inside: Expression) -> Expression:
        """Return ln of a rational as a sum over its primes, and of e^k times it with k added."""
        form = normal_form(self.rewrite(inside))
        if form is None or len(form.top) != 1 or len(form.bottom) != 1:
            raise _Opaque
        ((above, p),), ((below, q),) = form.top.items(), form.bottom.items()
        if p / q <= 0 or not {name for name, _ in (*above, *below)} <= {"e"}:
            raise _Opaque
        total: Expression = Number(value=Fraction(dict(above).get("e", 0) - dict(below).get("e", 0)))
        value = p / q
        for integer, sign in ((value.numerator, 1), (value.denominator, -1)):
            for prime, power in _factors(integer):
                term = _times(
                    [Number(value=Fraction(sign * power)), Call(name="ln", args=(Number(value=Fraction(prime)),))]
                )
                total = Binary(op="+", left=total, right=term)
        return total

    def _linear(self, node: Expression) -> list[tuple[Monomial, Fraction]]:
        """Return an exponent or angle as a sum of coefficients times monomials."""
        form = normal_form(self.rewrite(node))
        if form is None or form.bottom.keys() != {_ONE}:
            raise _Opaque
        return [(part, coefficient / form.bottom[_ONE]) for part, coefficient in sorted(form.top.items())]

    def _atom(self, name: str, exponent: Fraction) -> Expression:
        return _power(Variable(name=name), exponent * self._scale(name, exponent))

    def _scale(self, name: str, exponent: Fraction) -> int:
        self.scales[name] = lcm(self.scales.get(name, 1), exponent.denominator)
        return self.scales[name]


def _power(base: Expression, exponent: Fraction) -> Expression:
    return Binary(op="^", left=base, right=Number(value=exponent))


def _times(parts: Sequence[Expression]) -> Expression:
    product: Expression = Number(value=Fraction(1))
    for part in parts:
        product = Binary(op="*", left=product, right=part)
    return product


def _is_variable(node: Expression, name: str) -> bool:
    return isinstance(node, Variable) and node.name == name


def _root_of(node: Expression) -> Expression:
    return Call(name="sqrt", args=(node,))


def _special(turns: Fraction) -> tuple[Expression, Expression]:
    """Return cosine and sine of that many times pi, a multiple of 1/12."""
    step = int(turns * 12) % 24
    return _cosine(step), _cosine((step - 6) % 24)


def _cosine(step: int) -> Expression:
    """Return the cosine of step * 15 degrees as (a√6 + b√2 + c√3 + d) / 4."""
    step = min(step, 24 - step)
    sign, step = (-1, 12 - step) if step > 6 else (1, step)
    a, b, c, d = ((0, 0, 0, 4), (1, 1, 0, 0), (0, 0, 2, 0), (0, 2, 0, 0), (0, 0, 0, 2), (1, -1, 0, 0), (0, 0, 0, 0))[
        step
    ]
    parts = [(a, 6), (b, 2), (c, 3), (d, 1)]
    terms = [_times([Number(value=Fraction(sign * n, 4)), _root_of(Number(value=Fraction(r)))]) for n, r in parts if n]
    total: Expression = Number(value=Fraction(0))
    for term in terms:
        total = Binary(op="+", left=total, right=term)
    return total


def _binomial(above: Expression, k: int) -> Expression:
    top = _times([Binary(op="-", left=above, right=Number(value=Fraction(j))) for j in range(k)])
    bottom = factorial(k)
    return Binary(op="/", left=top, right=Number(value=Fraction(bottom)))


def _factors(value: int) -> list[tuple[int, int]]:
    """Factor a positive integer; one that is too large is left alone."""
    if value > MAX_FACTORED:
        raise _Opaque
    found, divisor = [], 2
    while divisor * divisor <= value:
        power = 0
        while value % divisor == 0:
            value, power = value // divisor, power + 1
        found += [(divisor, power)] if power else []
        divisor += 1
    return [*found, (value, 1)] if value > 1 else found
