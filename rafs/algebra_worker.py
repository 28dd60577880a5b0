"""The process behind `rafs.algebra`: reads trees as JSON lines, answers with a truth. The only file with sympy.

It never sees text of a trace, only nested lists that our own parser made, and builds sympy nodes from them one by one.
Started as `python -m rafs.algebra_worker`; it ends when its input does.
"""

import json
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy

CPU_LIMIT_S = 0.25
"""CPU time of one comparison; a signal ends it, so that the warm process survives. Honest identities take 10 ms."""
PROCESS_CPU_LIMIT_S = 3600
"""CPU time of one process, after which the kernel ends it and another takes over."""
MEMORY_LIMIT_BYTES = 1 << 30
"""Address space of the process."""
MAX_EXPONENT = 400
"""Largest exponent; beyond it a power is not built."""
MAX_FACTORIAL = 300
POINTS = ((2, 3, 5, 7, 11), (7, 2, 13, 3, 5), (1, 4, 9, 6, 8), (-3, -2, -5, -7, -4))
"""Values for the variables, in turn; the last row is negative, where roots may part from what was meant."""
DIGITS = 60
"""Digits to which two numbers are computed before they count as different."""


class _OverLimit(BaseException):
    """A limit of this process was reached; not an `Exception`, so that nothing inside sympy swallows it."""


def build(tree: Any) -> "sympy.Expr":
    """Build a sympy expression from a tree of `rafs.grammar.expressions.to_tree`.

    Raises:
        _OverLimit: The tree holds an operation that is not offered, or one that is too large.
    """
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    head, *rest = tree
    match head, rest:
        case "number", [str(text)]:
            return sympy.Rational(text)
        case "variable", ["pi"]:
            return sympy.pi
        case "variable", [str(name)]:
            return sympy.Symbol(name, real=True)
        case "-", [operand]:
            return -build(operand)
        case str(op), [left, right] if op in "+-*/^":
            return _combine(op, build(left), build(right))
        case "!", [operand]:
            return sympy.factorial(_small(build(operand)))
        case "call", ["sqrt", value]:
            return sympy.sqrt(build(value))
        case "call", ["root", value, degree]:
            return _power(build(value), 1 / _nonzero(build(degree)))
        case "call", ["abs", value]:
            return sympy.Abs(build(value))
    raise _OverLimit


def _combine(op: str, left: "sympy.Expr", right: "sympy.Expr") -> "sympy.Expr":
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / _nonzero(right)
    return _power(left, right)


def _nonzero(value: "sympy.Expr") -> "sympy.Expr":
    if value.is_zero:
        raise _OverLimit
    return value


def _small(value: "sympy.Expr") -> "sympy.Expr":
    if not value.is_Integer or not 0 <= value <= MAX_FACTORIAL:
        raise _OverLimit
    return value


def _power(base: "sympy.Expr", exponent: "sympy.Expr") -> "sympy.Expr":
    if exponent.is_number and not (exponent.is_Rational and abs(exponent) <= MAX_EXPONENT):
        raise _OverLimit
    if (
        base.is_number
        and not exponent.is_number
        and any(atom.is_number and abs(atom) > MAX_EXPONENT for atom in exponent.atoms())
    ):
        raise _OverLimit
    return base**exponent


def compare(left: "sympy.Expr", right: "sympy.Expr") -> str:
    """Return `true`, `false` or `unknown`: probes at points first, then a proof."""
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    difference = left - right
    names = sorted(difference.free_symbols, key=str)
    rows = POINTS if names else POINTS[:1]
    for row in rows:
        point = {name: sympy.Integer(row[index % len(row)] + index // len(row)) for index, name in enumerate(names)}
        value = difference.subs(point)
        if value.is_finite and value.is_real and abs(value.evalf(DIGITS)) > sympy.Float(10) ** (-DIGITS // 2):
            return "unknown" if row[0] < 0 else "false"
    for simplify in (sympy.expand, sympy.cancel, sympy.radsimp, sympy.simplify):
        if simplify(difference) == 0:
            return "true"
    return "unknown"


@contextmanager
def _cpu_limit() -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S, CPU_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(_signal: int, _frame: Any) -> None:
    raise _OverLimit


def answer(line: str) -> str:
    """Answer one request line with one reply line."""
    request = json.loads(line)
    if request is None:
        return json.dumps({"truth": "unknown"})
    try:
        with _cpu_limit():
            truth = compare(build(request["left"]), build(request["right"]))
    # A task boundary: sympy raises many types on odd input, and none of them is a verdict.
    except (Exception, _OverLimit):
        truth = "unknown"
    return json.dumps({"truth": truth})


def main() -> None:
    """Set the limits, import sympy, and answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESS_CPU_LIMIT_S, PROCESS_CPU_LIMIT_S))
    signal.signal(signal.SIGPROF, _interrupt)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import sympy  # noqa: PLC0415  (paid for before the first request)

    name = sympy.Symbol("x", real=True)
    compare(sympy.sqrt(name**2 + 1) / (name + 1), name / sympy.sqrt(3))  # loads what sympy imports late
    for line in sys.stdin:
        print(answer(line), flush=True)


if __name__ == "__main__":
    main()
