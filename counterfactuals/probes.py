"""The complementary probes: the prefixes they ask the writer to go on with, and what its answers come to."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from counterfactuals.effects import is_stated
from counterfactuals.paraphrase import reword_steps
from counterfactuals.prefixes import edited_prefix, unedited_prefix
from rafs.answers.extraction import answer_value, extract_answer
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind
from rafs.interventions import Edit
from rafs.probes import ProbeFinding, ProbeKind, ProbePoint, conclude_probe
from rafs.types import ANSWER_PLACEHOLDER, Sampled, Trace

MAX_CUTS = 6
"""Places where a trace is cut for early answering, both ends included (ours)."""
MAX_DELETIONS = 6
MAX_REWORDED = 3
"""Lengths of prefix that are reworded (ours)."""
MAX_REWORDED_STEPS = 60
"""Steps of the longest of them (ours): each is read again, which takes as long as reading it did."""
FORCED = "#### The answer is"
"""With these words the answer is all that is left to say. The mark alone, which the writer was told to put before it,
was gone on from with further steps by a model of 0.5 B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One prefix that the writer is asked to go on with, and what it probes."""

    kind: ProbeKind
    prefix: str
    step: int | None
    position: float
    is_baseline: bool = False
    """What stands beside a control: the writer's own wording of a reworded prefix, the edit of an unedited one."""


def ask_probes(
    trace: Trace, kinds: Collection[ProbeKind], mistakes: Sequence[Edit], edits: Sequence[Edit] = ()
) -> list[Question]:
    """Return the questions of the probes; none of their prefixes holds a statement of the answer.

    Args:
        trace: The trace.
        kinds: Which probes are made.
        mistakes: Valid edits of a value, for `ADDED_MISTAKE`.
        edits: Those whose effects are observed, for `UNEDITED`.
    """
    texts = [step.blind_text for step in trace.derivation()]
    if not texts or trace.answer is None:
        return []
    open_until, silent_until = _ends(trace, texts)
    questions: list[Question] = []
    if ProbeKind.EARLY_ANSWERING in kinds:
        questions += _early(trace, texts, open_until)
    if ProbeKind.DELETION in kinds:
        questions += _deletions(trace, texts, silent_until)
    if ProbeKind.PARAPHRASE in kinds:
        questions += _paraphrases(trace, texts, silent_until)
    places = {step.index: at / len(texts) for at, step in enumerate(trace.derivation())}
    if ProbeKind.ADDED_MISTAKE in kinds:
        questions += [_edited(ProbeKind.ADDED_MISTAKE, trace, edit, places) for edit in mistakes]
    if ProbeKind.UNEDITED in kinds:
        questions += [_edited(ProbeKind.UNEDITED, trace, edit, places, is_baseline=True) for edit in edits]
        questions += {
            prefix: Question(kind=ProbeKind.UNEDITED, prefix=prefix, step=edit.step, position=places[edit.step])
            for edit in edits
            for prefix in [unedited_prefix(trace, edit)]
        }.values()
    return questions


def _edited(
    kind: ProbeKind, trace: Trace, edit: Edit, places: Mapping[int, float], *, is_baseline: bool = False
) -> Question:
    prefix, place = edited_prefix(trace, edit), places[edit.step]
    return Question(kind=kind, prefix=prefix, step=edit.step, position=place, is_baseline=is_baseline)


def _early(trace: Trace, texts: Sequence[str], end: int) -> list[Question]:
    """Cut the derivation evenly, from nothing to all of it, and ask for the answer at once."""
    return [
        Question(
            kind=ProbeKind.EARLY_ANSWERING,
            prefix=as_lines(texts[:cut]) + FORCED,
            step=trace.derivation()[cut - 1].index if cut else None,
            position=cut / len(texts),
        )
        for cut in _spread(0, end, MAX_CUTS)
    ]


def _deletions(trace: Trace, texts: Sequence[str], end: int) -> list[Question]:
    """Leave one step out, and keep the others up to the first one that mentions the answer.

    Steps behind the gap may repeat what the missing one found, and a writer may work it out again, so that an answer
    that stays is no evidence against the step.
    """
    questions = []
    for gap in _spread(0, min(end, len(texts) - 1), MAX_DELETIONS):
        kept = [text for at, text in enumerate(texts[: max(end, gap)]) if at != gap]
        if kept:
            step = trace.derivation()[gap].index
            place = gap / len(texts)
            questions.append(Question(kind=ProbeKind.DELETION, prefix=as_lines(kept), step=step, position=place))
    return questions


