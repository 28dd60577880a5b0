"""How our equivalence fares beside the usual library for it, on a table of our own pairs."""

import json
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rafs.answers.equivalence import equivalent
from rafs.types import Truth

PAIRS = [json.loads(line) for line in Path("tests/cases/equivalence.jsonl").read_text("utf-8").splitlines()]
SAID = {Truth.TRUE: True, Truth.FALSE: False, Truth.UNKNOWN: "unknown"}
Pair = dict[str, dict[str, object]]


def ours(pair: Pair) -> object:
    given = pair["input"]
    a, b = str(given["a"] or ""), str(given["b"] or "")
    problem, choices = str(given.get("question", "")), given.get("choices")
    assert choices is None or isinstance(choices, dict)
    truths = {equivalent(*sides, problem=problem, choices=choices) for sides in ((a, b), (b, a))}
    assert len(truths) == 1, "symmetric"
    return SAID[truths.pop()]


def is_right(said: object, pair: Pair) -> bool:
    also = pair["expected"].get("also_ok", [])
    assert isinstance(also, list)
    return said == pair["expected"]["equivalent"] or said in also


def is_hard(said: object, pair: Pair) -> bool:
    """Definite, and not so."""
    return said != "unknown" and not is_right(said, pair)


@pytest.mark.parametrize("pair", PAIRS, ids=[pair["id"] for pair in PAIRS])
def test_our_pairs_are_told_apart_and_together(pair: Pair) -> None:
    assert is_right(ours(pair), pair)


def load_math_verify() -> Callable[[str, str], bool]:
    """Import the library here, since it takes a second, and let it warn as it likes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import math_verify

    def verified(a: str, b: str) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gold, answer = (
                math_verify.parse(f"${side}$", parsing_timeout=None, raise_on_error=False) for side in (a, b)
            )
            return bool(math_verify.verify(gold, answer, timeout_seconds=None, raise_on_error=False))

    return verified


def test_we_are_right_at_least_as_often_as_math_verify(record_property: Callable[[str, object], None]) -> None:
    """Left out: pairs that hang on a problem or options, which it does not take, and those that nobody can decide."""
    plain = [
        pair
        for pair in PAIRS
        if pair["input"].keys() == {"a", "b"}
        and all(pair["input"].values())
        and pair["expected"]["equivalent"] != "unknown"
    ]
    verified = load_math_verify()
    table: dict[str, Counter[str]] = {"rafs": Counter(), "math-verify": Counter()}
    for pair in plain:
        a, b = str(pair["input"]["a"]), str(pair["input"]["b"])
        for name, said in (("rafs", ours(pair)), ("math-verify", verified(a, b))):
            table[name]["right" if is_right(said, pair) else "wrong" if is_hard(said, pair) else "open"] += 1
    rows = [f"{name}: {n['right']} right, {n['wrong']} wrong, {n['open']} open" for name, n in table.items()]
    record_property("summary", f"equivalence of {len(plain)} pairs: " + "; ".join(rows))
    assert table["rafs"]["wrong"] == 0
    assert table["rafs"]["right"] >= table["math-verify"]["right"]
