"""What an editor proposes is used only where every constraint holds and the validator lets it pass."""

import asyncio
from collections.abc import Sequence

import pytest

from counterfactuals.constraints import Broken
from counterfactuals.probe import CounterfactualProber
from counterfactuals.proposals import MAX_SENTENCE_CHARS, Refusal
from rafs.contracts import Editor, Nli
from rafs.engines.scripted import Script, ScriptedEditor, ScriptedNli
from rafs.errors import BackendError, OverloadedError
from rafs.interventions import EditFamily, Interventions, ProbeLimits
from rafs.reading import read_text
from rafs.types import Abstained, Entailment, Judged, ModelIdentity, Sampled, Verdict, Why
from rafs.usage import Meter

PROBLEM = "Two trains leave together. Which one arrives first?"
SAID = "Therefore the red train wins the race"
STEPS = ["The red one has a stronger engine.", f"{SAID}.", "So it comes in first."]
ANSWER = "north"
NEUTRAL = Entailment(entails=0.1, neutral=0.2, contradicts=0.7)
SAME = Entailment(entails=0.9, neutral=0.1, contradicts=0.0)


class Says:
    """A writer that always comes to the same answer."""

    identity = ModelIdentity(id="says", family="says", revision="1")

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        raise AssertionError("nobody draws samples here")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        return [[Sampled(text="The answer is north.", truncated=False)] * n for _ in prefixes]


class Proposes:
    """An editor that proposes the same texts for every sentence, or fails."""

    identity = ModelIdentity(id="proposes", family="proposes", revision="1")

    def __init__(self, *texts: str | Abstained, error: Exception | None = None, hangs: bool = False) -> None:
        self.texts = texts
        self.error = error
        self.hangs = hangs
        self.asked: list[str] = []

    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        self.asked += sentences
        if self.error is not None:
            raise self.error
        if self.hangs:
            await asyncio.Event().wait()
        return [self.texts for _ in sentences]


class Opines:
    """A validator with one opinion of everything."""

    identity = ModelIdentity(id="opines", family="opines", revision="1")

    def __init__(self, opinion: Entailment | Abstained = NEUTRAL, *, of_reverse: Entailment | None = None) -> None:
        self.opinion = opinion
        self.of_reverse = of_reverse or opinion

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        return [self.opinion if premise == SAID else self.of_reverse for premise, _ in pairs]


class Fails(Opines):
    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        raise BackendError("gone")


LETS_PASS = Opines()


async def never(so_far: Interventions) -> bool:
    return False


async def probe(
    editor: Editor | None,
    validator: Nli | None = LETS_PASS,
    steps: Sequence[str] = tuple(STEPS),
    *,
    n_continuations: int = 1,
    seconds: float = 60,
) -> Interventions:
    reading = read_text(PROBLEM, steps, ANSWER)
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    prober = CounterfactualProber(n_edits=3, n_continuations=n_continuations, m_min=1)
    limits = ProbeLimits(ends_at=asyncio.get_running_loop().time() + seconds, is_settled=never)
    return await prober.probe(reading, None, verdicts, Says(), 1, Meter(), limits, editor=editor, validator=validator)


def proposed(found: Interventions) -> list[tuple[int, str]]:
    return [(one.edit.step, one.edit.text) for one in found.effects if one.edit.family is EditFamily.PROPOSED]


def codes(found: Interventions, step: int = 1) -> list[str]:
    return [code for at, code in found.discarded if at == step]


GOOD = "Therefore the red train loses the race."


async def test_a_proposal_that_passes_is_an_edit_with_its_effect() -> None:
    found = await probe(Proposes(GOOD))
    assert (1, GOOD) in proposed(found)
    assert all(effect.responses for effect in found.effects)


async def test_the_edit_names_the_words_that_changed() -> None:
    [edit] = [one.edit for one in (await probe(Proposes(GOOD))).effects if one.edit.text == GOOD]
    assert (edit.old, edit.new, edit.predicted) == ("wins", "loses", None)


@pytest.mark.parametrize(
    ("proposal", "old", "new"),
    [
        pytest.param("Therefore the red train never wins the race.", "train", "train never", id="a word more"),
        pytest.param("Therefore the train wins the race.", "the red", "the", id="a word less"),
        pytest.param("Hardly therefore the red train wins the race.", "Therefore", "Hardly therefore", id="in front"),
    ],
)
async def test_words_that_are_only_added_or_taken_out_are_named_with_a_neighbour(
    proposal: str, old: str, new: str
) -> None:
    found = await probe(Proposes(proposal), steps=[f"{SAID}.", "So it comes in."])
    assert [(one.edit.old, one.edit.new) for one in found.effects if one.edit.text == proposal] == [(old, new)]


async def test_the_rest_of_the_step_stays_as_it_was() -> None:
    steps = ["Its engine  counts,\tas we saw. Hence the slim train comes in first!", "So we stop."]
    found = await probe(Proposes("Hence the slim train comes in last."), steps=steps)
    assert (0, "Its engine  counts,\tas we saw. Hence the slim train comes in last!") in proposed(found)


