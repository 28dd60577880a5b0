import random
from collections.abc import Sequence
from typing import Any

import pytest

from rafs.engines.decoding import Decoded, DecodeJob, Decoding, Row, decode, filled_up
from rafs.engines.row_cache import Prefill, pack_prompts, prefill_tokens
from rafs.errors import BackendError
from tests.rafs.engines.tiny_models import tiny_llama

N_NEW = 12
both_temperatures = pytest.mark.parametrize("temperature", [0.0, 1.0], ids=["greedy", "sampled"])


@pytest.fixture(scope="module")
def llama() -> Any:
    return tiny_llama()


def random_ids(n: int, seed: int) -> tuple[int, ...]:
    draw = random.Random(seed)
    return tuple(draw.randrange(400) for _ in range(n))


TRUNK = random_ids(30, 0)
EDITED = [(*TRUNK[:n], *random_ids(4, n)) for n in (10, 20, 30)]
"""Three edits of one trace: each goes on from a shorter or longer beginning of it."""


def job(prompts: Sequence[tuple[int, ...]]) -> DecodeJob:
    rows = [Row(prompt=prompt, seed=place, max_new_tokens=N_NEW) for place, prompt in enumerate(prompts)]
    return DecodeJob(rows=tuple(rows))


def draw(
    model: Any,
    *jobs: DecodeJob,
    temperature: float = 0.0,
    prefill: Prefill = Prefill.SHARED,
    end_ids: frozenset[int] = frozenset(),
) -> list[Decoded]:
    return decode(model, jobs, Decoding(temperature=temperature, end_ids=end_ids, prefill=prefill))


@both_temperatures
@pytest.mark.parametrize("prefill", [Prefill.PADDED, Prefill.ALONE])
def test_sharing_the_prefill_does_not_change_what_is_drawn(llama: Any, prefill: Prefill, temperature: float) -> None:
    (shared,) = draw(llama, job([*EDITED, EDITED[0]]), temperature=temperature)
    (other,) = draw(llama, job([*EDITED, EDITED[0]]), temperature=temperature, prefill=prefill)
    assert shared.rows == other.rows
    assert shared.tokens < other.tokens


@both_temperatures
def test_a_row_is_drawn_as_if_alone(llama: Any, temperature: float) -> None:
    (together,) = draw(llama, job(EDITED), temperature=temperature)
    for place, row in enumerate(job(EDITED).rows):
        (alone,) = draw(llama, DecodeJob(rows=(row,)), temperature=temperature)
        assert alone.rows[0] == together.rows[place]


@both_temperatures
@pytest.mark.parametrize("prefill", Prefill)
def test_jobs_in_one_batch_draw_and_cost_what_they_would_alone(
    llama: Any, prefill: Prefill, temperature: float
) -> None:
    jobs = [job(EDITED), job([random_ids(50, 8)] * 2), job([random_ids(3, 9)])]
    alone = [draw(llama, each, temperature=temperature, prefill=prefill)[0] for each in jobs]
    together = draw(llama, *jobs, temperature=temperature, prefill=prefill)
    assert [(each.rows, each.ended, each.tokens) for each in together] == [
        (each.rows, each.ended, each.tokens) for each in alone
    ]


def test_edits_cost_one_trunk_and_what_each_adds(llama: Any) -> None:
    (drawn,) = draw(llama, job(EDITED))
    assert drawn.tokens == len(TRUNK) + 3 * 4 + 3 * (N_NEW - 1)


def test_a_prompt_longer_than_a_slice_draws_what_it_draws_padded() -> None:
    model = tiny_llama(max_position_embeddings=2048)
    trunk = random_ids(1100, 3)
    long = job([(*trunk[:n], *random_ids(300, n)) for n in (500, 900, 1100)])
    (shared,), (padded,) = draw(model, long), draw(model, long, prefill=Prefill.PADDED)
    assert shared.rows == padded.rows
    assert shared.tokens == len(trunk) + 3 * 300 + 3 * (N_NEW - 1)


def test_a_row_ends_at_the_end_token_and_the_others_go_on(llama: Any) -> None:
    (free,) = draw(llama, job(EDITED))
    end = free.rows[0][2]
    (ended,) = draw(llama, job(EDITED), end_ids=frozenset([end]))
    assert list(ended.rows) == [row[: row.index(end)] if end in row else row for row in free.rows]
    assert list(ended.ended) == [end in row for row in free.rows]


def test_a_job_that_nobody_waits_for_ends_and_the_others_go_on(llama: Any) -> None:
    left, kept = job(EDITED), job(EDITED)
    left.abandoned.set()
    drawn = draw(llama, left, kept)
    assert [len(row) for row in drawn[0].rows] == [1, 1, 1]
    assert drawn[1] == draw(llama, kept)[0]


def test_urgent_work_may_run_before_every_token(llama: Any) -> None:
    given: list[None] = []
    how = Decoding(temperature=0.0, end_ids=frozenset(), prefill=Prefill.SHARED, give_way=lambda: given.append(None))
    decode(llama, [job(EDITED)], how)
    assert len(given) >= N_NEW


def test_urgent_work_may_run_between_two_slices_of_a_long_prompt() -> None:
    given: list[None] = []
    how = Decoding(temperature=0.0, end_ids=frozenset(), prefill=Prefill.SHARED, give_way=lambda: given.append(None))
    model = tiny_llama(max_position_embeddings=2048)
    decode(model, [DecodeJob(rows=(Row(prompt=random_ids(1100, 3), seed=1, max_new_tokens=1),))], how)
    assert len(given) == 4  # three slices, and the last token of the prompt


@both_temperatures
def test_nothing_is_drawn_from_what_are_no_numbers(temperature: float) -> None:
    model = tiny_llama()
    model.model.norm.weight.data[0] = float("nan")
    with pytest.raises(BackendError, match="no numbers"):
        draw(model, job(EDITED), temperature=temperature)


def test_packed_prompts_are_the_prompts() -> None:
    prompts = [(1, 2, 3, 4), (1, 2, 9), (1, 2, 3, 4), (1,), (7, 8)]
    assert pack_prompts(prompts).prompts() == prompts


@pytest.mark.parametrize(
    ("prefill", "tokens"),
    [
        pytest.param(Prefill.SHARED, 30 + 3 * 4, id="shared"),
        pytest.param(Prefill.PADDED, 14 + 24 + 34, id="padded"),
        pytest.param(Prefill.ALONE, 14 + 24 + 34 + 14, id="alone"),
    ],
)
def test_prefill_tokens_are_counted_before_they_run(prefill: Prefill, tokens: int) -> None:
    assert prefill_tokens([*EDITED, EDITED[0]], prefill) == tokens


@pytest.mark.parametrize(
    ("keep", "n_active", "n_rows", "places"),
    [
        pytest.param([0], 1, 1, [0], id="one row stays alone"),
        pytest.param([0, 1, 2], 3, 3, [0, 1, 2, 2], id="three become four"),
        pytest.param([0, 1, 2], 3, 4, [0, 1, 2, 3], id="copies stay where they are"),
        pytest.param([0, 2], 3, 4, [0, 2, 2, 2], id="a row that ended is replaced"),
        pytest.param([1], 2, 4, [1], id="the last one needs no copies"),
        pytest.param([0, 1, 2, 3, 4], 5, 5, [0, 1, 2, 3, 4], id="many rows need none"),
    ],
)
def test_few_rows_are_filled_up_with_copies(keep: list[int], n_active: int, n_rows: int, places: list[int]) -> None:
    assert filled_up(keep, n_active, n_rows) == places
