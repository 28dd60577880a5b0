"""Congruence of integers, and of fractions as residues: 1/2 is 4 modulo 7, for 2 * 4 leaves 1."""

from fractions import Fraction


def are_congruent(one: Fraction, other: Fraction, modulus: Fraction) -> bool | None:
    """Say whether two numbers are congruent; None where a fraction has no residue, its bottom having no inverse."""
    if ((one - other) / modulus).denominator == 1:
        return True
    if modulus.denominator > 1 or one.denominator == other.denominator == 1:
        return False
    try:
        first, second = (_residue(number, int(modulus)) for number in (one, other))
    except ValueError:
        return None
    return first == second


def _residue(number: Fraction, modulus: int) -> int:
    """Raises `ValueError` where the bottom has no inverse."""
    return number.numerator * pow(number.denominator, -1, modulus) % modulus