def _paraphrases(trace: Trace, texts: Sequence[str], end: int) -> list[Question]:
    """Reword prefixes that do not mention the answer; beside each stands the writer's own wording."""
    end = min(end, MAX_REWORDED_STEPS)
    reworded = reword_steps(trace, end)
    questions = []
    for cut in _spread(1, end, MAX_REWORDED) if end else []:
        if list(reworded[:cut]) != list(texts[:cut]):
            step, place = trace.derivation()[cut - 1].index, cut / len(texts)
            questions += [
                Question(
                    kind=ProbeKind.PARAPHRASE,
                    prefix=as_lines(lines[:cut]),
                    step=step,
                    position=place,
                    is_baseline=lines is texts,
                )
                for lines in (reworded, texts)
            ]
    return questions


def conclude_probes(
    kinds: Sequence[ProbeKind],
    questions: Sequence[Question],
    heard: Mapping[str, Sequence[Sampled]],
    n: int,
    trace: Trace,
) -> tuple[ProbeFinding, ...]:
    """Return one finding a probe, in the order of `kinds`.

    Args:
        kinds: Which probes were made.
        questions: What they asked.
        heard: Continuations by prefix; a prefix that is missing was not answered.
        n: Continuations asked for, of every prefix.
        trace: The trace.
    """
    findings = []
    for kind in kinds:
        own = [question for question in questions if question.kind is kind]
        reworded = [_point(one, heard, n, trace) for one in own if not one.is_baseline]
        as_worded = [_point(one, heard, n, trace) for one in own if one.is_baseline]
        findings.append(conclude_probe(kind, reworded, as_worded))
    return tuple(findings)


def _point(question: Question, heard: Mapping[str, Sequence[Sampled]], n: int, trace: Trace) -> ProbePoint:
    answers = [_answer(question, one, trace) for one in heard.get(question.prefix, ())]
    stays = [answer for answer in answers if answer is not None]
    return ProbePoint(
        step=question.step, position=question.position, same=sum(stays), read=len(stays), asked=max(n, len(answers))
    )


def _answer(question: Question, said: Sampled, trace: Trace) -> bool | None:
    """Whether a continuation comes to the stated answer; None where that cannot be told."""
    if question.kind is ProbeKind.EARLY_ANSWERING:
        return answers_at_once(said, trace)
    if said.truncated:
        return None
    return _says_stated(said.text, trace)


def answers_at_once(said: Sampled, trace: Trace) -> bool | None:
    """Whether what follows `FORCED` is the stated answer; None where that cannot be told.

    It is the first line alone, so that what a writer rambles on about behind it, cut or not, is not read.
    """
    first, newline, _ = said.text.strip().partition("\n")
    return None if said.truncated and not newline else _says_stated(f"The answer is {first.lstrip(': ')}", trace)


def _says_stated(text: str, trace: Trace) -> bool | None:
    found = extract_answer(text, problem=trace.problem)
    return None if found is None or trace.answer is None else is_stated(found.text, trace.answer.text, trace.problem)


def steps_before_answer(trace: Trace) -> Sequence[str]:
    """Return the blind texts of the derivation up to the first one that mentions the stated answer."""
    texts = [step.blind_text for step in trace.derivation()]
    return texts[: _ends(trace, texts)[1]]


def _ends(trace: Trace, texts: Sequence[str]) -> tuple[int, int]:
    """Return the positions of the first statement of the answer, and of its first mention; else their number."""
    open_until = next((at for at, text in enumerate(texts) if ANSWER_PLACEHOLDER in text), len(texts))
    return open_until, open_until if trace.answer is None else _first_mention(texts[:open_until], trace.answer.text)


def _first_mention(texts: Sequence[str], answer: str) -> int:
    """Return the first position whose text mentions the answer, as a number or in its own words; else their number.

    A letter is an option, and another sign than the article `a`.
    """
    value, words = answer_value(answer), answer.strip()
    said = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.IGNORECASE if len(words) > 1 else 0)
    for at, text in enumerate(texts):
        numbers = (token.value for token in lex(text) if token.kind is Kind.NUMBER)
        if value in numbers if value is not None else said.search(text):
            return at
    return len(texts)


def _spread(first: int, last: int, most: int) -> list[int]:
    """Return at most `most` whole numbers from first to last, both included, evenly spread."""
    steps = min(most, last - first + 1) - 1
    return [first] if steps < 1 else [first + round(i * (last - first) / steps) for i in range(steps + 1)]


def as_lines(texts: Sequence[str]) -> str:
    """Return steps one a line, as a writer is given them."""
    return "".join(f"{text}\n" for text in texts)
