"""Which option of a multiple choice a text names: by its key, by its text, or where no mark says so."""

import re
from collections.abc import Mapping

from rafs.answers.answer_text import normalise_answer
from rafs.answers.equivalence import equivalent
from rafs.types import Truth

_LEAD = re.compile(
    r"(?:(?:option|choice|answer)\s|(?:option|choice)_?(?-i:(?=[A-Z])))?[\[(<{\s]{0,3}([A-Za-z])\s?[\])>}]?((?:\s?(?:,|and|&|or)\s?\(?[A-Z]\)?(?!\w))*)(?:[\s.,:;)]|$)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_NUMBER = re.compile(r"(?:(?P<named>option|choice)\s)?[(\[]?(?P<key>\d{1,2})[)\]]?[.:]?", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"[^()]{2,120}\(([A-Za-z])\)[.]?")
"""The text of an option, then its letter."""
_NAMED = r"(?i:(?:(?:the|my)\s)?(?:(?:final|correct)\s)?(?:option|choice|answer)\s?(?:is\s|→|->|⇒|=>|[-–—]\s)?\s?)"
_LINE = re.compile(
    rf"{_NAMED}?[*_(\[\s•-]{{0,4}}(?P<a>[A-J])[*_)\].:\s]{{0,4}}|\((?P<b>[A-J])\)\s.*|\((?P<c>[a-j])\)[.]?"
    r"|(?i:option|choice)\s[(]?(?P<d>\d{1,2}|[a-j])[)]?[.]?"
)
_HEAD = re.compile(r"(?:\*\*|__)?(?P<a>[A-J])(?:[.):]\s|(?:\*\*|__)\s[-–—:]\s)")
"""An option at the head of a line, its text or a remark behind it; several such lines list the options."""
_END = re.compile(
    r"(?<!not\s)(?<!n['’]t\s)\b(?:therefore|thus|hence|so|is|['’]s|be|choose|pick|no|by\selimination|left\swith|leaving|leaves"
    r"|go\swith)[,:]?\s(?:the\s)?(?:(?:option|choice|answer)\s)?[*(]{0,3}(?P<a>[A-J])[*)]{0,3}"
    r"(?:,?\s(?:not|rather\sthan|instead\sof)\s\(?[A-J]\)?|\sit\sis)?[.!]?(?P<b>\Z)",
    re.IGNORECASE,
)
_FITTING = re.compile(
    r"\b(?:gives?|giving|yields?|match(?:es)?|fits?|corresponds?\sto|leaves?|leaving|points?\sto|suggests?|supports?|is|be"
    r"|gets?|selects?|means|hence|thus|therefore|so)[,:]?\s(?:us\s)?(?:only\s)?(?:the\s)?(?:answer\s)?"
    r"(?:(?:option|choice|answer)\s\(?(?P<a>[A-J])(?![\w'’])|\((?P<b>[A-J])\)|(?P<c>[A-J])[.!]?\Z)"
    r"|:\s(?P<d>[A-J])[.!]?\Z"
    r"|\bonly\s(?:option\s|choice\s)?\(?(?P<e>[A-J])\)?\s(?:works|satisfies|fits|matches|remains|holds|is\s(?:left|possible))\b",
    re.IGNORECASE,
)
"""An option that a sentence comes to: `gives option B`, `this matches (C)`, `that leaves D.`, `only A works`"""
_REJECTED = re.compile(
    r"\b(?:(?:can)?not|instead|rather|except|neither|wrong|incorrect|unless|if|eliminat|exclud|rule)|n['’]t\b", re.I
)
"""What may speak against it."""
_MAX_LINE_END = 80
"""Characters at the end of a line in which a conclusion names its option."""
_ARTICLE = re.compile(r"(?:the|an?)\s", re.IGNORECASE)
_IS = re.compile(r"(?:\A|\b(?:is|are|was|were|be)\s|:\s)(?:(?:the|an?)\s)?\Z", re.IGNORECASE)
_WORDY = re.compile(r"[A-Za-z]{3}")
_IS_GAP = 12
"""Characters before an option's text in which its verb stands."""


def resolve_option(text: str, choices: Mapping[str, str]) -> str:
    """Return the key of the option that an answer names; empty where it names none, or two that differ."""
    plain = normalise_answer(text).lstrip("$ ")
    keys = {key.upper(): key for key in choices}
    same = [key for key, value in choices.items() if equivalent(text, value) is Truth.TRUE]
    if (number := _NUMBER.fullmatch(plain)) and number["key"] in choices:
        return number["key"] if number["named"] or not same or same[0] == number["key"] else ""
    lead = _LEAD.match(plain)
    article = lead is not None and lead[1].islower() and plain[lead.end(1) :][:1] == " "
    if lead and lead[1].upper() in keys and not article:
        others = [letter.upper() for letter in _LETTER.findall(lead[2] or "")]
        return ", ".join(keys[letter] for letter in [lead[1].upper(), *others] if letter in keys)
    if same:
        return same[0]
    bracket = _IN_BRACKETS.fullmatch(plain)
    return keys.get(bracket[1].upper(), "") if bracket else ""


def unmarked_option(text: str, choices: Mapping[str, str]) -> str:
    """Return the key of the option that stands alone in the first or last line, or that the last sentence comes to."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    keys = {key.upper(): key for key in choices}
    for line in (lines[-1], lines[0]):
        found = _LINE.fullmatch(line) or _END.search(line[-_MAX_LINE_END:])
        key = keys.get(next(filter(None, found.groups())).upper()) if found else None
        if key is not None:
            return key
    heads = [head["a"] for line in lines if (head := _HEAD.match(line))]
    alone = heads[0] if len(heads) == 1 and _HEAD.match(lines[0]) else ""
    letter = _fitting_letter(lines[-1][-_MAX_LINE_END:]) or alone
    return keys.get(letter, "") or _ending_text(lines[-1], choices)


def _fitting_letter(end: str) -> str:
    """Return the one option that the last sentence of a line comes to; empty where it names another or none."""
    sentence = end[max(end.rfind(mark, 0, len(end.rstrip()) - 1) for mark in (". ", "! ", "? ")) + 1 :]
    named = {next(filter(None, option.groups())).upper() for option in _FITTING.finditer(sentence)}
    return named.pop() if len(named) == 1 and not _REJECTED.search(sentence) else ""


def _ending_text(line: str, choices: Mapping[str, str]) -> str:
    """Return the key of the one option in words whose text a line ends in, behind `is` (`It is the red box.`)."""
    plain = line.strip(" .!*_").casefold()
    found = []
    for key, value in choices.items():
        words = _ARTICLE.sub("", value.strip(" .").casefold(), count=1)
        at = len(plain) - len(words)
        if _WORDY.search(words) and plain.endswith(words) and _IS.search(plain, max(0, at - _IS_GAP), at):
            found.append(key)
    return found[0] if len(found) == 1 else ""
