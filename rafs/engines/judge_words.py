"""The words of a judge's reply: the labels it was to choose from, and the part of the reply that is its own."""

import re
from collections.abc import Iterator
from enum import StrEnum

from rafs.engines.label_mass import Labels


class Said(StrEnum):
    """Which of the two labels a reply settles on."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


FILLERS: Labels = ("right", "wrong")
""""Right, let me see" is no verdict where another pair was asked for."""
MENUS: tuple[Labels, ...] = (
    ("yes", "no"),
    ("pass", "fail"),
    ("true", "false"),
    ("valid", "invalid"),
    ("accept", "reject"),
    ("good", "bad"),
    FILLERS,
    ("correct", "incorrect"),
)
"""What judges are asked to choose from; a question that names two pairs ("Yes if correct") asks for the first."""
_FLAGS: Labels = ("1", "0")
"""A verdict of an object may be a number; one in a sentence is none."""
MAX_REPLY_CHARS = 16_000
"""Longer than any verdict with its reasons; what is longer says nothing."""

_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width letters and digits, as they are written elsewhere."""
_THOUGHT = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)"
_THOUGHT_OPENS = re.compile(rf"<{_THOUGHT}>|\[THINK\]", re.IGNORECASE)
_THOUGHT_CLOSES = re.compile(rf".*(?:</{_THOUGHT}>|\[/THINK\])", re.IGNORECASE | re.DOTALL)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]{0,80}<\|message\|>")
_LEADS_IN_TAGS = "verdict|answer|score|rating|grade|conclusion|decision|result"
_MARKUP = re.compile(
    rf"<[|｜/]?(?!(?:{_LEADS_IN_TAGS})\b)[A-Za-z_][^<>\n]{{0,60}}>"  # tags and control tokens
    r"|\\(?:text\w*|math\w+|bf|rm|left|right|quad|,|;|!)"
    r"|^[ \t]{0,3}>[^\n]*"  # what is quoted by lines
    r"|^[ \t]*(?:```|~~~)(?:\w*[ \t]*$)?",
    re.MULTILINE,
)
_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)")


def vocabulary(labels: Labels) -> dict[str, Said]:
    """Return what the labels alone mean, by folded spelling."""
    yes, no = labels
    return {fold(yes): Said.YES, fold(no): Said.NO}


def known_words(labels: Labels, *, is_value: bool) -> dict[str, Said]:
    """Return what the words of all menus mean, those of `labels` before all others.

    Args:
        labels: What the judge was to choose from.
        is_value: Whether they are looked for in the value of an object, and not in a sentence.
    """
    known: dict[str, Said] = {}
    for menu in (*MENUS, _FLAGS) if is_value else (menu for menu in MENUS if menu != FILLERS):
        known |= vocabulary(menu)
    return known | vocabulary(labels)


def labels_of(question: str) -> Labels | None:
    """Return the two labels that a question asks for, the affirming one first; None where it names no pair."""
    question = question.casefold()
    named = [menu for menu in MENUS if all(re.search(rf"\b{word}\b", question) for word in menu)]
    return _options_of(question) or next(iter([*named, *_denials_in(question)]), None)


def _denials_in(question: str) -> Iterator[Labels]:
    """Yield each word that stands in a question beside its own denial: supported and unsupported, or not supported."""
    for denial in re.finditer(r"\b(?:un|in|im|dis|non-?|not )(\w{2,})\b", question):
        if re.search(rf"(?<!\w)(?<!not ){denial[1]}\b", question):
            yield denial[1], denial[0]


def _options_of(question: str) -> Labels | None:
    """Return letters or numbers that stand for the words of a menu: "A for correct, B for incorrect"."""
    means = {word: said for menu in MENUS for word, said in vocabulary(menu).items()}
    stands_for = (
        rf"\b([a-d]|[01])\b(?:\W|\b(?:for|if|when|means|is|the|step|it|last|option)\b){{1,20}}\b({'|'.join(means)})\b"
    )
    options = {means[word]: option for option, word in re.findall(stands_for, question)}
    return (options[Said.YES], options[Said.NO]) if len(options) == 2 else None


def fold(word: str) -> str:
    """Return a word without case."""
    return word.casefold().strip()


def spoken_part(raw: str | None) -> str:
    """Return a reply without its reasoning channel; nothing where the reasoning never ended, or is all there is."""
    if raw is None or len(raw) > MAX_REPLY_CHARS:
        return ""
    raw = raw.translate(_NARROW)
    channels = list(_CHANNEL.finditer(raw))
    if channels:
        return raw[channels[-1].end() :] if channels[-1][1] == "final" else ""
    closed = _THOUGHT_CLOSES.match(raw)
    said = raw[closed.end() :] if closed else raw
    return "" if _THOUGHT_OPENS.search(said) else said


def plain_words(text: str) -> str:
    """Blank out what is not the judge's own word: markup, and quotations of more than one word. Places stay."""
    text = _MARKUP.sub(_blank, text)
    stripped = text.strip()
    whole = _QUOTED.fullmatch(stripped)
    return text if whole else _QUOTED.sub(lambda match: _blank(match) if " " in match[0].strip() else match[0], text)


def _blank(match: re.Match[str]) -> str:
    return blank(match[0])


def blank(text: str) -> str:
    """Return spaces in place of a text, its line feeds kept."""
    return re.sub(r"[^\n]", " ", text)
