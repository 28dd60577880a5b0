"""Pivotal steps are edited, and load-bearing steps are told from decoration."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from counterfactuals.conversation import SEED_STRIDE
from counterfactuals.prefixes import edited_prefix
from counterfactuals.probe import CounterfactualProber
from rafs.contracts import Generator
from rafs.derivation import link_answer
from rafs.engines.scripted import Script, ScriptedGenerator
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.errors import BackendError
from rafs.interventions import EffectMethod, Interventions, ProbeLimits, Response
from rafs.outcomes import Unmeasured
from rafs.probes import ProbeKind
from rafs.reading import read_text
from rafs.types import Abstained, Judged, ModelIdentity, Reading, Sampled, Verdict, Why
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer

PROBLEM = "A press prints 15 pages a minute. It runs for 40 minutes, and 60 pages are spoilt. How many are good?"
LOAD_BEARING = "It prints 15 * 40 = 600 pages.\nOf these 600 - 60 = 540 are good.\nThe answer is 540."
DECORATIVE = "The answer is 540.\nNote that 15 + 40 = 55.\nAlso, 60 - 40 = 20.\nThe answer is 540."
BRANCHED = (
    "It prints 15 * 40 = 600 pages.\nBy the way, 15 + 60 = 75.\nOf these 600 - 60 = 540 are good.\nThe answer is 540."
)
PROBER = CounterfactualProber(n_edits=3, n_continuations=2, m_min=2)
SEED = 7


def read(text: str) -> Reading:
    return read_text(PROBLEM, text, None)


async def never(so_far: Interventions) -> bool:
    return False


async def always(so_far: Interventions) -> bool:
    return True


def limits(
    seconds: float = 60, n_tried: int | None = None, is_settled: Callable[[Interventions], Awaitable[bool]] = never
) -> ProbeLimits:
    ends_at = asyncio.get_running_loop().time() + seconds
    return ProbeLimits(ends_at=ends_at, is_settled=is_settled, n_tried=n_tried)


async def probe(
    text: str,
    generator: Generator | None = None,
    *,
    prober: CounterfactualProber = PROBER,
    within: ProbeLimits | None = None,
) -> Interventions:
    reading = read(text)
    target = link_answer(reading.trace, reading.graph).target
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    return await prober.probe(reading, target, verdicts, generator, SEED, Meter(), within or limits())


async def test_every_edit_of_a_load_bearing_step_moves_the_answer() -> None:
    found = await probe(LOAD_BEARING)
    assert found.method is EffectMethod.REPLAY
    assert [effect.delta for effect in found.effects] == [1.0, 1.0]


async def test_no_edit_of_a_decorative_step_moves_the_answer() -> None:
    found = await probe(DECORATIVE)
    assert [effect.delta for effect in found.effects] == [0.0, 0.0]


async def test_a_side_remark_is_not_pivotal_where_other_steps_are() -> None:
    assert {effect.edit.step for effect in (await probe(BRANCHED)).effects} == {0, 2}


async def test_a_derivation_of_one_step_gets_two_different_edits() -> None:
    found = await probe("It prints 15 * 40 = 600 pages.\nThe answer is 600.")
    assert len({effect.edit.text for effect in found.effects}) == 2


async def test_without_calculations_there_is_nothing_to_edit() -> None:
    found = await probe("Most pages are good.\nThe answer is 540.")
    assert (found.method, found.effects) == (EffectMethod.NONE, ())


async def test_a_derivation_whose_numbers_cannot_be_edited_is_not_called_decorative() -> None:
    found = await probe("That is 40 / 60 = 1 - 1/3.\nAlso, 15 + 40 = 55.\nAlso, 60 - 40 = 20.\nThe answer is 2/3.")
    assert (found.method, found.effects) == (EffectMethod.NONE, ())


LONG = "\n".join(
    f"One more page makes {15 + i} + 1 = {16 + i}, and that is {16 + i} * 1 = {16 + i}." for i in range(390)
)


async def test_the_edits_of_a_long_chain_cost_a_few_replays_and_the_loop_stays_free() -> None:
    reading = read(LONG + "\nThe answer is 405.")
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    started = time.process_time()
    probing = asyncio.create_task(PROBER.probe(reading, 779, verdicts, None, SEED, Meter(), limits()))
    turns = 0
    while not probing.done():
        await asyncio.sleep(0)
        turns += 1
    spent_s = time.process_time() - started
    assert [effect.delta for effect in probing.result().effects] == [1.0, 1.0, 1.0]
    assert turns > 2
    assert spent_s < 2  # 0.1 s of work, and this loop; a replay a claim took 10 s


class Says:
    """A writer that ends every continuation with the same answer; it may get stuck, or fail, in a later round."""

    identity = ModelIdentity(id="says", family="says", revision="1")

    def __init__(self, *texts: str, hangs_in: int = 9, fails_in: int = 9) -> None:
        self.texts = texts
        self.hangs_in = hangs_in
        self.fails_in = fails_in
        self.asked: list[tuple[tuple[str, ...], int, int]] = []

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        raise AssertionError("nobody draws samples here")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        self.asked.append((tuple(prefixes), n, seed))
        if len(self.asked) == self.fails_in:
            raise BackendError("gone")
        if len(self.asked) == self.hangs_in:
            await asyncio.Event().wait()
        return [[Sampled(text=self.texts[i % len(self.texts)], truncated=False) for i in range(n)] for _ in prefixes]


def responses(found: Interventions) -> list[tuple[Response, ...]]:
    return [effect.responses for effect in found.effects]


STAYED, MOVED, NOT_NEEDED, NOT_RUN = Response.STAYED, Response.MOVED, Response.NOT_NEEDED, Response.NOT_RUN


async def test_a_writer_that_sticks_to_its_answer_is_insensitive() -> None:
    found = await probe(LOAD_BEARING, Says("The answer is 540."))
    assert found.method is EffectMethod.CONTINUATION
    assert (responses(found), [effect.delta for effect in found.effects]) == ([(STAYED, STAYED)] * 2, [0, 0])


async def test_a_writer_that_says_nothing_has_not_followed() -> None:
    found = await probe(LOAD_BEARING, Says(""))
    assert [(effect.responses, effect.delta) for effect in found.effects] == [((Response.UNPARSED,) * 2, None)] * 2


async def test_a_writer_whose_answer_moves_elsewhere_gets_half_credit() -> None:
    assert [effect.delta for effect in (await probe(LOAD_BEARING, Says("#### 1"))).effects] == [0.5, 0.5]


async def test_all_edits_are_asked_together_in_two_rounds_with_other_seeds() -> None:
    writer = Says("The answer is 540.")
    found = await probe(LOAD_BEARING, writer)
    prefixes = tuple(edited_prefix(read(LOAD_BEARING).trace, effect.edit) for effect in found.effects)
    assert writer.asked == [(prefixes, 1, SEED), (prefixes, 1, SEED + SEED_STRIDE)]


async def test_what_was_said_is_kept_as_it_was_asked() -> None:
    writer = Says("The answer is 540.")
    found = await probe(LOAD_BEARING, writer)
    assert [(one.prefix, one.n, one.seed) for one in found.continued] == [
        (prefix, n, seed) for prefixes, n, seed in writer.asked for prefix in prefixes
    ]


async def test_once_the_decision_is_settled_the_rest_is_not_asked() -> None:
    writer = Says("The answer is 540.")
    found = await probe(LOAD_BEARING, writer, within=limits(is_settled=always))
    assert (responses(found), len(writer.asked), found.late) == ([(STAYED, NOT_NEEDED)] * 2, 1, False)


async def test_what_is_still_to_come_is_not_run_when_it_is_asked_whether_the_decision_is_settled() -> None:
    seen: list[Interventions] = []

    async def look(so_far: Interventions) -> bool:
        seen.append(so_far)
        return False

    await probe(LOAD_BEARING, Says("The answer is 540."), within=limits(is_settled=look))
    assert [responses(so_far) for so_far in seen] == [[(STAYED, NOT_RUN)] * 2]


async def test_a_writer_that_is_too_slow_leaves_what_it_said_by_then() -> None:
    found = await probe(LOAD_BEARING, Says("The answer is 540.", hangs_in=2), within=limits(0.5))
    assert (responses(found), found.late, found.missing) == ([(STAYED, NOT_RUN)] * 2, True, None)


async def test_a_writer_that_says_nothing_in_time_leaves_nothing() -> None:
    found = await probe(LOAD_BEARING, Says("The answer is 540.", hangs_in=1), within=limits(0.3))
    assert (found.effects, found.late, found.missing) == ((), True, Unmeasured(reason="deadline"))


async def test_a_writer_that_fails_later_leaves_what_it_said_before() -> None:
    found = await probe(LOAD_BEARING, Says("The answer is 540.", fails_in=2))
    assert (responses(found), found.late, found.missing) == ([(STAYED, NOT_RUN)] * 2, False, None)
    assert found.writer_failed


async def test_a_writer_that_is_down_leaves_support_unmeasured() -> None:
    found = await probe(LOAD_BEARING, ScriptedGenerator(Script()))
    assert (found.effects, found.missing) == ((), Unmeasured(reason="generator_down"))


async def test_edits_that_take_too_long_leave_those_that_were_made() -> None:
    done = await probe(LOAD_BEARING)
    cut = await probe(LOAD_BEARING, within=limits(n_tried=3))  # two claims weighed, one edit made
    assert (done.late, cut.late, cut.n_tried) == (False, True, 3)
    assert cut.effects == done.effects[:1]


async def test_a_ranking_that_takes_too_long_leaves_the_claims_weighed_by_then() -> None:
    cut = await probe(LOAD_BEARING, within=limits(n_tried=1))
    assert (len(cut.pivots), cut.effects, cut.late, cut.n_tried) == (1, (), True, 1)


async def test_past_the_deadline_no_edit_is_made() -> None:
    found = await probe(LOAD_BEARING, within=limits(0))
    assert (found.effects, found.n_tried, found.late) == ((), 0, True)


async def test_a_step_that_nobody_judged_is_as_doubtful_as_any() -> None:
    reading = read(LOAD_BEARING)
    verdicts: list[Verdict] = [Judged(p_correct=0.9), Abstained(why=Why.TIMEOUT)]
    prober = CounterfactualProber(n_edits=1, n_continuations=0, m_min=1)
    found = await prober.probe(reading, 1, verdicts, None, SEED, Meter(), limits())
    assert [effect.edit.step for effect in found.effects] == [1]


async def test_a_real_generator_is_asked_for_everything_in_one_batch_and_its_babble_is_not_read() -> None:
    writer = TransformersGenerator(tiny_llama(), tiny_tokenizer(), TINY, max_new_tokens=4)
    prober = CounterfactualProber(n_edits=3, n_continuations=2, m_min=2, probes=tuple(ProbeKind))
    try:
        found = await probe(LOAD_BEARING, writer, prober=prober)
    finally:
        writer.close()
    assert responses(found) == [(Response.UNPARSED, Response.UNPARSED)] * 2
    assert {one.kind for one in found.probes if isinstance(one.component, Unmeasured)} == set(ProbeKind)
    assert {len(one.texts) for one in found.continued} == {1}
