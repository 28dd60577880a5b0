"""How one case of a bank went, and what its fields mean in every area."""

import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

Fields = Mapping[str, Any]
Result = tuple["Outcome", object]
"""The outcome, and what was got."""


class Outcome(StrEnum):
    OK = "ok"
    MISS = "miss"
    HARD = "hard"


def worst(results: Iterable[Result]) -> Result:
    """Return the worst of several results on one case; nothing checked is a miss, never a pass."""
    return max(results, key=lambda result: list(Outcome).index(result[0]), default=(Outcome.MISS, "nothing to check"))


def generated(fields: Fields, name: str) -> Any:
    """Return a field as it stands, or made from its `_gen` form: prefix + repeat * times + mid + suffix."""
    if name in fields or f"{name}_gen" not in fields:
        return fields.get(name)
    parts, times = fields[f"{name}_gen"], fields[f"{name}_gen"].get("times", 0)
    middle = parts.get("repeat", "") * times + parts.get("mid", "") + parts.get("suffix_repeat", "") * times
    return parts.get("prefix", "") + middle + parts.get("suffix", "")


def graded(got: object, expected: Fields, field: str, *, soft: object) -> Result:
    """Compare with the expected value; `soft` is the value that says nothing definite, and so is only a miss."""
    allowed = [expected[field], *expected.get("also_ok", [])]
    never = expected.get("never", [])
    if any(same(got, value) for value in (never if isinstance(never, list) else [never])):
        return Outcome.HARD, got
    if any(same(got, value, expected.get("tolerance", 1e-9)) for value in allowed):
        return Outcome.OK, got
    return (Outcome.MISS if got == soft else Outcome.HARD), got


def same(got: object, value: object, tolerance: float = 1e-9) -> bool:
    """Whether two values are equal, numbers up to a tolerance; True is no number."""
    if isinstance(got, bool) or isinstance(value, bool):
        return got is value
    if isinstance(got, int | float) and isinstance(value, int | float):
        return abs(got - value) <= tolerance
    return got == value


def bare(text: str) -> str:
    return "".join(sign for sign in text if not sign.isspace() and unicodedata.category(sign) != "Cf")
