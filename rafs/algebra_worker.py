"""The process behind `rafs.algebra`: reads trees as JSON lines, answers with a truth. The only file with sympy.

It never sees text of a trace, only nested lists that our own parser made, and builds sympy nodes from them one by one.
Started as `python -m rafs.algebra_worker`; it ends when its input does.
"""

import json
import math
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sympy

CPU_LIMIT_S = 0.25
"""CPU time of one comparison; a signal ends it, so that the warm process survives. Honest identities take 10 ms."""
CPU_TICK_S = 0.05
"""CPU time to the next signal, where the first one fell into code that swallows it."""
KERNEL_CPU_LIMIT_S = 1
"""CPU time, rounded up, after which the kernel ends a process inside one long step, where no signal is looked at."""
MEMORY_LIMIT_BYTES = 1 << 30
"""Address space of the process. macOS sets no such limit; there the CPU limit alone bounds what can be filled."""
SPENT_MEMORY_BYTES = 256 << 20
"""Memory held at which the process is replaced, so that a heap once blown up is given back. 90 MiB are usual."""
SPENT_COMPARISONS = 2000
"""Comparisons after which the process is replaced, against leaks; a start costs as much CPU as some fifty of them."""
MAX_EXPONENT = 400
"""Largest exponent; beyond it a power is not built."""
MAX_POWER_BITS = 100_000
"""Bits of a power of numbers; a tower of exponents, each below its limit, is one long step that no signal ends."""
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
        case "variable", [str(name)] if name in ("pi", "e", "i", "∞"):
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "∞": sympy.oo}[name]
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
        case "call", [str(name), *args]:
            return _call(name, args)
    raise _OverLimit


def _call(name: str, args: list[Any]) -> "sympy.Expr":
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    functions = {
        "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
        "arcsin": sympy.asin, "arccos": sympy.acos, "arctan": sympy.atan, "sinh": sympy.sinh, "cosh": sympy.cosh,
        "tanh": sympy.tanh, "ln": sympy.log, "exp": sympy.exp, "abs": sympy.Abs, "floor": sympy.floor,
        "ceil": sympy.ceiling, "conj": sympy.conjugate, "Re": sympy.re, "Im": sympy.im,
    }  # fmt: skip
    if name == "binom" and len(args) == 2:
        return sympy.binomial(build(args[0]), _small(build(args[1])))
    if name in functions and len(args) == 1:
        return functions[name](build(args[0]))
    if name == "log" and len(args) == 2:
        return sympy.log(build(args[1])) / _nonzero(sympy.log(build(args[0])))
    if len(args) > 1 and args[1][0] == "variable":
        return _bound(name, build(args[0]), sympy.Symbol(args[1][1], real=True), [build(arg) for arg in args[2:]])
    raise _OverLimit


def _bound(name: str, body: "sympy.Expr", index: "sympy.Symbol", limits: "list[sympy.Expr]") -> "sympy.Expr":
    """Build a sum, a product, an integral, a derivative or a limit over a name."""
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    match name, len(limits):
        case "sum", 2:
            return sympy.summation(body, (index, *limits))
        case "product", 2:
            return sympy.product(body, (index, *limits))
        case "integral", 0:
            return sympy.Integral(body, index)  # compared by derivatives
        case "integral", 2:
            return sympy.integrate(body, (index, *limits))
        case "derivative", 0:
            return sympy.diff(body, index)
        case (("limit" | "limit+" | "limit-"), 1):
            return sympy.limit(body, index, limits[0], name[5:] or "+-")
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
    if base.is_zero and not exponent.is_positive:
        raise _OverLimit
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    if exponent.is_number and not (exponent.is_Rational and abs(exponent) <= MAX_EXPONENT):
        raise _OverLimit
    if (
        base.is_number
        and not exponent.is_number
        and any(atom.is_number and abs(atom) > MAX_EXPONENT for atom in exponent.atoms())
    ):
        raise _OverLimit
    if base.is_Rational and exponent.is_Rational:
        bits = max(int(base.p).bit_length(), int(base.q).bit_length())
        if bits * abs(exponent) > MAX_POWER_BITS:
            raise _OverLimit
    if any(not power.exp.is_number for power in exponent.atoms(sympy.Pow)):
        raise _OverLimit  # a tower of names: at the probes a number that no memory holds
    power = base**exponent
    if power.is_Pow and power.exp.is_Rational and abs(power.exp) > MAX_EXPONENT:
        raise _OverLimit
    return power


