"""The influence of a step without claims is what the writer's answer loses when the step is left out."""

import asyncio
from collections.abc import Callable, Sequence

from counterfactuals.ablation import ANSWER_TOKENS
from counterfactuals.probe import ABLATION_SEED, CounterfactualProber
from counterfactuals.probes import FORCED
from rafs.errors import BackendError
from rafs.interventions import Interventions, Pivot, PivotReason, ProbeLimits
from rafs.reading import read_text
from rafs.types import Judged, ModelIdentity, Sampled, Verdict
from rafs.usage import Meter

PROBLEM = "Two trains leave together. Which one arrives first?"
KEY = "Therefore the engine at the front decides."
ASIDE = "So the weather was nice as well."
OTHER = "Hence we look at that engine alone."
STEPS = [ASIDE, KEY, OTHER, "The answer is blue."]
SEED = 3


class Answers:
    """A writer that, forced, answers by what it was given; otherwise it says nothing that could be read."""

    identity = ModelIdentity(id="answers", family="answers", revision="1")

    def __init__(self, answer: Callable[[str], Sequence[str]], *, hangs: bool = False) -> None:
        self.answer = answer
        self.hangs = hangs
        self.forced: list[tuple[tuple[str, ...], int, int, int | None]] = []

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        raise AssertionError("nobody draws samples here")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        if not prefixes[0].endswith(FORCED):
            return [[Sampled(text="...", truncated=False)] * n for _ in prefixes]
        self.forced.append((tuple(prefixes), n, seed, max_tokens))
        if self.hangs:
            await asyncio.Event().wait()
        return [[Sampled(text=f" {text}\nand", truncated=True) for text in self.answer(one)] for one in prefixes]


def by_key(prefix: str) -> Sequence[str]:
    return ["blue", "blue"] if KEY in prefix else ["green", "blue"]


async def never(so_far: Interventions) -> bool:
    return False


async def probe(
    writer: Answers, steps: Sequence[str] = tuple(STEPS), *, n_edits: int = 3, seconds: float = 60, on: bool = True
) -> Interventions:
    reading = read_text(PROBLEM, steps, "blue")
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    prober = CounterfactualProber(n_edits=n_edits, n_continuations=2, m_min=1, with_ablation=on)
    limits = ProbeLimits(ends_at=asyncio.get_running_loop().time() + seconds, is_settled=never)
    return await prober.probe(reading, None, verdicts, writer, SEED, Meter(), limits)


def weights(found: Interventions) -> dict[int, tuple[float | None, PivotReason]]:
    return {pivot.step: (pivot.influence, pivot.reason) for pivot in found.pivots}


async def test_influence_is_what_the_stated_answer_loses_by_hand() -> None:
    assert weights(await probe(Answers(by_key))) == {
        0: (0.0, PivotReason.ABLATION),
        1: (0.5, PivotReason.ABLATION),
        2: (0.0, PivotReason.ABLATION),
    }


async def test_the_influential_step_is_edited_first() -> None:
    assert (await probe(Answers(by_key))).pivots[0].step == 1


async def test_all_steps_are_left_out_in_one_call_of_a_few_tokens() -> None:
    writer = Answers(by_key)
    await probe(writer)
    [(prefixes, n, seed, max_new_tokens)] = writer.forced
    lines = [f"{ASIDE}\n{KEY}\n{OTHER}\n", f"{KEY}\n{OTHER}\n", f"{ASIDE}\n{OTHER}\n", f"{ASIDE}\n{KEY}\n"]
    assert sorted(prefixes) == sorted(line + FORCED for line in lines)
    assert (n, seed, max_new_tokens) == (2, SEED + ABLATION_SEED, ANSWER_TOKENS)


async def test_no_more_steps_are_left_out_than_edits_are_wanted() -> None:
    writer = Answers(by_key)
    found = await probe(writer, n_edits=1)
    assert len(writer.forced[0][0]) == 2  # all of it, and all but one step
    assert [reason for _, reason in weights(found).values()].count(PivotReason.ABLATION) == 1


async def test_a_writer_that_does_not_come_to_its_answer_weighs_nothing() -> None:
    found = await probe(Answers(lambda prefix: ["green", "green"]))
    assert set(weights(found).values()) == {(None, PivotReason.TEXT)}


async def test_an_answer_that_cannot_be_read_weighs_nothing() -> None:
    found = await probe(Answers(lambda prefix: ["blue", "blue"] if KEY in prefix else ["", ""]))
    assert weights(found)[1] == (None, PivotReason.TEXT)


async def test_a_step_behind_the_first_mention_of_the_answer_is_not_weighed() -> None:
    writer = Answers(by_key)
    found = await probe(writer, [KEY, "So it is the blue one.", OTHER, "The answer is blue."])
    assert weights(found)[2] == (None, PivotReason.TEXT)
    assert all("blue" not in prefix for prefix in writer.forced[0][0])


async def test_what_the_writer_said_is_kept_with_the_continuations() -> None:
    writer = Answers(by_key)
    found = await probe(writer)
    kept = [(one.prefix, one.seed) for one in found.continued if one.prefix.endswith(FORCED)]
    assert kept == [(prefix, SEED + ABLATION_SEED) for prefix in writer.forced[0][0]]


async def test_a_writer_that_is_too_slow_leaves_the_steps_unweighed_and_time_for_their_edits() -> None:
    found = await probe(Answers(by_key, hangs=True), seconds=2)
    assert set(weights(found).values()) == {(None, PivotReason.TEXT)}
    assert not found.late


async def test_a_writer_that_fails_leaves_the_steps_unweighed() -> None:
    def fail(prefix: str) -> Sequence[str]:
        raise BackendError("gone")

    assert set(weights(await probe(Answers(fail))).values()) == {(None, PivotReason.TEXT)}


async def test_it_can_be_switched_off() -> None:
    writer = Answers(by_key)
    assert set(weights(await probe(writer, on=False)).values()) == {(None, PivotReason.TEXT)}
    assert writer.forced == []


async def test_steps_with_claims_are_weighed_by_replay_alone() -> None:
    writer = Answers(by_key)
    found = await probe(writer, ["It has 2 * 3 = 6 cars.", "Then 6 + 4 = 10 cars.", "The answer is blue."])
    assert {pivot.reason for pivot in found.pivots} == {PivotReason.DECORATION}
    assert writer.forced == []


def test_an_influence_that_is_not_known_ranks_between_much_and_none() -> None:
    from counterfactuals.pivotal import by_weight

    def pivot(step: int, influence: float | None) -> Pivot:
        reason = PivotReason.TEXT if influence is None else PivotReason.ABLATION
        return Pivot(step=step, claim=None, influence=influence, doubt=0.5, reason=reason)

    ranked = sorted([pivot(0, 0.0), pivot(1, None), pivot(2, -1.0), pivot(3, 0.25)], key=by_weight)
    assert [one.step for one in ranked] == [2, 1, 3, 0]
