import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from rafs.wire import AnswerOut, ClaimOut, ProbeOut, ScoreResponse, StabilityOut
from service.report import render_report
from tests.service.stand_in import make_component, make_response, make_step


def report(response: ScoreResponse, *, width: int = 80, colour: bool = False, name: str = "a.json") -> str:
    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=colour, no_color=not colour, markup=False, emoji=False, highlight=False
    )
    render_report(name, response, console)
    return stream.getvalue()


@pytest.mark.parametrize(
    "fact",
    [
        "42.5 of 100",
        "(30.0 to 55.0)",
        "REVIEW",
        "silent failure: reasoning flawed, answer supported",
        "because: refuted step, score below threshold",
        "1 REFUTED 0.02",
        "FALSE 55 - 40 = 10: 55 - 40 is 15, not 10 (comes from nowhere: 40)",
        "C answer consensus: too few samples (1 sample, at least 2 are needed)",
        "stated 57 (boxed); derived 10 (NOT the same)",
        "75% agree with the stated one",
        "2 valid by replay; discarded: leak 1",
        "3 are left in this trace, 4 are left in sample 2",
        "samples.3: read up to 8192 tokens",
        "verify 310 ms for 512 tokens",
        "judge-1 (judge, smollm, b179c9523d0e6a0f)",
        "say who wrote the trace with --generator",
        "config 0123456789abcdef, calibration default, preset standard, seed 0",
    ],
)
def test_the_report_says(fact: str) -> None:
    assert fact in " ".join(report(make_response()).split())


def test_the_verdict_is_readable_without_colour() -> None:
    text = report(make_response())
    assert "\x1b" not in text
    assert "REFUTED" in text


def test_colour_is_used_where_there_is_some() -> None:
    assert "\x1b[" in report(make_response(), colour=True)


def test_a_suspect_step_is_marked_with_its_reason() -> None:
    step = make_step(1, "So it doubles.", 0.31, reason="nothing says so")
    text = report(make_response(steps=[step]))
    assert "SUSPECT" in text
    assert "-> nothing says so" in text


def test_only_the_first_suspect_is_the_suspect_step_and_no_later_one_is_ok() -> None:
    steps = [make_step(0, "It is red.", 0.9), make_step(1, "So it doubles.", 0.31), make_step(2, "So 8.", 0.55)]
    marks = re.findall(r"^ *\d+ (\w+) +\d\.\d\d ", report(make_response(steps=steps)), re.MULTILINE)
    assert marks == ["ok", "SUSPECT", "unsure"]


def test_no_score_is_said_and_never_a_number() -> None:
    text = report(make_response(score=None, interval=None, status="Abstain", reasons=["no_answer"]))
    assert "no score   ABSTAIN" in text
    assert "of 100" not in text


def test_what_was_not_measured_has_no_bar() -> None:
    line = next(line for line in report(make_response()).splitlines() if line.startswith("C answer consensus "))
    assert "not measured" in line
    assert "░" not in line


def test_bars_are_as_long_as_their_value() -> None:
    line = next(line for line in report(make_response()).splitlines() if line.startswith("S reasoning"))
    assert (line.count("█"), line.count("░")) == (4, 6)


def test_a_long_trace_shows_its_beginning_and_every_flaw() -> None:
    steps = [make_step(index, f"step {index}", 0.9) for index in range(399)]
    steps.append(make_step(399, "the wrong one", 0.01, refuted=True))
    text = report(make_response(steps=steps))
    assert "the wrong one" in text
    assert "and 339 more steps" in text
    assert "step 300" not in text


def test_markup_emoji_and_terminal_codes_of_a_trace_stay_text() -> None:
    text = report(
        make_response("[bold]x[/bold] :smile: [link=http://x]y[/link]", "\x1b]0;title\x07 \x1b[2J"), colour=True
    )
    assert "[bold]x[/bold] :smile: [link=http://x]y[/link]" in " ".join(text.split())
    assert "\\x1b]0;title\\x07 \\x1b[2J" in text
    assert "\x1b]0" not in text
    assert "\x1b[2J" not in text


@settings(max_examples=60)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=300), st.integers(40, 120))
def test_no_trace_breaks_the_report_or_its_width(text: str, width: int) -> None:
    lines = report(make_response(text, text), width=width, name=text).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line.isprintable() for line in lines)