def compare(left: "sympy.Expr", right: "sympy.Expr") -> str:
    """Return `true`, `false` or `unknown`: probes at points first, then a proof."""
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    integrals = (left - right).atoms(sympy.Integral)
    if integrals:
        return _compare_antiderivatives(left, right, {tuple(integral.variables) for integral in integrals})
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


def _compare_antiderivatives(left: "sympy.Expr", right: "sympy.Expr", names: "set[tuple[sympy.Symbol, ...]]") -> str:
    """Compare two families of functions by their derivatives, where one constant is left free: `x^2 + C`."""
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    if len(names) != 1:
        raise _OverLimit
    (name,) = names.pop()
    left, right = (side.replace(lambda node: isinstance(node, sympy.log), _of_positive) for side in (left, right))
    truth = compare(left.diff(name), right.diff(name))
    is_free = all(side.has(sympy.Integral) or side.free_symbols - {name} for side in (left, right))
    return truth if is_free or truth == "false" else "unknown"


def _of_positive(logarithm: "sympy.Expr") -> "sympy.Expr":
    """Return ln x for ln |x|: their derivatives are the same."""
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    (inside,) = logarithm.args
    return sympy.log(inside.args[0]) if isinstance(inside, sympy.Abs) else logarithm


@contextmanager
def _cpu_limit() -> Iterator[None]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + KERNEL_CPU_LIMIT_S)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S, CPU_TICK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _interrupt(_signal: int, _frame: Any) -> None:
    raise _OverLimit


def _limit(what: int, soft: int) -> None:
    """Set the soft limit of a resource, where the system has such a limit."""
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (soft, resource.getrlimit(what)[1]))


def _held_bytes() -> int:
    """Return the memory that this process holds.

    Its peak (`ru_maxrss`) is not its own on Linux: whoever starts it hands on its own peak, and a parent with models
    loaded would wear out a process by each comparison.
    """
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    except OSError:  # macOS
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _truth(line: str) -> str:
    import sympy  # noqa: PLC0415  (the parent process never loads it)

    try:
        with _cpu_limit():
            request = json.loads(line)
            return compare(build(request["left"]), build(request["right"]))
    except _OverLimit:
        sympy.core.cache.clear_cache()  # what was interrupted may have left half of its conclusions there
    # A task boundary: sympy raises many types on odd input, and none of them is a verdict.
    except Exception:
        pass
    return "unknown"


def _warm() -> None:
    """Load what sympy imports late, which on a slow processor costs a first comparison as much as it may take."""
    import sympy  # noqa: PLC0415  (paid for before the first request)

    name = sympy.Symbol("x", real=True)
    compare(sympy.sqrt(name**2 + 1) / (name + 1), name / sympy.sqrt(3))
    compare(sympy.sin(name) ** 2 + sympy.cos(name) ** 2, sympy.Integer(1))
    compare(sympy.summation(sympy.Integer(2) ** -name, (name, 0, sympy.oo)), sympy.integrate(name, (name, 0, 2)))


def main() -> None:
    """Set the limits, import sympy, say so with an empty line, and answer each line; whoever is spent says so too."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_AS, MEMORY_LIMIT_BYTES)
    signal.signal(signal.SIGPROF, _interrupt)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _warm()
    print(flush=True)
    for count, line in enumerate(sys.stdin, start=1):
        truth = _truth(line)
        spent = count >= SPENT_COMPARISONS or _held_bytes() > SPENT_MEMORY_BYTES
        print(json.dumps({"truth": truth, "spent": spent}), flush=True)


if __name__ == "__main__":
    main()
