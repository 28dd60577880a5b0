"""The algebra worker: identities, limits, concurrency, and the claims it settles."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import monotonic, sleep

import pytest
import pytest_asyncio

from benchmarks.algebra_load import Footprint, children, faults, run_load
from rafs.algebra import AlgebraWorker, settle
from rafs.algebra_worker import SPENT_COMPARISONS
from rafs.claims.reader import read_claims
from rafs.errors import BackendError
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


async def test_wall_limit_kills_the_process_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    algebra = AlgebraWorker(wall_limit_s=1e-6, n_processes=1)
    assert await algebra.compare("x+x", "2x") is Truth.UNKNOWN
    await algebra.close()
    assert "TimeoutError" in caplog.text
    assert "exit -9" in caplog.text


async def test_process_that_died_between_two_comparisons_is_replaced(caplog: pytest.LogCaptureFixture) -> None:
    algebra = AlgebraWorker(n_processes=1)
    await algebra.compare("x", "x")
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    while children():
        await asyncio.sleep(0.01)
    assert await algebra.compare("x+x", "2x") is Truth.TRUE
    await algebra.close()
    assert "between two comparisons" in caplog.text


async def test_a_process_killed_while_it_starts_costs_no_answer() -> None:
    algebra = AlgebraWorker(n_processes=1)
    asked = asyncio.create_task(algebra.compare("x+x", "2x"))
    while not (found := children()):
        await asyncio.sleep(0.001)
    os.kill(found[0], signal.SIGKILL)
    assert await asked is Truth.TRUE
    await algebra.close()


async def test_close_ends_what_is_under_way_as_unknown() -> None:
    algebra = AlgebraWorker(n_processes=1)
    await algebra.compare("x", "x")
    under_way = asyncio.create_task(algebra.compare(*hostile(1)))
    await asyncio.sleep(0.05)
    await algebra.close()
    assert await under_way is Truth.UNKNOWN
    assert children() == []


async def test_worn_out_process_is_replaced_and_no_answer_is_lost() -> None:
    algebra = AlgebraWorker(n_processes=1)
    await algebra.compare("x", "x")
    first = children()
    answers = [await algebra.compare(f"{n}x", f"x*{n}") for n in range(SPENT_COMPARISONS)]
    assert set(answers) == {Truth.TRUE}
    assert children() != first
    await algebra.close()


async def test_same_question_is_computed_once(algebra: AlgebraWorker) -> None:
    assert await algebra.compare(*hostile(1)) is Truth.UNKNOWN
    started = monotonic()
    assert await algebra.compare(*hostile(1)) is Truth.UNKNOWN
    assert monotonic() - started < 0.2, "the CPU limit alone is 0.25 s"


def test_parent_that_holds_much_memory_does_not_wear_its_processes_out() -> None:
    code = (
        "import asyncio; from rafs.algebra import AlgebraWorker; from benchmarks.algebra_load import children\n"
        "heap = bytearray(b'x' * (400 << 20))\n"
        "async def main():\n"
        "    algebra = AlgebraWorker(n_processes=1)\n"
        "    await algebra.compare('x+x', '2x')\n"
        "    first = children()\n"
        "    await algebra.compare('x+x+x', '3x')\n"
        "    print(len(first), children() == first)\n"
        "    await algebra.close()\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "1 True\n"


def test_processes_end_with_a_parent_that_vanishes() -> None:
    code = (
        "import asyncio, os; from rafs.algebra import AlgebraWorker; from benchmarks.algebra_load import children\n"
        "async def main():\n"
        "    algebra = AlgebraWorker()\n"
        "    await algebra.compare('x', 'x')\n"
        "    print(*children(), flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    gone = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    pid = int(gone.stdout)
    deadline = monotonic() + 5
    while Path(f"/proc/{pid}").exists() and monotonic() < deadline:
        sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()


async def test_load_with_killed_processes_leaves_nothing_behind() -> None:
    await (await asyncio.create_subprocess_exec("true")).wait()  # what asyncio opens once is no leak
    before = Footprint()
    load = await run_load(200, 8, seed=11, kill_every=40)
    assert faults(load, before) == []
    assert load.killed == 5
    assert load.answers[Truth.TRUE] > 50


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


class _Unreachable:
    async def compare(self, left: str, right: str) -> Truth:
        raise BackendError(f"nobody decides {left} = {right}")


async def test_settling_raises_what_the_comparison_raised() -> None:
    step = BlindStep(index=0, text=r"So \frac{d}{dx} (x^2 + 4x) = 2x + 4.", kind=StepKind.INFERENCE)
    with pytest.raises(BackendError, match="nobody decides"):
        await settle(read_claims([step], ""), _Unreachable())


async def test_settling_uses_two_processes_at_once(algebra: AlgebraWorker) -> None:
    text = "\n".join(f"So \\frac{{d}}{{dx}} (x^2 + {n}x) = 2x + {n}." for n in range(2, 12))
    claims = read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], "")
    settled = await settle(claims, algebra)
    assert [claim.truth for claim in settled] == [Truth.TRUE] * 10
    assert len(children()) == 2


CALCULUS = {
    "antiderivative": (r"\int 6x^2\,dx = 2x^3 + C", Truth.TRUE),
    "wrong_antiderivative": (r"\int 6x^2\,dx = 3x^3 + C", Truth.FALSE),
    "no_constant": (r"\int 6x^2\,dx = 2x^3", Truth.UNKNOWN),
    "logarithm": (r"\int \frac{3}{x}\,dx = 3\ln|x| + C", Truth.TRUE),
    "definite": (r"\int_1^2 3x^2\,dx = 7", Truth.TRUE),
    "wrong_definite": (r"\int_1^2 3x^2\,dx = 8", Truth.FALSE),
    "derivative": (r"\frac{d}{dx} x^5 = 5x^4", Truth.TRUE),
    "wrong_derivative": (r"\frac{d}{dx} \cos x = \sin x", Truth.FALSE),
    "prime": ("(x^3 + x)' = 3x^2 + 1", Truth.TRUE),
    "limit": (r"\lim_{x\to 0} \frac{\sin 2x}{x} = 2", Truth.TRUE),
    "wrong_limit": (r"\lim_{x\to 3} (x^2 - 1) = 9", Truth.FALSE),
    "at_infinity": (r"\lim_{n\to\infty} \frac{2n+1}{n} = 2", Truth.TRUE),
    "sum_to_n": (r"\sum_{k=1}^{n} (2k-1) = n^2", Truth.TRUE),
    "wrong_sum_to_n": (r"\sum_{k=1}^{n} k = n^2", Truth.FALSE),
    "infinite_sum": (r"\sum_{k=0}^{\infty} \frac{1}{3^k} = \frac{3}{2}", Truth.TRUE),
    "squares_of_an_angle": (r"\sin^2\theta + \cos^2\theta = 1", Truth.TRUE),
    "zero_to_zero": ("0^0 = 1", Truth.UNKNOWN),
}


@pytest.mark.parametrize(("text", "truth"), CALCULUS.values(), ids=CALCULUS.keys())
async def test_calculus_is_decided(algebra: AlgebraWorker, text: str, truth: Truth) -> None:
    (claim,) = await settle(read_claims([BlindStep(index=0, text=text, kind=StepKind.INFERENCE)], ""), algebra)
    assert claim.truth is truth


def test_a_warm_process_has_loaded_what_comparisons_need() -> None:
    code = (
        "import sys, sympy; from rafs.algebra_worker import _warm, build, compare; _warm(); loaded = set(sys.modules)\n"
        "x, one, two = ('variable', 'x'), ('number', '1'), ('number', '2')\n"
        "square = lambda name: ('^', ('call', name, x), two)\n"
        "for tree in (('+', square('sin'), square('cos')), ('call', 'sum', x, x, one, ('variable', 'n')),\n"
        "             ('call', 'integral', square('sin'), x, one, two), ('call', 'limit', square('cos'), x, one)):\n"
        "    compare(build(tree), sympy.Integer(1))\n"
        "print([name for name in set(sys.modules) - loaded if name.startswith('sympy')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
