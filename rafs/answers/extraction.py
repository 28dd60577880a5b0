"""The answer a text states, as a value."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.answers.answer_forms import read_form
from rafs.answers.equivalence import equivalent
from rafs.answers.forms import Context, Quantity
from rafs.answers.options import resolve_option, unmarked_option
from rafs.answers.statements import Statement, read_statements
from rafs.splitting.markup import thinking_spans
from rafs.types import Answer, Truth

_MAX_COMPARED = 12  # distinct statements of one text that are compared for disagreement
_TEXT_MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{([^{}]*)\}")
_BRACKETED_OPTION = re.compile(r"[(\[]([A-Z])[)\]][.:]?|([A-Z])[.:]")
_UNMARKED = ("last_number", "conclusion")


def extract_answer(text: str, choices: Mapping[str, str] | None = None, *, problem: str = "") -> Answer | None:
    """Return the final answer that a text states, None where it states none.

    With `choices`, only an option counts: its letter, or its text (then the letter is returned).

    Args:
        text: A whole response, perhaps with `<think>`.
        choices: Letters and texts of the options.
        problem: The problem's text, which decides some conventions.
    """
    found = choose_answer(read_statements(text, problem).final, choices=choices)
    _, reply = thinking_spans(text)
    marked = found is not None and found.source not in _UNMARKED
    if marked or choices is None or reply is None:
        return found
    key = unmarked_option(text[reply:], choices)
    return Answer(text=key, source="conclusion") if key else found


def choose_answer(
    statements: Sequence[Statement], stated: str | None = None, choices: Mapping[str, str] | None = None
) -> Answer | None:
    """Choose among what was stated: the field wins, then the last statement.

    `ambiguous` is set where another marked statement, or the text where the field won, says something else, and where
    the answer only stands in quotation marks or in a comment.
    """
    cleaned = {text: _clean(text, choices) for text in {one.text for one in statements}}
    texts = [cleaned[one.text] for one in statements if cleaned[one.text]]
    marked = texts if not statements or statements[-1].source != "last_number" else []
    if stated is not None and stated.strip():
        answer = _clean(stated, choices) or stated.strip()
        return Answer(text=answer, source="field", ambiguous=_disagree(marked[-1:], answer))
    if not texts:
        return None
    ambiguous = statements[-1].quoted or _disagree(texts[:-1], texts[-1])
    return Answer(text=texts[-1], source=statements[-1].source, ambiguous=ambiguous)


def answer_value(text: str) -> Fraction | None:
    """Return the exact number an answer states, in its own unit; None where it is not one plain number."""
    form = read_form(text, Context())
    return form.value if isinstance(form, Quantity) else None


def _disagree(others: Sequence[str], answer: str) -> bool:
    distinct = list(dict.fromkeys(others))[-_MAX_COMPARED:]
    return any(equivalent(other, answer) is Truth.FALSE for other in distinct)


def _clean(text: str, choices: Mapping[str, str] | None = None) -> str:
    """Take an answer out of its last clothes: text macros, escaped signs, the brackets of a letter."""
    plain = _TEXT_MACRO.sub(r"\1", text) if _TEXT_MACRO.fullmatch(text.strip()) else text
    plain = plain.replace("\\$", "$").strip()
    option = _BRACKETED_OPTION.fullmatch(plain)
    plain = option[1] or option[2] if option else plain
    return plain if choices is None else resolve_option(plain, choices)
