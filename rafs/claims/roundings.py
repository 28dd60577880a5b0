"""Says how near a written decimal is to a value: rounded, cut off, roughly."""

from fractions import Fraction

LOOSE_APPROXIMATION = Fraction(1, 20)
"""`≈` before a whole number is not called wrong below 5 %, for it may be rounded to tens or hundreds."""
CLOSE_APPROXIMATION = Fraction(1, 200)
"""`≈` before a decimal is not called wrong below 0.5 %: careless, but near."""


def is_rounding(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether `result`, written with that many decimals, is `value` correctly rounded (ties either way)."""
    return abs(value - result) * 2 * Fraction(10) ** decimals <= 1


def is_cut(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether `result` is `value` with the digits behind that many decimals cut off."""
    scale = Fraction(10) ** decimals
    return int(value * scale) / scale == result


def is_near(value: Fraction, result: Fraction, decimals: int) -> bool:
    """Say whether an approximation, though not a correct rounding, is near enough not to be called wrong."""
    return abs(value - result) <= (CLOSE_APPROXIMATION if decimals else LOOSE_APPROXIMATION) * abs(value)
