"""The answer a text states, as a value."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from rafs.answers.answer_forms import read_form
from rafs.answers.answer_text import normalise_answer
from rafs.answers.equivalence import equivalent
from rafs.answers.forms import Context, Quantity
from rafs.answers.statements import Statement, read_statements
from rafs.splitting.markup import thinking_spans
from rafs.types import Answer, Truth

_MAX_COMPARED = 12  # distinct statements of one text that are compared for disagreement
_TEXT_MACRO = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\s?\{([^{}]*)\}")
_BRACKETED_OPTION = re.compile(r"[(\[]([A-Z])[)\]][.:]?|([A-Z])[.:]")
_OPTION_LEAD = re.compile(
    r"(?:(?:option|choice|answer)\s)?[\[(<{\s]{0,3}([A-Za-z])\s?[\])>}]?((?:\s?(?:,|and|&|or)\s?\(?[A-Z]\)?(?!\w))*)(?:[\s.,:;)]|$)",
    re.IGNORECASE,
)
_LETTER_LINE = re.compile(r"[*_(\[\s]{0,4}(?P<a>[A-J])[*_)\].:\s]{0,4}|\((?P<b>[A-J])\)\s.*")
_LETTER_HEAD = re.compile(r"(?P<a>[A-J])[.):]\s")
"""An option at the head of a line, its text or a remark behind it; several such lines list the options."""
_LETTER_END = re.compile(
    r"(?<!not\s)(?<!n['’]t\s)\b(?:therefore|thus|hence|so|is|['’]s|be|choose|pick|no)[,:]?\s(?:the\s)?(?:(?:option|choice|answer)\s)?[*(]{0,3}(?P<a>[A-J])[*)]{0,3}"
    r"(?:,?\s(?:not|rather\sthan|instead\sof)\s\(?[A-J]\)?)?[.!]?(?P<b>\Z)",
    re.IGNORECASE,
)
_FITTING = re.compile(
    r"\b(?:gives?|giving|yields?|match(?:es)?|fits?|corresponds?\sto|leaves?|leaving|points?\sto|suggests?|supports?|is|be"
    r"|gets?|selects?|means|hence|thus|therefore|so)[,:]?\s(?:us\s)?(?:only\s)?(?:the\s)?(?:answer\s)?"
    r"(?:(?:option|choice|answer)\s\(?(?P<a>[A-J])(?![\w'’])|\((?P<b>[A-J])\)|(?P<c>[A-J])[.!]?\Z)"
    r"|:\s(?P<d>[A-J])[.!]?\Z",
    re.IGNORECASE,
)
"""An option that a sentence comes to: `gives option B`, `this matches (C)`, `that leaves D.`"""
_REJECTED = re.compile(
    r"\b(?:(?:can)?not|instead|rather|except|neither|wrong|incorrect|unless|if|eliminat|exclud|rule)|n['’]t\b", re.I
)
"""What may speak against it."""
_UNMARKED = ("last_number", "conclusion")
_MAX_LINE_END = 80
"""Characters at the end of a line in which a conclusion names its option."""


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
    return _bare_letter(text[reply:], choices) or found


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
    return plain if choices is None else _resolve(plain, choices)


def _resolve(text: str, choices: Mapping[str, str]) -> str:
    """Return the letter of the option that a text names; empty where it names none."""
    plain = normalise_answer(text).lstrip("$ ")
    lead = _OPTION_LEAD.match(plain)
    article = lead is not None and lead[1].islower() and plain[lead.end(1) :][:1] == " "
    if lead and lead[1].upper() in choices and not article:
        others = [letter for letter in re.findall(r"[A-Za-z]", lead[2] or "") if letter.upper() in choices]
        return ", ".join([lead[1].upper(), *(letter.upper() for letter in others)])
    return next((key for key, value in choices.items() if equivalent(text, value) is Truth.TRUE), "")


def _bare_letter(text: str, choices: Mapping[str, str]) -> Answer | None:
    """Return the option whose letter stands alone in the first or last line, ends a conclusion, or is named there."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in (lines[-1], lines[0]) if lines else ():
        found = _LETTER_LINE.fullmatch(line.strip()) or _LETTER_END.search(line[-_MAX_LINE_END:])
        letter = (found["a"] or found["b"]).upper() if found else ""
        if letter in choices:
            return Answer(text=letter, source="conclusion")
    heads = [head["a"] for line in lines if (head := _LETTER_HEAD.match(line))]
    alone = heads[0] if len(heads) == 1 and _LETTER_HEAD.match(lines[0]) else ""
    letter = (_fitting_letter(lines[-1][-_MAX_LINE_END:]) if lines else "") or alone
    return Answer(text=letter, source="conclusion") if letter in choices else None


def _fitting_letter(end: str) -> str:
    """Return the one option that the last sentence of a line comes to; empty where it names another or none."""
    sentence = end[max(end.rfind(mark, 0, len(end.rstrip()) - 1) for mark in (". ", "! ", "? ")) + 1 :]
    named = {next(filter(None, option.groups())).upper() for option in _FITTING.finditer(sentence)}
    return named.pop() if len(named) == 1 and not _REJECTED.search(sentence) else ""
