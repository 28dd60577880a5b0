"""Whether two answers to one problem are the same answer: true, false, or not to be told."""

import re
from collections.abc import Mapping

from rafs.answers.answer_forms import read_form
from rafs.answers.answer_maths import read_maths
from rafs.answers.answer_text import GREEK, MAX_ANSWER_CHARS, normalise_answer
from rafs.answers.comparison import compare_forms
from rafs.answers.contexts import read_context
from rafs.answers.fixed_forms import is_missing
from rafs.answers.forms import Context, Form, Words
from rafs.answers.statements import read_statements
from rafs.answers.wordings import are_other_names
from rafs.grammar.expressions import undefined
from rafs.types import Truth

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_INDEX = re.compile(rf"(?<=[A-Za-z{GREEK}])_\{{?(\d{{1,3}})\}}?")
_SENTENCE = re.compile(r"(?=.*\d)\S+(?:\s+\S+){3}")


def equivalent(a: str, b: str, *, problem: str = "", choices: Mapping[str, str] | None = None) -> Truth:
    """Say whether two answers to the same problem are the same.

    Symmetric and exact. A unit missing on one side is forgiven; two units are converted or unequal. `35%` is
    7/20, and equals `35` only where the problem asks for a percentage. A decimal that is a correct rounding of
    the other side is UNKNOWN, as are answers that are only equal by a convention which neither states. An answer that
    cannot be read equals only its own spelling; a missing or undefined one equals nothing.

    Args:
        a: One answer.
        b: The other.
        problem: The problem's text, which decides some conventions.
        choices: Letters and texts of the options, where there are any; else those listed in the problem.
    """
    left, right = normalise_answer(a[:MAX_ANSWER_CHARS]), normalise_answer(b[:MAX_ANSWER_CHARS])
    if is_missing(left) or is_missing(right):
        return Truth.FALSE
    if max(len(a), len(b)) > MAX_ANSWER_CHARS:
        return Truth.TRUE if a.split() == b.split() else Truth.UNKNOWN
    if left == right:
        return Truth.FALSE if _has_no_value(left) else Truth.TRUE
    context = read_context(problem, choices)
    first, second = read_form(left, context), read_form(right, context)
    if first is None or second is None:
        return Truth.FALSE
    if are_other_names(left, right) and not (_is_standard(first) and _is_standard(second)):
        return Truth.FALSE
    verdict = compare_forms(first, second, context)
    if verdict is Truth.FALSE and left.replace(", ", ",") == right.replace(", ", ","):
        return Truth.UNKNOWN  # `1,234` beside `1, 234`: a number, or a list written without its blanks
    if verdict is Truth.FALSE and _INDEX.sub(r"\1", left) == _INDEX.sub(r"\1", right):
        return Truth.UNKNOWN  # `x1` beside `x_1`
    if verdict is Truth.UNKNOWN and (_says(first, left, second, context) or _says(second, right, first, context)):
        return Truth.TRUE
    return verdict


def is_no_answer(text: str) -> bool:
    r"""Say whether a text states nothing: blanks, `n/a`, `\boxed{}`; it takes no part in a vote."""
    return is_missing(normalise_answer(text[:MAX_ANSWER_CHARS]))


def _is_standard(form: Form) -> bool:
    return isinstance(form, Words) and form.standard


def _says(sentence: Form, text: str, other: Form, context: Context) -> bool:
    """Say whether a whole sentence comes to the other answer; it is never read to contradict one."""
    if not isinstance(sentence, Words) or sentence.standard or not _SENTENCE.match(text):
        return False
    stated = read_statements(text).final
    if stated and stated[-1].source in ("last_number", "conclusion") and len(_NUMBER.findall(text)) > 1:
        return False
    form = read_form(stated[-1].text, context) if stated else None
    return form is not None and compare_forms(form, other, context) is Truth.TRUE


def _has_no_value(text: str) -> bool:
    """Say whether a text is something like 1/0."""
    expression = read_maths(text) if "/" in text or "frac" in text or "mod" in text else None
    return expression is not None and undefined(expression)