UNHEARD = "at_chance: only a verifier that is at chance judged it"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "setup", "reason": UNHEARD}, None),
        ({"reason": UNHEARD}, "in words only; no verifier that counts judged it"),
        (
            {"reason": UNHEARD, "claims": [ClaimOut(text="x = y", truth="unknown", reason="", ungrounded=[])]},
            "no verifier that counts judged it",
        ),
        ({"reason": "backend_down: the judge is down"}, "backend down: the judge is down"),
        ({"reason": "timeout"}, "timeout"),
    ],
    ids=["setup", "words", "open claim", "down", "time"],
)
def test_a_step_without_verdict_says_why_in_words_where_it_needed_one(
    changes: dict[str, object], said: str | None
) -> None:
    lines = report(make_response(steps=[make_step(0, "Tom is tall.", None, **changes)])).splitlines()
    at = next(i for i, line in enumerate(lines) if "Tom is tall." in line)
    assert "no verdict" in lines[at]
    below = [line.strip() for line in lines[at + 1 :] if line.strip().startswith("->")]
    assert below == ([] if said is None else [f"-> {said}"])
    assert "chance" not in "\n".join(lines)


def test_a_reason_names_its_component_by_its_title() -> None:
    text = report(make_response(score=None, status="Abstain", reasons=["required_component_unmeasured:P", "no_answer"]))
    assert "because: required component unmeasured: step validity, no answer" in text


def answer(**changes: object) -> AnswerOut:
    return make_response().answer.model_copy(update=changes)


def test_a_derived_value_that_may_not_be_the_end_says_so() -> None:
    text = report(make_response(answer=answer(derived="32", derived_matches=None)))
    assert "derived 32 (not clearly its end)" in text
    assert "not clearly" not in report(make_response(answer=answer(stated=None, derived="32", derived_matches=None)))


@pytest.mark.parametrize(("is_modal", "warned"), [(False, True), (True, False), (None, False)])
def test_a_full_bar_on_another_answer_says_on_which(is_modal: bool | None, warned: bool) -> None:
    other = answer(stated="7600", modal="6800", share=0.0, is_modal=is_modal)
    lines = report(make_response(answer=other, components=[make_component("C", "answer consensus", 1.0)])).splitlines()
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("C answer consensus")) + 1]
    assert (below.strip() == "on 6800, not on the stated 7600") is warned


def test_steps_that_carry_the_answer_and_decoration_are_marked() -> None:
    steps = [
        make_step(0, "So 8.", 0.9, role="load_bearing"),
        make_step(1, "Nice.", 0.9, role="decorative"),
        make_step(2, "Hm.", 0.9),
    ]
    text = report(make_response(steps=steps))
    assert re.findall(r"0\.90 ([+-]?) *(\w+)", text) == [("+", "So"), ("-", "Nice"), ("", "Hm")]
    assert "+ carries the answer, - is decoration" in text


def test_probes_are_reported_with_their_coverage_or_why_they_are_missing() -> None:
    fields = {"coverage": 0.9, "unmeasured": None, "detail": "", "points": None}
    early, control, unedited = (
        ProbeOut.model_validate(fields | {"kind": kind, "value": value, "baseline": baseline})
        for kind, value, baseline in (
            ("early_answering", 0.83, None),
            ("paraphrase", 0.97, 0.98),
            ("unedited", 0.31, 0.02),
        )
    )
    silent = early.model_copy(update={"kind": "deletion", "value": None, "unmeasured": "no_generator"})
    response = make_response()
    edits = response.interventions.model_copy(update={"probes": [early, control, unedited, silent], "not_needed": 6})
    text = " ".join(report(make_response(interventions=edits)).split())
    assert "early answering: area over the curve 0.83 (90% of the answers read)" in text
    assert "share of unchanged answers 0.97, 0.98 in the writer's own words" in text
    assert "unedited: share of unchanged answers 0.31, 0.02 after the edits" in text
    assert "deletion: not measured, no generator" in text
    assert "6 continuations not needed" in text


def test_the_halves_of_the_support_are_said() -> None:
    assert "e = 1.00 by graph; edits move the answer by 0.16 of 1" in " ".join(report(make_response()).split())


def test_other_ways_and_contradictions_are_said_apart() -> None:
    found = StabilityOut(
        contradiction=0.5,
        method_diversity=0.25,
        n_contradictions=1,
        pairs_full=8,
        pairs_canonical=8,
        pairs_asked=0,
    )
    text = " ".join(report(make_response(stability=found)).split())
    assert "25% of the calculations have no counterpart in another trace" in text
    assert "50% of the pairs of traces contradict each other" in text
