"""Made-up word problems: a calculation that is right, and the same one with another result."""

from collections.abc import Callable
from random import Random

from verifiers.oracles.arithmetic import ArithmeticOracle
from verifiers.oracles.audit_items import Made, make

WHO = ("Ines", "Marek", "Tove", "Yusuf", "Priya", "Owen")
THINGS = ("buttons", "lanterns", "postcards", "walnuts", "tiles", "ropes")


def make_arithmetic(n: int, seed: int) -> list[Made]:
    """Return n problems over six domains."""
    return make(MAKERS, n, seed, lambda made: ArithmeticOracle())


def _names(random: Random) -> tuple[str, str]:
    return random.choice(WHO), random.choice(THINGS)


def _other(result: int, random: Random) -> int:
    """Return a result that is wrong as slips are: off by a little, by a ten, or with two digits exchanged."""
    digits = str(result)
    exchanged = int(digits[:-2] + digits[-1] + digits[-2]) if len(digits) > 1 else result
    slips = [result + 1, result - 1, result + 2, result + 10, result - 10, exchanged]
    return random.choice([slip for slip in slips if slip > 0 and slip != result])


def _told(domain: str, problem: str, step: str, result: int, random: Random, *before: str) -> Made:
    """Return a problem whose last step holds its result where `step` says `{}`."""
    wrong = step.format(_other(result, random))
    return Made(domain=domain, problem=problem, before=before, right=step.format(result), wrong=wrong)


def _add(random: Random) -> Made:
    (who, things), a, b = _names(random), random.randint(12, 480), random.randint(12, 480)
    problem = f"{who} has {a} {things} and is given {b} more. How many {things} does {who} have now?"
    return _told("addition", problem, f"Now {who} has {a} + {b} = {{}} {things}.", a + b, random)


def _subtract(random: Random) -> Made:
    (who, things), b, left = _names(random), random.randint(12, 300), random.randint(12, 300)
    problem = f"{who} has {b + left} {things} and sells {b} of them. How many {things} are left?"
    return _told("subtraction", problem, f"There are {b + left} - {b} = {{}} {things} left.", left, random)


def _multiply(random: Random) -> Made:
    (who, things), a, b = _names(random), random.randint(3, 39), random.randint(6, 39)
    problem = f"{who} fills {a} boxes with {b} {things} each. How many {things} are that?"
    return _told("multiplication", problem, f"The boxes hold {a} * {b} = {{}} {things}.", a * b, random)


def _divide(random: Random) -> Made:
    (who, things), a, b = _names(random), random.randint(3, 19), random.randint(11, 60)
    problem = f"{who} shares {a * b} {things} among {a} children evenly. How many does each child get?"
    return _told("division", problem, f"Each child gets {a * b} / {a} = {{}} {things}.", b, random)


def _two_steps(random: Random) -> Made:
    (who, things), a, b, c = _names(random), random.randint(3, 19), random.randint(6, 19), random.randint(11, 90)
    problem = f"{who} buys {a} bags of {b} {things} and finds {c} more. How many {things} does {who} have?"
    before = f"The bags hold {a} * {b} = {a * b} {things}."
    step = f"With those that were found there are {a * b} + {c} = {{}} {things}."
    return _told("two steps", problem, step, a * b + c, random, before)


def _answer(random: Random) -> Made:
    (who, things), a, b, c = _names(random), random.randint(3, 19), random.randint(6, 19), random.randint(3, 17)
    problem = f"{who} has {a} rows of {b} {things} and loses {c}. How many {things} does {who} still have?"
    left = a * b - c
    return Made(
        domain="answers",
        problem=problem,
        before=(f"The rows hold {a} * {b} = {a * b} {things}.", f"There remain {a * b} - {c} = {left} {things}."),
        right=str(left),
        wrong=str(_other(left, random)),
        is_answer=True,
    )


MAKERS: tuple[tuple[str, Callable[[Random], Made]], ...] = (
    ("addition", _add),
    ("subtraction", _subtract),
    ("multiplication", _multiply),
    ("division", _divide),
    ("two steps", _two_steps),
    ("answers", _answer),
)
