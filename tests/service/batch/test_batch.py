import asyncio
import json
from pathlib import Path

import pytest

from rafs.errors import BackendError, InputError
from rafs.request import ScoreRequest
from rafs.usage import Priority
from service.batch.engine import LocalEngine
from service.batch.index import BatchIndex
from service.batch.mapping import Choice
from service.batch.outcome import Finished
from service.batch.parts import written_parts
from tests.service.batch.logs import (
    Batch,
    Scripted,
    errors_of,
    order_for,
    plan_for,
    results_of,
    row_of,
    write_log,
)


def down_for(word: str) -> Scripted:
    """Return a scorer whose model fails where the problem has a word in it."""

    def fail(request: ScoreRequest) -> Exception | None:
        return BackendError("the judge is down") if word in request.problem else None

    return Scripted(fail)


async def test_every_row_has_its_result_in_the_order_of_the_log(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(25)])
    await Batch(order_for(log, tmp_path / "out")).score()
    assert [row["id"] for row in results_of(tmp_path / "out")] == [f"r{n}" for n in range(25)]


async def test_a_request_is_scored_once_however_often_it_is_asked(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n % 4, id=f"r{n}") for n in range(40)])
    scorer = Scripted()
    totals = await Batch(order_for(log, tmp_path / "out")).score(LocalEngine(scorer, plan_for()))
    assert (len(scorer.seen), totals.distinct, totals.duplicates, totals.scored) == (4, 4, 36, 40)


async def test_a_duplicate_has_the_result_of_the_first_and_names_it(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), row_of(2), row_of(1, id="again")])
    await Batch(order_for(log, tmp_path / "out")).score()
    first, _, again = results_of(tmp_path / "out")
    assert (again["duplicate_of"], again["score"], again["request_hash"]) == (1, first["score"], first["request_hash"])


async def test_a_duplicate_cost_no_tokens(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), row_of(1)])
    await Batch(order_for(log, tmp_path / "out")).score()
    assert [row["tokens"] for row in results_of(tmp_path / "out")] == [512, 0]


async def test_keys_in_another_order_ask_the_same(tmp_path: Path) -> None:
    row = row_of(1)
    log = write_log(tmp_path / "log.jsonl", [row, dict(reversed(row.items()))])
    totals = await Batch(order_for(log, tmp_path / "out")).score()
    assert totals.distinct == 1


async def test_a_line_that_is_no_json_is_named_and_the_batch_goes_on(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), "{broken", row_of(2)])
    totals = await Batch(order_for(log, tmp_path / "out")).score()
    (error,) = errors_of(tmp_path / "out")
    assert (totals.scored, error["row"], error["place"], error["problem"]) == (2, 2, "log.jsonl:2", "input")


async def test_a_row_that_makes_no_request_says_what_was_got_and_what_is_allowed(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1), row_of(2, trace=5)])
    await Batch(order_for(log, tmp_path / "out")).score()
    (error,) = errors_of(tmp_path / "out")
    assert error["id"] == "r2"
    assert error["message"].startswith("field `trace`: got the number 5, allowed: text")


async def test_an_item_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(30)])
    totals = await Batch(order_for(log, tmp_path / "out")).score(LocalEngine(down_for(" 7 eggs"), plan_for()))
    (error,) = errors_of(tmp_path / "out")
    assert (totals.scored, totals.errors, error["id"], error["retryable"]) == (29, {"backend": 1}, "r7", True)


async def test_what_failed_is_scored_when_it_is_tried_again(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(30)])
    order = order_for(log, tmp_path / "out")
    await Batch(order).score(LocalEngine(down_for(" 7 eggs"), plan_for()))
    scorer = Scripted()
    totals = await Batch(order, retry=True).score(LocalEngine(scorer, plan_for()))
    assert (len(scorer.seen), totals.scored, totals.failed) == (1, 30, 0)
    assert [row["row"] for row in results_of(tmp_path / "out")] == list(range(1, 31))
    assert errors_of(tmp_path / "out") == []


async def test_a_row_that_is_at_fault_itself_is_not_tried_again(tmp_path: Path) -> None:
    order = order_for(write_log(tmp_path / "log.jsonl", [row_of(1), "{broken"]), tmp_path / "out")
    await Batch(order).score()
    again = Batch(order, retry=True)
    await again.score()
    assert again.n_revived == 0


async def test_a_model_that_is_down_stops_the_batch_before_all_of_it_fails(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(500)])
    scorer = down_for("eggs")
    with pytest.raises(BackendError, match="the last 20 items all failed"):
        await Batch(order_for(log, tmp_path / "out")).score(LocalEngine(scorer, plan_for()))
    assert len(scorer.seen) < 50