@pytest.mark.parametrize(
    ("proposal", "code"),
    [
        pytest.param(f"{SAID}.", Broken.VACUOUS, id="nothing changed"),
        pytest.param("Therefore the blue train loses the race.", Broken.NOT_ATOMIC, id="two places"),
        pytest.param(
            "Therefore the red train wins the race so that nobody else of them all can win it at all today.",
            Broken.NOT_BOUNDED,
            id="too long",
        ),
        pytest.param("Therefore a plane lands.", Broken.NOT_BOUNDED, id="another sentence"),
        pytest.param("Therefore the red train wins 2 races.", Broken.NOT_ISOLATED, id="a number more"),
        pytest.param("Therefore the red train wins the race, 2 + 2 = 4.", Broken.NOT_ISOLATED, id="a claim more"),
        pytest.param(Abstained(why=Why.UNPARSED), Refusal.NO_PROPOSAL, id="no sentence"),
    ],
)
async def test_a_proposal_that_breaks_a_constraint_is_discarded_under_its_code(
    proposal: str | Abstained, code: str
) -> None:
    found = await probe(Proposes(proposal))
    assert (proposed(found), codes(found)) == ([], [code])


async def test_a_proposal_that_gives_the_answer_away_is_discarded() -> None:
    found = await probe(
        Proposes("Hence the slim train comes from north."),
        steps=["Hence the slim train comes from afar.", "So we stop."],
    )
    assert Broken.LEAKS_ANSWER in codes(found, 0)


async def test_a_proposal_that_the_sentence_entails_says_the_same() -> None:
    found = await probe(Proposes(GOOD), Opines(SAME, of_reverse=NEUTRAL))
    assert (proposed(found), codes(found)) == ([], [Refusal.SAYS_THE_SAME])


async def test_a_proposal_that_entails_the_sentence_says_the_same() -> None:
    found = await probe(Proposes(GOOD), Opines(NEUTRAL, of_reverse=SAME))
    assert codes(found) == [Refusal.SAYS_THE_SAME]


@pytest.mark.parametrize("validator", [Opines(Abstained(why=Why.TOO_LONG)), Fails()], ids=["cannot say", "is down"])
async def test_what_nobody_could_check_is_not_used(validator: Nli) -> None:
    found = await probe(Proposes(GOOD), validator)
    assert (proposed(found), codes(found)) == ([], [Refusal.NOT_VALIDATED])


@pytest.mark.parametrize(
    "error", [BackendError("gone"), OverloadedError("full", retry_after_s=1.0)], ids=["down", "full"]
)
async def test_an_editor_that_fails_leaves_the_edits_by_rules(error: Exception) -> None:
    found = await probe(Proposes(error=error))
    assert (proposed(found), codes(found)) == ([], [Refusal.NO_PROPOSAL])
    assert found.missing is None


async def test_an_editor_that_is_too_slow_leaves_time_for_the_writer() -> None:
    found = await probe(Proposes(hangs=True), steps=[*STEPS, "The first engine is weaker, so it is slower."], seconds=4)
    assert codes(found) == [Refusal.NO_PROPOSAL]
    assert [effect.edit.family for effect in found.effects if effect.delta is not None] == [EditFamily.NEGATION]


async def test_every_proposal_counts_as_a_candidate() -> None:
    none, some = await probe(None), await probe(Proposes(GOOD, "Therefore the red train loses a race."))
    n_asked = len(some.editing.proposed)
    assert none.n_tried is not None
    assert some.n_tried == none.n_tried + 2 * n_asked


async def test_where_rules_turn_a_sentence_round_no_editor_is_asked() -> None:
    editor = Proposes(GOOD)
    await probe(editor, steps=["The red train is faster.", "So it comes in first."])
    assert editor.asked == ["So it comes in first"]


@pytest.mark.parametrize(
    "step",
    [
        pytest.param("Is the red train quick?", id="a question"),
        pytest.param("We need to compare the engines.", id="a plan"),
        pytest.param(f"Therefore the train is {'very ' * (MAX_SENTENCE_CHARS // 5)}quick.", id="a long sentence"),
    ],
)
async def test_what_concludes_nothing_is_not_shown_to_the_editor(step: str) -> None:
    editor = Proposes(GOOD)
    await probe(editor, steps=[step, f"{SAID}."])
    assert editor.asked == [SAID]


async def test_without_continuations_no_editor_is_asked() -> None:
    editor = Proposes(GOOD)
    assert (await probe(editor, n_continuations=0)).effects == ()
    assert editor.asked == []


async def test_without_a_validator_no_editor_is_asked() -> None:
    editor = Proposes(GOOD)
    await probe(editor, None)
    assert editor.asked == []


async def test_what_was_said_is_kept_and_says_the_same_again() -> None:
    first = await probe(Proposes(GOOD, Abstained(why=Why.UNPARSED)))
    script = Script(pairs=dict(first.editing.opinions))
    for one in first.editing.proposed:
        texts = (Abstained(why=Why.UNPARSED) if text is None else text for text in one.texts)
        script.proposals[one.sentence, one.seed] = tuple(texts)
    editor, validator = first.editing.editor, first.editing.validator
    assert editor is not None
    assert validator is not None
    again = await probe(ScriptedEditor(script, editor), ScriptedNli(script, validator))
    assert again == first
