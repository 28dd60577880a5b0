"""The algebra worker: identities, limits, concurrency, and the claims it settles."""

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

import pytest
import pytest_asyncio

from rafs.algebra import AlgebraWorker, settle
from rafs.claims.reader import read_claims
from rafs.types import BlindStep, StepKind, Truth


@pytest_asyncio.fixture
async def algebra() -> AsyncIterator[AlgebraWorker]:
    worker = AlgebraWorker()
    yield worker
    await worker.close()


CASES = {
    "square": ("(x+2)^2", "x^2 + 4x + 4", Truth.TRUE),
    "difference_of_squares": ("(a-b)(a+b)", "a^2 - b^2", Truth.TRUE),
    "fraction": (r"\frac{x^2-4}{x-2}", "x+2", Truth.TRUE),
    "surd": (r"\sqrt{12}", r"2\sqrt{3}", Truth.TRUE),
    "rationalised": (r"\frac{1}{\sqrt{3}}", r"\frac{\sqrt3}{3}", Truth.TRUE),
    "powers": ("2^{n+2}", "4*2^n", Truth.TRUE),
    "decimal_of_a_surd": (r"\sqrt{2}", "1.41421356", Truth.FALSE),
    "zero_at_small_integers": ("x(x-1)(x-2)(x-3)", "0", Truth.FALSE),
    "different_names": ("x", "y", Truth.FALSE),
    "root_of_a_square": (r"\sqrt{x^2}", "x", Truth.UNKNOWN),
    "not_the_grammar": ("__import__('os')", "0", Truth.UNKNOWN),
    "undefined": ("5/0", "5/0", Truth.UNKNOWN),
}


@pytest.mark.parametrize(("left", "right", "truth"), CASES.values(), ids=CASES.keys())
async def test_comparison_has_its_truth(algebra: AlgebraWorker, left: str, right: str, truth: Truth) -> None:
    assert await algebra.compare(left, right) is truth


def hostile(n: int) -> tuple[str, str]:
    """An identity that needs hundreds of thousands of terms, or a tower that must not be built."""
    if n % 4 == 0:
        return "9^9^9^9", f"{n}"
    power = 60 + 2 * n
    return f"(x+y+z+a)^{{{power}}}", f"((x+y)^2 + 2(x+y)(z+a) + (z+a)^2)^{{{power // 2}}}"


async def test_after_twenty_hostile_comparisons_an_easy_one_is_answered(algebra: AlgebraWorker) -> None:
    crowd = [algebra.compare(*hostile(n)) for n in range(20)]
    waiting = asyncio.gather(*crowd)
    await asyncio.sleep(0)
    started = monotonic()
    assert await algebra.compare("(x+1)(x-1)", "x^2-1") is Truth.TRUE
    assert monotonic() - started < 10
    assert Truth.FALSE not in await waiting


async def test_thirty_two_callers_at_once_get_their_own_answers(algebra: AlgebraWorker) -> None:
    answers = await asyncio.gather(
        *(algebra.compare(f"(x+{n})^2", f"x^2 + {2 * n}x + {n * n + n % 2}") for n in range(1, 33))
    )
    assert answers == [Truth.FALSE if n % 2 else Truth.TRUE for n in range(1, 33)]


async def test_cancelled_caller_leaves_the_next_answer_intact(algebra: AlgebraWorker) -> None:
    await algebra.compare("x", "x")
    task = asyncio.create_task(algebra.compare(*hostile(1)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await algebra.compare("2x", "x+x") is Truth.TRUE
    assert await algebra.compare("2x", "x+1") is Truth.FALSE


async def test_wall_limit_kills_the_process_and_the_next_call_starts_another() -> None:
    algebra = AlgebraWorker(wall_limit_s=1e-6, n_processes=1)
    assert await algebra.compare("x+x", "2x") is Truth.UNKNOWN
    await algebra.close()


async def test_closed_worker_starts_again(algebra: AlgebraWorker) -> None:
    assert await algebra.compare("x+x", "2x") is Truth.TRUE
    await algebra.close()
    assert await algebra.compare("x+x", "2x") is Truth.TRUE


SETTLED = {
    "identity": ("Expanding, (x+2)^2 = x^2 + 4x + 4.", Truth.TRUE),
    "equation_stays_open": ("So 2x + 1 = 9.", Truth.UNKNOWN),
    "claimed_for_every_value": ("For every x, x(x-1)(x-2) = 0.", Truth.FALSE),
    "wrong_factoring": ("The trinomial factors as x^2 - 5x - 14 = (x - 2)(x + 7).", Truth.FALSE),
    "right_factoring": ("The trinomial factors as x^2 - 5x - 14 = (x + 2)(x - 7).", Truth.TRUE),
    "wrong_expansion": ("Expanding gives (x + 3)^2 = x^2 + 9.", Truth.FALSE),
    "wrong_simplification": ("We simplify: (n - 1)(n + 4) = n^2 - 3n - 4.", Truth.FALSE),
    "equation_to_be_expanded": ("Expanding (x+1)(x-2) = x^2 + 4 gives the rest.", Truth.UNKNOWN),
    "equation_to_be_solved": ("Expand the equation (x + 3)^2 = x^2 + 9.", Truth.UNKNOWN),
    "product_that_nobody_calls_a_factoring": ("Now x^2 - 5x - 14 = (x - 2)(x + 7).", Truth.UNKNOWN),
    "equation_right_behind": ("Expand (x + 3)^2 = x^2 + 9 to get 6x.", Truth.UNKNOWN),
    "two_names": ("Expanding gives (x + y)^2 = x^2 + y^2.", Truth.UNKNOWN),
    "surd": (r"Thus \sqrt{50} = 5\sqrt{2}.", Truth.TRUE),
    "wrong_surd": (r"Thus \sqrt{50} = 5\sqrt{3}.", Truth.FALSE),
    "arithmetic_is_left_alone": ("2 + 2 = 5", Truth.FALSE),
}


@pytest.mark.parametrize(("text", "truth"), SETTLED.values(), ids=SETTLED.keys())
async def test_settling_decides_what_exact_arithmetic_left_open(
    algebra: AlgebraWorker, text: str, truth: Truth
) -> None:
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    (claim,) = await settle(claims, algebra)
    assert claim.truth is truth


async def test_an_equation_of_the_problem_is_not_asserted_for_every_value(algebra: AlgebraWorker) -> None:
    step = BlindStep(index=0, text="Expanding, we have (x + 3)^2 = x^2 + 9.", kind=StepKind.INFERENCE)
    (given,) = await settle(read_claims([step], "When does (x+3)^2 = x^2+9 hold?"), algebra)
    (asserted,) = await settle(read_claims([step], ""), algebra)
    assert (given.truth, asserted.truth) == (Truth.UNKNOWN, Truth.FALSE)