async def test_a_batch_that_was_cancelled_goes_on_and_scores_nothing_twice(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(60)])
    order, scorer = order_for(log, tmp_path / "out"), Scripted()

    class Interrupted(LocalEngine):
        async def score(self, queue):  # type: ignore[no-untyped-def]
            async for finished in super().score(queue):
                yield finished
                if len(scorer.seen) > 20:
                    raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await Batch(order).score(Interrupted(scorer, plan_for(concurrency=1)))
    n_before = len(scorer.seen)
    totals = await Batch(order).score(LocalEngine(scorer, plan_for()))
    assert totals.complete
    assert n_before < 60 <= len(scorer.seen) <= 61
    assert [row["row"] for row in results_of(tmp_path / "out")] == list(range(1, 61))


async def test_a_finished_batch_is_left_as_it_is_and_loads_no_model(tmp_path: Path) -> None:
    order = order_for(write_log(tmp_path / "log.jsonl", [row_of(1)]), tmp_path / "out")
    await Batch(order).score()
    scorer = Scripted()
    totals = await Batch(order).score(LocalEngine(scorer, plan_for()))
    assert (totals.scored, scorer.warmed, scorer.seen) == (1, False, [])


async def test_a_larger_limit_goes_on_behind_a_smaller_one(tmp_path: Path) -> None:
    order = order_for(write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(20)]), tmp_path / "out")
    first = await Batch(order, limit=7).score()
    scorer = Scripted()
    second = await Batch(order, limit=12).score(LocalEngine(scorer, plan_for()))
    assert (first.rows, first.complete, second.rows, len(scorer.seen)) == (7, False, 12, 5)
    assert [row["row"] for row in results_of(tmp_path / "out")] == list(range(1, 13))


async def test_a_part_of_the_results_covers_a_fixed_range_of_rows(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(25)])
    await Batch(order_for(log, tmp_path / "out"), part_rows=10).score()
    assert [path.name for path in written_parts(tmp_path / "out")] == [f"part-0000{n}.parquet" for n in range(3)]


async def test_whole_responses_are_kept_where_they_are_asked_for(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1)])
    order = order_for(log, tmp_path / "out", full=True)
    await Batch(order).score(LocalEngine(Scripted(), plan_for(full=True)))
    assert json.loads(results_of(tmp_path / "out")[0]["response"])["status"] == "Review"


async def test_batches_give_way_to_all_others(tmp_path: Path) -> None:
    scorer = Scripted()
    log = write_log(tmp_path / "log.jsonl", [row_of(1, seed=3)])
    await Batch(order_for(log, tmp_path / "out")).score(LocalEngine(scorer, plan_for()))
    assert scorer.terms[0].priority is Priority.BATCH


async def test_another_log_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    order = order_for(write_log(tmp_path / "log.jsonl", [row_of(1)]), tmp_path / "out")
    await Batch(order).score()
    write_log(tmp_path / "log.jsonl", [row_of(1), row_of(2)])
    with pytest.raises(InputError, match="a batch with files"):
        Batch(order)


async def test_another_preset_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [row_of(1)])
    await Batch(order_for(log, tmp_path / "out")).score()
    with pytest.raises(InputError, match='a batch with preset "gate", and now it is "deep"'):
        Batch(order_for(log, tmp_path / "out", choice=Choice(preset="deep")))


def test_a_folder_in_which_a_batch_runs_is_refused(tmp_path: Path) -> None:
    index = BatchIndex(tmp_path)
    with pytest.raises(InputError, match="a folder in which another batch runs"):
        BatchIndex(tmp_path)
    index.close()


async def test_what_an_engine_loses_is_given_up_and_may_be_tried_again(tmp_path: Path) -> None:
    class Lossy(LocalEngine):
        async def score(self, queue):  # type: ignore[no-untyped-def]
            async for finished in super().score(queue):
                yield [one for one in finished if one.number != 3]

    log = write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(5)])
    totals = await Batch(order_for(log, tmp_path / "out")).score(Lossy(Scripted(), plan_for()))
    assert (totals.errors, totals.retryable, totals.waiting) == ({"worker_died": 1}, 1, 0)


async def test_finished_items_keep_no_request_in_the_index(tmp_path: Path) -> None:
    batch = Batch(order_for(write_log(tmp_path / "log.jsonl", [row_of(n) for n in range(9)]), tmp_path / "out"))
    await batch.score()
    index = BatchIndex(tmp_path / "out")
    left: list[Finished] = [*index.pending_after(0, 100)]  # type: ignore[list-item]
    index.close()
    assert left == []
