"""What was judged before is not run again, and never reaches another tenant."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from rafs.contracts import PromptPart, StepProber
from rafs.engines.known_trunks import MAX_ENTRIES, KnownTrunks
from rafs.engines.remembered_probes import RememberingProber
from rafs.engines.strategies import Strategy, last_logits
from rafs.engines.transformers_lm import TransformersProber
from rafs.errors import BackendError
from rafs.usage import Caller, Meter
from tests.rafs.engines.test_packed import random_prompts
from tests.rafs.engines.tiny_models import TINY, tiny_bloom, tiny_llama, tiny_tokenizer

HEAD = [PromptPart(text="Problem: ", trusted=True), PromptPart(text="Tom has 3 apples and buys 4 more.")]
TAIL = [PromptPart(text="\nIs the last step correct? Answer Yes or No.", trusted=True)]
N_TAIL = len(tiny_tokenizer().join(TAIL))


def steps(n: int) -> list[list[PromptPart]]:
    return [[PromptPart(text=f"\nStep {k}: 3 + {k} = {3 + k}.")] for k in range(n)]


def n_tokens(parts: Sequence[PromptPart]) -> int:
    return len(tiny_tokenizer().join(parts))


@pytest.fixture
async def remembering(prober: TransformersProber) -> RememberingProber:
    """It also knows the verdicts, so that a growing trace asks only about its new steps."""
    return RememberingProber(prober)


@pytest.fixture
async def prober() -> AsyncIterator[TransformersProber]:
    prober = TransformersProber(tiny_llama(initializer_range=0.1), tiny_tokenizer(), TINY)
    yield prober
    prober.close()


async def ask(
    prober: StepProber,
    trace: Sequence[Sequence[PromptPart]],
    tenant: str = "",
    asked: Sequence[int] | None = None,
) -> tuple[int, list[Any]]:
    """Return the tokens that went through the model, and the opinions."""
    meter = Meter(caller=Caller(tenant=tenant))
    places = range(len(trace)) if asked is None else asked
    opinions = await prober.probe(HEAD, trace, TAIL, places, meter)
    return meter.stages["verify"].tokens, list(opinions)


async def fresh(trace: Sequence[Sequence[PromptPart]]) -> list[Any]:
    prober = TransformersProber(tiny_llama(initializer_range=0.1), tiny_tokenizer(), TINY, known_bytes=0)
    _, opinions = await ask(prober, trace)
    prober.close()
    return opinions


def assert_same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    assert [mass.yes for mass in found] == pytest.approx([mass.yes for mass in expected], abs=1e-6)
    assert [mass.no for mass in found] == pytest.approx([mass.no for mass in expected], abs=1e-6)


async def test_a_step_appended_to_a_known_trace_costs_that_step_and_its_question(
    remembering: RememberingProber,
) -> None:
    await ask(remembering, steps(4))
    tokens, opinions = await ask(remembering, steps(5))
    assert tokens == n_tokens(steps(5)[4]) + N_TAIL
    assert_same(opinions, await fresh(steps(5)))


async def test_a_trace_growing_step_by_step_costs_what_it_costs_at_once(remembering: RememberingProber) -> None:
    grown = [(await ask(remembering, steps(n)))[0] for n in range(1, 6)]
    assert sum(grown) == n_tokens(HEAD) + sum(n_tokens(step) + N_TAIL for step in steps(5))


async def test_a_known_trace_costs_its_questions(prober: TransformersProber) -> None:
    _, first = await ask(prober, steps(4))
    tokens, again = await ask(prober, steps(4))
    assert tokens == 4 * N_TAIL
    assert_same(again, first)


async def test_a_trace_that_shares_a_beginning_costs_the_rest(prober: TransformersProber) -> None:
    await ask(prober, steps(4))
    other = [*steps(2), [PromptPart(text="\nSo he has seven.")], *steps(4)[3:]]
    tokens, opinions = await ask(prober, other)
    before = [*HEAD, *steps(1)[0], *steps(2)[1]]
    joined, known = (
        tiny_tokenizer().join([*before, *(p for s in trace[2:] for p in s)]) for trace in (other, steps(4))
    )
    shared = next(at for at, (one, two) in enumerate(zip(joined, known, strict=False)) if one != two)
    assert tokens == len(joined) - shared + 4 * N_TAIL
    assert_same(opinions, await fresh(other))


async def test_an_earlier_step_of_a_known_trace_costs_its_question(prober: TransformersProber) -> None:
    await ask(prober, steps(4), asked=[3])
    tokens, opinions = await ask(prober, steps(2), asked=[1])
    assert tokens == N_TAIL
    assert_same(opinions, (await fresh(steps(2)))[1:])


async def test_nothing_is_known_across_tenants(prober: TransformersProber) -> None:
    alone, _ = await ask(prober, steps(4), tenant="one")
    assert (await ask(prober, steps(4), tenant="two"))[0] == alone


async def test_with_no_room_every_trace_is_run_whole() -> None:
    prober = TransformersProber(tiny_llama(initializer_range=0.1), tiny_tokenizer(), TINY, known_bytes=0)
    first, _ = await ask(prober, steps(4))
    assert (await ask(prober, steps(4)))[0] == first
    prober.close()


async def test_a_model_whose_cache_is_not_kept_runs_every_trace_whole() -> None:
    prober = TransformersProber(tiny_bloom(), tiny_tokenizer(), TINY)
    assert prober.strategy == Strategy.STREAM_AND_CROP
    first, _ = await ask(prober, steps(2))
    assert (await ask(prober, steps(2)))[0] == first
    prober.close()


async def test_a_batch_out_of_memory_fails_alone_and_the_next_is_served() -> None:
    import torch

    model = tiny_llama(initializer_range=0.1)
    prober = TransformersProber(model, tiny_tokenizer(), TINY)

    def allocate(_: object, __: object, given: dict[str, Any]) -> None:
        if given["input_ids"].shape[1] > 200:
            torch.empty(2**60)  # more than any machine has: what torch raises here is its own out-of-memory error

    model.register_forward_pre_hook(allocate, with_kwargs=True)
    with pytest.raises(BackendError, match="memory"):
        await ask(prober, steps(8))
    assert_same((await ask(prober, steps(2)))[1], await fresh(steps(2)))
    prober.close()


async def test_a_batch_out_of_memory_gives_up_what_was_known(prober: TransformersProber) -> None:
    import torch

    first, _ = await ask(prober, steps(2))
    hook = prober._model.register_forward_pre_hook(lambda *_: torch.empty(2**60))
    with pytest.raises(BackendError, match="memory"):
        await ask(prober, steps(2))
    hook.remove()
    assert (await ask(prober, steps(2)))[0] == first


@pytest.fixture(scope="module")
def cache() -> Any:
    """Keys and values of 60 random tokens."""
    return last_logits(tiny_llama(), random_prompts(60, [60], 3), Strategy.PACKED).trunk_cache


def n_known(known: KnownTrunks, *trunk: int) -> int:
    head = known.head("", trunk)
    return 0 if head is None else head.get_seq_length()


def test_what_is_kept_stays_within_its_bytes(cache: Any) -> None:
    known = KnownTrunks(100_000)
    for first in range(200):
        known.keep("", (first, *range(59)), cache)
        assert 0 < known.n_bytes <= 100_000


def test_many_small_trunks_are_bounded_in_number(cache: Any) -> None:
    known = KnownTrunks(2**30)
    for first in range(MAX_ENTRIES + 1):
        known.keep("", (first,), cache)
    assert [n_known(known, first) for first in range(MAX_ENTRIES + 1)] == [0, *[1] * MAX_ENTRIES]


def test_a_trunk_larger_than_all_room_is_not_kept(cache: Any) -> None:
    known = KnownTrunks(1000)
    known.keep("", tuple(range(60)), cache)
    assert n_known(known, 0) == 0


def test_the_least_recently_used_trunk_goes_first(cache: Any) -> None:
    known = KnownTrunks(45_000)  # two of about 18 000 bytes
    for first in (1, 2):
        known.keep("", (first, *range(59)), cache)
    known.head("", (1,))
    known.keep("", (3, *range(59)), cache)
    assert [n_known(known, first) for first in (1, 2, 3)] == [1, 0, 1]


def test_a_longer_trunk_replaces_its_beginning(cache: Any) -> None:
    known, alone = KnownTrunks(2**20), KnownTrunks(2**20)
    known.keep("", tuple(range(30)), cache)
    for each in (known, alone):
        each.keep("", tuple(range(60)), cache)
    assert known.n_bytes == alone.n_bytes


def test_a_trunk_is_kept_for_each_tenant_that_ran_it(cache: Any) -> None:
    known = KnownTrunks(2**20)
    for tenant, n in (("one", 60), ("two", 30), ("three", 60)):
        known.keep(tenant, tuple(range(n)), cache)
    heads = [known.head(tenant, tuple(range(60))) for tenant in ("one", "two", "three")]
    assert [head.get_seq_length() for head in heads if head is not None] == [60, 30, 60]


def test_a_kept_trunk_is_a_copy_of_its_own() -> None:
    known = KnownTrunks(2**20)
    used = last_logits(tiny_llama(), random_prompts(60, [60], 3), Strategy.PACKED).trunk_cache
    assert used is not None
    known.keep("", tuple(range(60)), used)
    used.crop(-50)
    assert n_known(known, *range(60)) == 60


def test_the_beginning_of_a_kept_trunk_takes_no_room(cache: Any) -> None:
    known = KnownTrunks(2**20)
    known.keep("", tuple(range(60)), cache)
    before = known.n_bytes
    known.keep("", tuple(range(30)), cache)
    assert known.n_bytes == before
    assert n_known(known, *range(60)) == 60
