"""The answer a text states, as a value."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.answers.answer_forms import Context, Quantity, read_form
from rafs.answers.equivalence import equivalent, needs_algebra
from rafs.answers.statements import Statement, read_statements
from rafs.types import Answer, Truth

__all__ = ["answer_value", "choose_answer", "equivalent", "extract_answer", "needs_algebra"]

_MAX_COMPARED = 12  # distinct statements of one text that are compared for disagreement
_TEXT_MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{([^{}]*)\}")
_BRACKETED_OPTION = re.compile(r"[(\[]([A-Z])[)\]][.:]?|([A-Z])[.:]")
_OPTION_LEAD = re.compile(r"\(?([A-Za-z])\)?(?:[\s.,:;)]|$)")


def extract_answer(text: str, choices: Mapping[str, str] | None = None) -> Answer | None:
    """Return the final answer that a text states, None where it states none.

    With `choices`, only an option counts: its letter, or its text (then the letter is returned).

    Args:
        text: A whole response, perhaps with `<think>`.
        choices: Letters and texts of the options.
    """
    return choose_answer(read_statements(text).final, choices=choices)


def choose_answer(
    statements: Sequence[Statement], stated: str | None = None, choices: Mapping[str, str] | None = None
) -> Answer | None:
    """Choose among what was stated: the field wins, then the last statement.

    `ambiguous` is set where another marked statement, or the text where the field won, says something else.
    """
    texts = [cleaned for one in statements if (cleaned := _clean(one.text, choices))]
    marked = texts if not statements or statements[-1].source != "last_number" else []
    if stated is not None and stated.strip():
        answer = _clean(stated, choices) or stated.strip()
        return Answer(text=answer, source="field", ambiguous=_disagree(marked[-1:], answer))
    if not texts:
        return None
    return Answer(text=texts[-1], source=statements[-1].source, ambiguous=_disagree(texts[:-1], texts[-1]))


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
    return plain if choices is None else _resolve(plain, choices)


def _resolve(text: str, choices: Mapping[str, str]) -> str:
    """Return the letter of the option that a text names; empty where it names none."""
    lead = _OPTION_LEAD.match(text.lstrip("$ "))
    if lead and lead[1].upper() in choices:
        return lead[1].upper()
    return next((key for key, value in choices.items() if equivalent(text, value) is Truth.TRUE), "")
