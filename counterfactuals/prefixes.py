"""What a generator is given to continue, and whether that gives the answer away."""

import re
from collections.abc import Mapping
from fractions import Fraction

from rafs.answers.extraction import answer_value
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind
from rafs.interventions import Edit, Target
from rafs.types import ANSWER_PLACEHOLDER, Trace

_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n|\\\]")


def edited_prefix(trace: Trace, edit: Edit) -> str:
    """Return the derivation up to the edited step, one step a line, blind to the stated answer.

    Where the edited step goes on to state the answer, it ends before that sentence: the writer is to say what it is.
    """
    return "".join(f"{text}\n" for text in (*_earlier(trace, edit), _unanswered(trace, edit)))


def unedited_prefix(trace: Trace, edit: Edit) -> str:
    """Return the same prefix as `edited_prefix`, without the edit."""
    behind = edit.text.removeprefix(_unanswered(trace, edit))
    own = trace.steps[edit.step].blind_text.removesuffix(behind)
    return "".join(f"{text}\n" for text in (*_earlier(trace, edit), own))


def first_mentions(trace: Trace) -> Mapping[Fraction, int]:
    """Return the step of the derivation that mentions each number first; one pass for all edits of a trace."""
    first: dict[Fraction, int] = {}
    for step in trace.derivation():
        for value in _numbers(step.blind_text):
            first.setdefault(value, step.index)
    return first


def leaks_answer(edit: Edit, trace: Trace, target: Target | None, mentions: Mapping[Fraction, int]) -> bool:
    """Whether the edited prefix holds the stated answer, the predicted one, or a place where an answer was stated.

    The edited step's own text is exempt where it is the step that derives the answer; the steps before it never are.

    Args:
        edit: The edit.
        trace: The trace that it edits.
        target: What the answer is in the graph.
        mentions: First mention of every number of the trace.
    """
    if ANSWER_PLACEHOLDER in edited_prefix(trace, edit):
        return True
    own = [] if edit.claim is not None and edit.claim == target else [_unanswered(trace, edit)]
    stated = None if trace.answer is None else trace.answer.text
    if stated is not None and _holds_words("\n".join([*_earlier(trace, edit), *own]), stated):
        return True
    value = None if stated is None else answer_value(stated)
    answers = {answer for answer in (edit.predicted, value) if answer is not None}
    if any(mentions.get(answer, edit.step) < edit.step for answer in answers):
        return True
    return any(number in answers for text in own for number in _numbers(text))


def _unanswered(trace: Trace, edit: Edit) -> str:
    """Return the edited step up to its statement of the answer, where what was edited stands before it."""
    at = edit.text.find(ANSWER_PLACEHOLDER)
    if at < 0:
        return edit.text
    before = trace.steps[edit.step].blind_text
    n_same = next((i for i, (a, b) in enumerate(zip(before[::-1], edit.text[::-1], strict=False)) if a != b), 0)
    begin = max((found.end() for found in _SENTENCE_END.finditer(edit.text, 0, at)), default=0)
    return edit.text[:begin].rstrip() if len(edit.text) - n_same <= begin else edit.text


def _earlier(trace: Trace, edit: Edit) -> list[str]:
    return [step.blind_text for step in trace.derivation() if step.index < edit.step]


def _numbers(text: str) -> list[Fraction]:
    return [token.value for token in lex(text) if token.kind is Kind.NUMBER]


def _holds_words(text: str, words: str) -> bool:
    """Whether a text holds some words as whole words (and no part of a longer number), whatever their case."""
    pattern = rf"(?<!\w)(?<!\d[.,]){re.escape(words.strip())}(?![.,]?\d|\w)"
    return bool(words.strip()) and re.search(pattern, text, re.IGNORECASE) is not None
