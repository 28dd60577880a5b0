"""Logarithms of rational numbers as sums of logarithms of primes, so that `ln 8 = 3 ln 2` is seen."""

from fractions import Fraction

from rafs.grammar.polynomials import OPAQUE_SIGN, named
from rafs.grammar.terms import Undefined, Unknown
from rafs.grammar.values import Scalar, calculate

MAX_PRIME = 1000
"""Primes up to here are drawn out; what remains must be below its square, so that it is a prime itself."""


def logarithm_of(value: Fraction) -> Scalar:
    """Return the natural logarithm; raises `Undefined` where there is none, `Unknown` over the caps."""
    if value <= 0:
        raise Undefined
    total: Scalar = Fraction(0)
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, power in _prime_powers(number):
            term = calculate("*", Fraction(sign * power), named(f"{OPAQUE_SIGN}ln {prime}"))
            total = calculate("+", total, term)
    return total


def _prime_powers(number: int) -> list[tuple[int, int]]:
    if number > MAX_PRIME**10:
        raise Unknown
    found, prime = [], 2
    while number > 1 and prime <= MAX_PRIME:
        power = 0
        while number % prime == 0:
            number, power = number // prime, power + 1
        if power:
            found.append((prime, power))
        prime += 1
    if number >= MAX_PRIME**2:
        raise Unknown
    return found + ([(number, 1)] if number > 1 else [])
