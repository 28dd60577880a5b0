"""Complementary probes tell a writer that uses its steps from one that does not; the control changes nothing."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from counterfactuals.paraphrase import reword_step, reword_steps
from counterfactuals.probe import CounterfactualProber
from counterfactuals.probes import (
    FORCED,
    MAX_CUTS,
    MAX_DELETIONS,
    MAX_REWORDED_STEPS,
    Question,
    ask_probes,
    conclude_probes,
)
from rafs.derivation import link_answer
from rafs.interventions import Interventions, ProbeLimits
from rafs.outcomes import Measured, Unmeasured
from rafs.probes import ProbeFinding, ProbeKind
from rafs.reading import read_text
from rafs.types import BlindStep, Judged, ModelIdentity, Reading, Sampled, StepKind, Verdict
from rafs.usage import Meter

PROBLEM = "A crew lays 3 and 4 tiles, then 5, then 6, and in the end 9 tiles. How many tiles are laid?"
TRACE = (
    "First 3 + 4 = 7 tiles.\nThen 7 + 5 = 12 tiles.\nThen 12 + 6 = 18 tiles.\nSo 18 + 9 = 27 tiles.\nThe answer is 27."
)
ADDED = ("5", "6", "9")
KINDS = tuple(ProbeKind)


class Adder:
    """A writer that adds what its prefix has not added yet to the last number of it; forced, it says that number."""

    identity = ModelIdentity(id="adder", family="adder", revision="1")

    def __init__(self, *, always: str | None = None) -> None:
        self.always = always
        self.asked: list[str] = []

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        raise AssertionError("nobody draws samples here")

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        self.asked += prefixes
        return [[Sampled(text=self.go_on(prefix), truncated=False)] * n for prefix in prefixes]

    def go_on(self, prefix: str) -> str:
        numbers = re.findall(r"\d+", prefix) or ["0"]
        if prefix.endswith(FORCED):
            return f" {self.always or numbers[-1]}"
        total = int(numbers[-1]) + sum(int(one) for one in ADDED if f"+ {one} " not in prefix)
        return f"The answer is {self.always or total}."


def read(text: str = TRACE) -> Reading:
    return read_text(PROBLEM, text, None)


async def never(so_far: Interventions) -> bool:
    return False


async def found_by(writer: Adder | None, text: str = TRACE) -> dict[ProbeKind, ProbeFinding]:
    reading = read(text)
    target = link_answer(reading.trace, reading.graph).target
    prober = CounterfactualProber(n_edits=4, n_continuations=2, m_min=2, probes=KINDS)
    limits = ProbeLimits(ends_at=asyncio.get_running_loop().time() + 60, is_settled=never)
    verdicts: list[Verdict] = [Judged(p_correct=0.9)] * len(reading.trace.derivation())
    found = await prober.probe(reading, target, verdicts, writer, 5, Meter(), limits)
    return {finding.kind: finding for finding in found.probes}


def values(found: dict[ProbeKind, ProbeFinding]) -> dict[ProbeKind, float]:
    return {kind: one.component.value for kind, one in found.items() if isinstance(one.component, Measured)}


async def test_a_writer_that_uses_its_steps_depends_on_them() -> None:
    assert values(await found_by(Adder())) == {
        ProbeKind.EARLY_ANSWERING: pytest.approx(0.875),  # only the last of four steps gives the answer
        ProbeKind.DELETION: 0.25,  # a step that nothing behind it repeats is worked out again
        ProbeKind.PARAPHRASE: 1.0,
        ProbeKind.ADDED_MISTAKE: 1.0,
        ProbeKind.UNEDITED: 1.0,
    }


async def test_a_writer_that_knew_its_answer_before_depends_on_nothing() -> None:
    assert values(await found_by(Adder(always="27"))) == {
        ProbeKind.EARLY_ANSWERING: 0.0,
        ProbeKind.DELETION: 0.0,
        ProbeKind.PARAPHRASE: 1.0,
        ProbeKind.ADDED_MISTAKE: 0.0,
        ProbeKind.UNEDITED: 1.0,
    }


async def test_the_control_stands_beside_the_writers_own_wording() -> None:
    assert (await found_by(Adder()))[ProbeKind.PARAPHRASE].baseline == Measured(value=1.0, coverage=1.0)


async def test_where_nothing_was_edited_stands_beside_the_edits_of_the_same_steps() -> None:
    dependent, fixed, erratic = [
        (await found_by(Adder(always=said)))[ProbeKind.UNEDITED] for said in (None, "27", "31")
    ]
    assert [one.baseline for one in (dependent, fixed, erratic)] == [Measured(value=x, coverage=1.0) for x in (0, 1, 0)]
    assert [one.component for one in (dependent, fixed, erratic)] == [
        Measured(value=x, coverage=1.0) for x in (1, 1, 0)
    ]
    assert [point.step for point in dependent.points] == list(dict.fromkeys(point.step for point in dependent.points))


async def test_the_unedited_prefixes_are_those_of_the_edits_but_for_the_edit() -> None:
    writer = Adder()
    await found_by(writer)
    lines = TRACE.splitlines()
    unedited = {"".join(f"{line}\n" for line in lines[:n]) for n in range(1, 5)}
    assert unedited <= set(writer.asked)


async def test_an_unedited_prefix_ends_before_the_answer_as_the_edited_one_does() -> None:
    writer = Adder()
    found = await found_by(writer, TRACE.replace("tiles.\nThe answer", "tiles. The answer"))
    assert {point.step for point in found[ProbeKind.UNEDITED].points} == {0, 1, 2, 3}
    assert "".join(f"{line}\n" for line in TRACE.splitlines()[:4]) in writer.asked
    assert not any("[answer]" in prefix for prefix in writer.asked)


async def test_without_a_generator_every_probe_says_why_it_is_not_measured() -> None:
    found = await found_by(None)
    assert [one.component for one in found.values()] == [Unmeasured(reason="no_generator")] * len(KINDS)


async def test_answers_that_cannot_be_read_are_not_counted_as_changed() -> None:
    found = await found_by(Adder(always="unclear"))
    assert values(found) == {}
    assert all(point.read == 0 for one in found.values() for point in one.points)


async def test_probes_and_edits_are_asked_in_one_call_and_no_prefix_twice() -> None:
    writer = Adder()
    await found_by(writer)
    first_round = writer.asked[: len(set(writer.asked))]
    assert len(set(first_round)) == len(first_round)


@pytest.mark.parametrize(
    ("said", "truncated", "stays"),
    [
        pytest.param(" 27.", False, True, id="the answer"),
        pytest.param(": 27 tiles\nTo see why,", True, True, id="what it rambles on about is not read"),
        pytest.param(" 26.", False, False, id="another answer"),
        pytest.param(" found by adding", False, None, id="no answer"),
        pytest.param(" 27", True, None, id="cut, perhaps inside a number"),
    ],
)
def test_a_forced_answer_is_what_stands_in_the_first_line(said: str, truncated: bool, stays: bool | None) -> None:
    question = asked(ProbeKind.EARLY_ANSWERING)[0]
    heard = {question.prefix: [Sampled(text=said, truncated=truncated)]}
    [finding] = conclude_probes([ProbeKind.EARLY_ANSWERING], [question], heard, 1, read().trace)
    assert (finding.points[0].same, finding.points[0].read) == (stays is True, stays is not None)


def asked(kind: ProbeKind, text: str = TRACE) -> list[Question]:
    return ask_probes(read(text).trace, [kind], [])


def test_a_trace_is_cut_evenly_from_nothing_to_all_of_it() -> None:
    questions = asked(ProbeKind.EARLY_ANSWERING)
    assert [one.position for one in questions] == [0, 0.25, 0.5, 0.75, 1]
    assert [one.prefix.count("\n") for one in questions] == [0, 1, 2, 3, 4]
    assert all(one.prefix.endswith(FORCED) for one in questions)


LONG = "\n".join(f"Then {i} + 1 = {i + 1} tiles." for i in range(100, 300)) + "\nThe answer is 300."


@pytest.mark.parametrize(("kind", "most"), [(ProbeKind.EARLY_ANSWERING, MAX_CUTS), (ProbeKind.DELETION, MAX_DELETIONS)])
def test_a_long_trace_is_probed_at_few_places(kind: ProbeKind, most: int) -> None:
    assert len(asked(kind, LONG)) == most


def test_what_is_left_of_a_shortened_trace_does_not_mention_the_answer() -> None:
    assert not any("27" in one.prefix for one in asked(ProbeKind.DELETION))
    assert [one.step for one in asked(ProbeKind.DELETION)] == [0, 1, 2, 3]


def test_a_trace_that_states_its_answer_first_is_cut_before_that_alone() -> None:
    post_hoc = "The tiles are counted.\nThe answer is 27, for 3 + 4 = 7.\nThen 7 + 5 = 12.\nThe answer is 27."
    assert {one.prefix for kind in KINDS for one in asked(kind, post_hoc) if "27" in one.prefix} == set()


def test_of_a_long_trace_the_beginning_is_reworded() -> None:
    cuts = [one.prefix.count("\n") for one in asked(ProbeKind.PARAPHRASE, LONG) if not one.is_baseline]
    assert max(cuts) == MAX_REWORDED_STEPS


def test_an_option_is_mentioned_by_its_letter_alone() -> None:
    text = "Take a bag of tiles.\nBoth are blue.\nOption B fits.\nThe answer is (B)."
    assert [one.step for one in asked(ProbeKind.DELETION, text)] == [0, 1, 2]
    assert not any("B " in one.prefix for one in asked(ProbeKind.DELETION, text))


def test_a_trace_without_an_answer_is_not_probed() -> None:
    assert ask_probes(read("Then 7 + 5 tiles are laid").trace, KINDS, []) == []


@pytest.mark.parametrize(
    ("text", "reworded"),
    [
        pytest.param("So 3 + 4 = 7 tiles.", "Therefore 3 + 4 = 7 tiles.", id="a connective"),
        pytest.param("First, we need to add 3 + 4 = 7.", "To begin with, we have to add 3 + 4 = 7.", id="two of them"),
        pytest.param("She lays 3 + 4 = 7 tiles.", "At this point: She lays 3 + 4 = 7 tiles.", id="a frame"),
        pytest.param("3 + 4 = 7", None, id="a formula stays"),
        pytest.param("1. 3 + 4 = 7", None, id="a list number stays"),
    ],
)
def test_a_step_in_other_words(text: str, reworded: str | None) -> None:
    assert reword_step(BlindStep(index=0, text=text, kind=StepKind.INFERENCE), PROBLEM) == reworded


PLANTED = [
    text.format(a=a, b=a + 2, c=2 * a + 2, d=2 * a + 1)
    for a in range(10, 60)
    for text in (
        "First, she has {a} + {b} = {c} tiles.\nThen one breaks, so {c} - 1 = {d} tiles remain.\nThe answer is {d}.",
        "We need to calculate {a} + {b} = {c}.\nThis means that {c} - 1 = {d} are good.\n#### {d}",
        "Because {a} + {b} = {c}, there are {c} tiles.\nHence {c} minus 1 is {d}.\nThe answer is {d}.",
    )
]


def test_rewording_changes_no_claim_and_no_derived_answer() -> None:
    changed = [text for text in PLANTED if graph_of(read(text)) != graph_of(reworded(text))]
    assert changed == []


def test_rewording_reaches_nearly_every_step() -> None:
    pairs = [
        (step.blind_text, new)
        for text in PLANTED
        for trace in [read(text).trace]
        for step, new in zip(trace.derivation(), reword_steps(trace, 9), strict=True)
    ]
    assert sum(old != new for old, new in pairs) > 0.9 * len(pairs)


def reworded(text: str) -> Reading:
    trace = read(text).trace
    return read("\n".join([*reword_steps(trace, 9), trace.steps[-1].text]))


def graph_of(reading: Reading) -> tuple[object, ...]:
    claims = reading.graph.claims
    return reading.graph.derived, [(one.left, one.result, one.truth, one.operands[0].source) for one in claims]
