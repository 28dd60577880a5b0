"""Pivotal steps are edited, and load-bearing steps are told from decoration."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from counterfactuals.effects import read_response
from counterfactuals.pivotal import rank_pivots
from counterfactuals.prefixes import edited_prefix
from counterfactuals.probe import CounterfactualProber
from rafs.derivation import link_answer
from rafs.engines.scripted import SampleKey, Script, ScriptedGenerator
from rafs.errors import BackendError
from rafs.interventions import Edit, EditFamily, EffectMethod, Interventions, Response
from rafs.outcomes import Unmeasured
from rafs.reading import read_text
from rafs.types import Abstained, Judged, Reading, Sampled, Verdict, Why
from rafs.usage import Meter

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


async def probe(text: str, generator: ScriptedGenerator | None = None) -> Interventions:
    reading = read(text)
    target = link_answer(reading.trace, reading.graph).target
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    return await PROBER.probe(reading, target, verdicts, generator, SEED, Meter())


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


def test_doubtful_steps_are_edited_first() -> None:
    assert list(rank_pivots(read(LOAD_BEARING), 1, {0: 0.9, 1: 0.3}, SEED)) == [1, 0]
    assert list(rank_pivots(read(LOAD_BEARING), 1, {0: 0.2, 1: 0.3}, SEED)) == [0, 1]


def test_ties_are_broken_by_the_seed() -> None:
    ranked = {rank_pivots(read(LOAD_BEARING), 1, {0: 0.5, 1: 0.5}, seed)[0] for seed in range(20)}
    assert ranked == {0, 1}


def test_only_what_leads_to_the_answer_is_pivotal() -> None:
    assert sorted(rank_pivots(read(BRANCHED), 2, {}, SEED)) == [0, 2]
    assert sorted(rank_pivots(read(BRANCHED), None, {}, SEED)) == [0, 1, 2]


def test_the_claim_of_a_step_that_leads_to_the_answer_is_chosen_before_its_last_one() -> None:
    reading = read("It prints 15 * 40 = 600 pages, while 15 + 60 = 75.\nOf these 600 - 60 = 540 are good.")
    assert sorted(rank_pivots(reading, 2, {}, SEED)) == [0, 2]


async def test_a_derivation_whose_numbers_cannot_be_edited_is_not_called_decorative() -> None:
    found = await probe("That is 40 / 60 = 2/3.\nBy the way, 15 + 40 = 55.\nAlso, 60 - 40 = 20.\nThe answer is 2/3.")
    assert (found.method, found.effects) == (EffectMethod.NONE, ())


LONG = "\n".join(
    f"One more page makes {15 + i} + 1 = {16 + i}, and that is {16 + i} * 1 = {16 + i}." for i in range(390)
)


async def test_the_edits_of_a_long_chain_cost_a_few_replays_and_the_loop_stays_free() -> None:
    reading = read(LONG + "\nThe answer is 405.")
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    started = time.process_time()
    probing = asyncio.create_task(PROBER.probe(reading, 779, verdicts, None, SEED, Meter()))
    turns = 0
    while not probing.done():
        await asyncio.sleep(0)
        turns += 1
    spent_s = time.process_time() - started
    assert [effect.delta for effect in probing.result().effects] == [1.0, 1.0, 1.0]
    assert turns > 2
    assert spent_s < 2  # 0.1 s of work, and this loop; a replay a claim took 10 s


async def scripted(answers: Sequence[str], says: str = "The answer is {}.") -> Interventions:
    """Probe with a writer that continues every edited prefix with the given texts."""
    plain = await probe(LOAD_BEARING)
    prefixes = [edited_prefix(read(LOAD_BEARING).trace, effect.edit) for effect in plain.effects]
    texts = tuple(Sampled(text=says.format(answer), truncated=False) for answer in answers)
    script = Script(samples={SampleKey(problem=PROBLEM, prefix=prefix, n=2, seed=SEED): texts for prefix in prefixes})
    return await probe(LOAD_BEARING, ScriptedGenerator(script))


async def test_a_writer_that_sticks_to_its_answer_is_insensitive() -> None:
    found = await scripted(["540", "540"])
    assert found.method is EffectMethod.CONTINUATION
    assert [effect.responses for effect in found.effects] == [(Response.STAYED, Response.STAYED)] * 2
    assert all(effect.delta == 0 for effect in found.effects)


async def test_an_effect_keeps_exactly_what_the_writer_was_given() -> None:
    effects = (await scripted(["540", "540"])).effects
    assert [effect.prefix for effect in effects] == [
        edited_prefix(read(LOAD_BEARING).trace, effect.edit) for effect in effects
    ]


async def test_a_writer_that_says_nothing_has_not_followed() -> None:
    found = await scripted(["", ""], says="")
    assert [(effect.responses, effect.delta) for effect in found.effects] == [((Response.UNPARSED,) * 2, None)] * 2


async def test_a_writer_whose_answer_moves_elsewhere_gets_half_credit() -> None:
    assert [effect.delta for effect in (await scripted(["1", "2"])).effects] == [0.5, 0.5]


async def test_a_writer_that_is_down_leaves_support_unmeasured() -> None:
    found = await probe(LOAD_BEARING, ScriptedGenerator(Script()))
    assert isinstance(found.missing, Unmeasured)
    assert found.missing.reason == "generator_down"
    with pytest.raises(BackendError):
        await ScriptedGenerator(Script()).sample(PROBLEM, 1, 0, Meter())


async def test_a_step_that_nobody_judged_is_as_doubtful_as_any() -> None:
    reading = read(LOAD_BEARING)
    verdicts: list[Verdict] = [Judged(p_correct=0.9), Abstained(why=Why.TIMEOUT)]
    prober = CounterfactualProber(n_edits=1, n_continuations=0, m_min=1)
    found = await prober.probe(reading, 1, verdicts, None, SEED, Meter())
    assert [effect.edit.step for effect in found.effects] == [1]


EDIT = Edit(step=0, claim=0, family=EditFamily.VALUE, text="", old=600, new=610, predicted=550)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("continuation", "truncated", "response"),
    [
        pytest.param("The answer is 550.", False, Response.FOLLOWED, id="followed"),
        pytest.param("The answer is 700.", False, Response.MOVED, id="moved elsewhere"),
        pytest.param("The answer is 540.", False, Response.STAYED, id="stayed"),
        pytest.param(
            "Wait, that is a mistake: 15 * 40 = 600. The answer is 540.", False, Response.RECOVERED, id="repaired"
        ),
        pytest.param("and so on", False, Response.UNPARSED, id="no answer"),
        pytest.param("", False, Response.UNPARSED, id="nothing"),
        pytest.param(" ", False, Response.UNPARSED, id="a space"),
        pytest.param("\nI do not know.", False, Response.UNPARSED, id="a refusal"),
        pytest.param("That is all she has.", False, Response.UNPARSED, id="words alone"),
        pytest.param("The answer is 550.", True, Response.UNPARSED, id="truncated"),
    ],
)
def test_responses(continuation: str, truncated: bool, response: Response) -> None:
    assert read_response(EDIT, "540", Sampled(text=continuation, truncated=truncated)) is response
