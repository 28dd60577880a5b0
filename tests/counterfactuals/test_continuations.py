"""The benchmark of a writer's continuations keeps what it was told, and asks for nothing twice."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from benchmarks.continuation_rows import Kind, ProblemRow, ratio, read_rows
from benchmarks.continuations import Asked, ask, ask_all
from rafs.errors import BackendError, ConfigError
from rafs.registry import load_registry
from tests.rafs.engines.scripted_server import Reply, Request
from tests.rafs.engines.served_engines import chatted, engines

PROBLEM = "A kiln holds 12 trays of 8 mugs, and 70 mugs are sold. How many are left?"
TRACE = "So, 12 * 8 = 96 mugs fit in.\nThen 96 - 70 = 26 mugs are left.\n#### 26"
PRESETS = load_registry(None).presets
STANDARD, DEEP = PRESETS.standard.to_preset("standard"), PRESETS.deep.to_preset("deep")


def written(request: Request) -> Reply:
    """Write the trace; go on by subtracting 70 from the last number, or by repeating it."""
    *_, last = request.body["messages"]
    if last["role"] == "user":
        return chatted(TRACE)
    numbers = re.findall(r"\d+", last["content"]) or ["0"]
    sold = 0 if "left" in last["content"] else 70
    prompt_tokens = 10 if request.body.get("continue_final_message") else 15
    return chatted(f"#### {int(numbers[-1]) - sold}", prompt_tokens=prompt_tokens)


async def silent(problem: str, seed: int) -> Asked:
    return "No answer.", []


async def test_a_trace_of_its_own_and_one_with_a_planted_error_are_measured() -> None:
    async with engines(written) as made:
        said, traces = await ask(PROBLEM, made.generator, STANDARD, 2, 1)
    assert said == TRACE
    assert [(trace.kind, trace.answer == "26") for trace in traces] == [(Kind.OWN, True), (Kind.PLANTED, False)]


async def test_every_response_stands_beside_the_text_it_was_read_in() -> None:
    async with engines(written) as made:
        _, [own, *_] = await ask(PROBLEM, made.generator, STANDARD, 2, 1)
    assert own.effects
    assert {(len(effect.responses), len(effect.continuations)) for effect in own.effects} == {(2, 2)}


async def test_the_control_of_the_rewording_stands_beside_it() -> None:
    async with engines(written) as made:
        _, [own, *_] = await ask(PROBLEM, made.generator, DEEP, 2, 1)
    assert {"paraphrase", "paraphrase, not reworded"} <= own.probes.keys()


async def test_a_later_run_asks_for_the_problems_that_are_missing(tmp_path: Path) -> None:
    asked: list[str] = []

    async def noted(problem: str, seed: int) -> Asked:
        asked.append(problem)
        return await silent(problem, seed)

    out = tmp_path / "out.jsonl"
    await ask_all(["a", "b"], noted, "set", out=out)
    rows = await ask_all(["a", "b", "c"], noted, "set", out=out)
    assert asked == ["a", "b", "c"]
    assert [row.problem for row in rows] == asked


async def test_a_line_that_a_kill_cut_off_is_asked_for_again(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await ask_all(["a", "b"], silent, "set", out=out)
    out.write_text(out.read_text("utf-8")[:-5], "utf-8")
    assert [row.problem for row in read_rows(out)] == ["a"]
    await ask_all(["a", "b"], silent, "set", out=out)
    assert [row.problem for row in read_rows(out)] == ["a", "b"]


async def test_rows_of_another_setting_are_not_counted_together(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await ask_all(["a"], silent, "set", out=out)
    with pytest.raises(ConfigError, match="got a file of set, allowed is one of other"):
        await ask_all(["a"], silent, "other", out=out)


async def test_a_problem_for_which_the_generator_fails_is_kept_out(tmp_path: Path) -> None:
    async def failing(problem: str, seed: int) -> Asked:
        if problem == "b":
            raise BackendError("no connection")
        return await silent(problem, seed)

    out = tmp_path / "out.jsonl"
    rows = await ask_all(["a", "b", "c"], failing, "set", out=out)
    assert [row.problem for row in rows] == [row.problem for row in read_rows(out)] == ["a", "c"]


@pytest.mark.parametrize("at_once", [1, 3])
async def test_so_many_problems_are_asked_at_once_and_no_more(at_once: int) -> None:
    running, most = 0, 0

    async def counted(problem: str, seed: int) -> Asked:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return await silent(problem, seed)

    await ask_all(list("abcdef"), counted, "set", at_once)
    assert most == at_once


def test_a_text_with_a_line_separator_stays_one_line(tmp_path: Path) -> None:
    row = ProblemRow(problem="a\u2028b", setting="set", at_once=1, said="", traces=())
    out = tmp_path / "out.jsonl"
    out.write_text(row.model_dump_json() + "\n", "utf-8")
    assert json.loads(out.read_text("utf-8"))
    assert read_rows(out) == [row]


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        pytest.param([], "-", id="nothing"),
        pytest.param([(0, 0)], "-", id="nothing counted"),
        pytest.param([(1, 2)] * 4, "50% [50%, 50%]", id="problems that agree"),
        pytest.param([(9, 9), (0, 9)], "50% [0%, 100%]", id="two problems that differ, however often each was asked"),
    ],
)
def test_an_interval_is_of_problems_drawn_again(parts: list[tuple[float, float]], shown: str) -> None:
    assert ratio(parts, ".0%") == shown
