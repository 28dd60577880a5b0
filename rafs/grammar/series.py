"""Adds and multiplies up: sums with bounds, and sums whose middle terms an ellipsis leaves out."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from rafs.grammar.expressions import evaluate
from rafs.grammar.terms import Binary, Call, Expression, Number, Unknown, Variable, leaves, literal_of, mapped, walk
from rafs.grammar.values import Value, add, multiply

MAX_TERMS = 1000
"""Terms of one sum."""
MAX_NESTED_TERMS = 30
"""Terms of a sum whose terms are sums themselves."""
MAX_BITS = 20_000
"""Bits of a running total."""

Bindings = Mapping[str, Fraction]


def is_series(call: Call) -> bool:
    """Say whether a call is a sum or a product with an index and two bounds."""
    return call.name in ("sum", "product") and len(call.args) == 4 and isinstance(call.args[1], Variable)


def bounded_total(call: Call, bindings: Bindings, compute: Callable[[Expression, Bindings], Value]) -> Value:
    """Add or multiply the terms of a sum with rational bounds; raises `Unknown` over a cap or with other bounds."""
    body, index, low, high = call.args
    first, last = evaluate(low, bindings), evaluate(high, bindings)
    depth = _depth(body)
    limit = MAX_TERMS if depth == 0 else MAX_NESTED_TERMS if depth == 1 else 0
    if first is None or last is None or first.denominator != 1 or last.denominator != 1 or last - first >= limit:
        raise Unknown
    assert isinstance(index, Variable)
    result: Value = Fraction(0 if call.name == "sum" else 1)
    for value in range(int(first), int(last) + 1):
        term = compute(body, {**bindings, index.name: Fraction(value)})
        result = add("+", result, term) if call.name == "sum" else multiply(result, term)
    return result


def _depth(body: Expression) -> int:
    return sum(isinstance(node, Call) and is_series(node) for node in walk(body))


def listed_total(call: Call, bindings: Bindings) -> Fraction:
    """Add or multiply `1 + 2 + ... + 10`, where exactly one progression fits; raises `Unknown` otherwise."""
    terms = _values(call.args, bindings)
    if call.name == "sum on for ever":
        return _geometric_limit(terms)
    if call.name == "product on for ever":
        raise Unknown
    found = [run for run in _progressions(call.args, terms, bindings) if run is not None]
    if not found or any(run != found[0] for run in found):
        raise Unknown
    result = Fraction(0 if call.name == "sum on" else 1)
    for term in found[0]:
        result = result + term if call.name == "sum on" else result * term
    if result.numerator.bit_length() > MAX_BITS:
        raise Unknown
    return result


def _values(terms: Iterable[Expression], bindings: Bindings) -> list[Fraction]:
    values = []
    for term in terms:
        value = evaluate(term, bindings)
        if value is None:
            raise Unknown
        values.append(value)
    return values


def _progressions(
    args: Sequence[Expression], terms: list[Fraction], bindings: Bindings
) -> Iterator[list[Fraction] | None]:
    """Yield what may fit; two values of terms that are computed, as in `1^2 + 2^2 + ... + 5^2`, show no even step."""
    listed, last = terms[:-1], terms[-1]
    written = _stepped(args)
    if written is not None:
        yield _values(written, bindings)
    is_fraction = any(isinstance(arg, Binary) and arg.op == "/" for arg in args)
    if written is not None and not is_fraction:
        return
    is_plain = all(literal_of(arg) is not None for arg in args)
    if is_plain or len(listed) > 2 or (is_fraction and written is None):
        yield _arithmetic(listed, last)
    yield _geometric(listed, last)
    yield _powers(listed, last)


def _stepped(args: Sequence[Expression]) -> list[Expression] | None:
    """Return all the terms where the numbers in the written ones step on evenly: `1*2 + 2*3 + ... + 9*10`."""
    if literal_of(args[0]) is not None or any(_shape(arg) != _shape(args[0]) for arg in args):
        return None
    columns = list(zip(*[_numbers(arg) for arg in args], strict=True))
    runs = {column: _arithmetic(list(column[:-1]), column[-1]) for column in columns if len(set(column)) > 1}
    lengths = {0 if run is None else len(run) for run in runs.values()}
    if len(lengths) != 1 or 0 in lengths:
        return None
    rows = zip(*[runs.get(column) or [column[0]] * max(lengths) for column in columns], strict=True)
    return [_with_numbers(args[0], row) for row in rows]


def _numbers(term: Expression) -> list[Fraction]:
    return [leaf.value for leaf in leaves(term) if isinstance(leaf, Number)]


def _with_numbers(term: Expression, values: Iterable[Fraction]) -> Expression:
    rest = iter(values)
    return mapped(term, lambda node: replace(node, value=next(rest)) if isinstance(node, Number) else node)


def _shape(term: Expression) -> Expression:
    return mapped(term, lambda node: Number(value=Fraction(0)) if isinstance(node, Number) else node)


def _arithmetic(listed: list[Fraction], last: Fraction) -> list[Fraction] | None:
    step = listed[1] - listed[0]
    if step == 0 or any(b - a != step for a, b in itertools.pairwise(listed)):
        return None
    count = (last - listed[0]) / step
    if count.denominator != 1 or not len(listed) <= count + 1 <= MAX_TERMS:
        return None
    return [listed[0] + step * at for at in range(int(count) + 1)]


def _geometric(listed: list[Fraction], last: Fraction) -> list[Fraction] | None:
    if listed[0] == 0 or listed[1] in (0, listed[0]):
        return None
    ratio = listed[1] / listed[0]
    if any(b != a * ratio for a, b in itertools.pairwise(listed)):
        return None
    terms = list(listed)
    while terms[-1] != last:
        if len(terms) >= MAX_TERMS or terms[-1].numerator.bit_length() > MAX_BITS // 10:
            return None
        if (abs(terms[-1]) > abs(last)) == (abs(ratio) > 1) or abs(ratio) == 1:
            return None
        terms.append(terms[-1] * ratio)
    return terms


def _powers(listed: list[Fraction], last: Fraction) -> list[Fraction] | None:
    """Return 1, 4, 9, ... and 1, 8, 27, ... up to the last term."""
    for power in (2, 3):
        if len(listed) >= 3 and listed == [Fraction(at**power) for at in range(1, len(listed) + 1)]:
            squares = [Fraction(at**power) for at in range(1, MAX_TERMS) if at**power <= last]
            return squares if squares[-1] == last else None
    return None


def _geometric_limit(terms: list[Fraction]) -> Fraction:
    """Return the sum of a geometric series of which at least three terms are written out."""
    ratio = terms[1] / terms[0] if terms[0] else Fraction(1)
    if len(terms) < 3 or abs(ratio) >= 1 or any(b != a * ratio for a, b in itertools.pairwise(terms)):
        raise Unknown
    return terms[0] / (1 - ratio)
