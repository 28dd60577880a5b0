"""Where a reply states a label or a number, and how plainly."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

from rafs.engines.judge_stance import is_remark
from rafs.engines.judge_words import Said, blank, fold

Scale = tuple[float, float]
"""Lowest and highest score that the judge was asked for."""
Value = TypeVar("Value")


class Place(IntEnum):
    """Where a mention stands, the plainest first."""

    LED = 0
    """Behind a lead: `Verdict: no`, `[[7]]`."""
    MEASURED = 1
    """A number over the top of the scale: `7/10`."""
    ALONE = 2
    """Its line holds nothing else but a remark in brackets."""
    OPENING = 3
    """It begins a sentence, and a pause or a conjunction follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention(Generic[Value]):
    """One statement of a label or a number."""

    start: int
    """Where its lead begins."""
    end: int
    place: Place
    value: Value | None
    """None where it is stated and impossible: a score off its scale."""


_FILLER = (
    r"(?:[^\w\n.;]|_|\n(?=[^\w\n]*\w)|\b(?:is|was|be|would|should|will|for|on|of|at|as|to|from|a|an|the|this|that|it|my|i|here|last|"
    r"out|scale|therefore|thus|hence|so|clearly|definitely|simply|(?:the\s+)?(?:step|line|part|equation)(?:\s+\d{1,3})?)\b)*+"
)
_VERDICT_LEAD = re.compile(
    r"(?:\b(?:verdict|answer|conclusion|decision|judge?ment|result|label|option|classification|assessment|evaluation|ruling|"
    r"status|so|thus|hence|therefore|i(?:\s+would|\s+will|['’]d|['’]ll)?\s+(?:say|answer|vote|conclude|judge|deem))\b"
    rf"{_FILLER}|\b(?:correct|valid|true)[*_]{{0,4}}:\W{{0,8}}|\[\[\s*|\\boxed\s*\{{[\s{{]*)$",
    re.IGNORECASE,
)
_SCORE_LEAD = re.compile(
    r"(?:\b(?:score[sd]?|rating|rate[sd]?|grade[sd]?|mark|overall|verdict|scale|give|gets|deserves)\b"
    rf"{_FILLER}(?:(?:about|around|approximately|roughly)\s+)?|\[\[\s*|\\boxed\s*\{{[\s{{]*)$",
    re.IGNORECASE,
)
_EDGE = r"(?<![^\W_])(?<![-.])"
LEAD_CHARS = 80
"""How far before a mention its lead is looked for."""
_NEGATION = re.compile(
    r"(?:\b(?:not|never|hardly|cannot)\b|n['’]t\b)(?:[^\w.;!?]|\.{2,}|\b(?:an?|the|be|at|all|entirely|fully|completely|quite|really|"
    r"strictly|exactly|mathematically)\b)*+$",
    re.IGNORECASE,
)
_QUALIFIED = re.compile(
    r"\b(?:errors?|mistakes?|issues?|problems?|flaws?)\b[^.\n]{0,20}[:?]\W*$|"
    r"\b(?:partial(?:ly)?|part(?:ly)?|mostly|almost|nearly|somewhat|half|largely|possibly|probably|maybe|perhaps|"
    r"likely|if|whether|either|neither|nor|would|could|might|may)\W+$",
    re.IGNORECASE,
)
_PAUSE = r"[\W_]*$|[*_`\"'”’)\]}\s]*(?:[.,;:!)\n]|[-–—(✓✔✅❌✗✘]|\s(?:because|since|as|but|and|so|for|due"
_BREAK = re.compile(rf"{_PAUSE})\b)", re.IGNORECASE)
_BREAK_OF_REPLY = re.compile(rf"{_PAUSE}|it|its|the|this|that|there|they|he|she|i|we|all|every)\b)", re.IGNORECASE)
"""`Yes it is` and `no the sum is 9` open with a reply, `Correct the sum` does not."""
_STARTS = re.compile(r"(?:^|[.!?:;\n]|\s[-–—])[\W_]*$")
_SENTENCE_END = re.compile(r"[.!?\n;:]")
_UNSETTLED = re.compile(r"[\"'”’*_]*\s+(?:does|is|can|would)(?:\s*n['’]t|\s+not)\b", re.IGNORECASE)
_OF_A_THING = re.compile(
    r"[*_]*:\s*[-−$]?\d[\d.,]*\.?\s*(?:\Z|[^\W\d_])|[*_]*:\W{0,8}(?i:yes|no)\b|"
    r"[ \t]+(?!because|since|as\b|and|but|so\b|here|for\b|in\b|at\b|by\b|too|that|on\b|with|to\b|when|given|then|now|"
    r"steps?\b|reasoning|solution|statement|claim|inference)"
    r"[a-z]+\b(?![:=])"
)
"""`Correct: 42.`, `Correct: no` and `correct method` speak of something else than the step."""
_ASKED = re.compile(
    r"\b(?:incorrect|wrong|invalid|false|flawed|errors?|mistakes?|flaws?|issues?|problems?)\b[^.!\n?]*\?\W*$",
    re.IGNORECASE,
)
"""A reply to a question of the judge's own, in which yes and no mean the reverse."""
_UNMEANT = re.compile(
    r"(?:\b(?:not|cannot|never|unable\s+to|(?:love|like|wish|want|tempted)\s+to)|n['’]t)\s+$", re.IGNORECASE
)
_ENDS = re.compile(r"[*_\"”’)]*[.!;]|[\W_]*$")
_NUMBER = re.compile(
    r"(?<![^\W_])(?<![.,/^+×·−<≤≥-])(?<!\w\*)"
    r"(?P<number>[-+−]?(?:\d{1,12}(?:[.,]\d{1,20})?|[.,]\d{1,20})(?:e[-+]?\d{1,3})?)"
    r"(?P<percent>\s?%)?(?:\s(?:stars?|points?|pts?))?"
    r"(?:[*_\s]{0,4}(?:/|\bout\s+of\b|\bof\b)[*_\s]{0,4}(?P<top>\d{1,6}(?:\.\d{1,6})?))?(?![^\W_]|[%^]|[.,/]\w)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"(?<!this )\b(?:steps?|line|part|equation|eq\.|problem|question|criterion|option)\s*#?$", re.IGNORECASE
)
_NO_SCORE = re.compile(r"[*_]*\s*(?:[=+×÷^]|:\s*\d|(?:of|is|are|was|equals?|would|could|might)\b)")
"""`7/10 is left` and `a 10 would need a proof` rate nothing, nor does the 2 of `score 2: 5`."""
_GOES_ON = re.compile(r"[ \t]*(?:-|–|to\b|or\b|\.\.)[ \t]*\d|[ \t]+\d")
"""A range, or a second number: which of them is the score?"""


def mentioned_verdicts(text: str, means: Mapping[str, Said]) -> list[Mention[Said]]:
    """Return every plain statement of a label in order; the menu itself ("yes or no") is none."""
    words = "|".join(sorted(map(re.escape, means), key=len, reverse=True))
    echo = re.compile(rf"\b({words})\b\W{{0,4}}(?:\b(?:or|and)\b|[/|,])\W{{0,4}}\b({words})\b", re.IGNORECASE)
    text = echo.sub(lambda match: match[0] if means[fold(match[1])] is means[fold(match[2])] else blank(match[0]), text)
    found = (
        _verdict_at(text, match, means) for match in re.finditer(rf"{_EDGE}(?:{words})(?![^\W_]|-|\.\d)", text, re.I)
    )
    return [mention for mention in found if mention is not None]


def _verdict_at(text: str, match: re.Match[str], means: Mapping[str, Said]) -> Mention[Said] | None:
    said, is_reply = means[fold(match[0])], fold(match[0]) in ("yes", "no")
    start, before = match.start(), text[max(0, match.start() - LEAD_CHARS) : match.start()]
    negation = _NEGATION.search(before)
    if _QUALIFIED.search(before) or (negation and (is_reply or said is Said.NO)) or _UNSETTLED.match(text, match.end()):
        return None  # "not incorrect", "partly correct" and "not yes" settle nothing
    if (said is Said.YES and not is_reply and _OF_A_THING.match(text, match.end())) or _ASKED.search(before):
        return None
    if negation:
        said, start = Said.NO, start - len(before) + negation.start()
    place, start = _place(text, start, match.end(), _VERDICT_LEAD, _BREAK_OF_REPLY if is_reply else _BREAK)
    if (
        place is None
        and not is_reply
        and _ENDS.match(text, match.end())
        and is_remark(_SENTENCE_END.split(before)[-1], said)
    ):
        place = Place.OPENING
    return None if place is None else Mention(start=start, end=match.end(), place=place, value=said)


def mentioned_scores(text: str, scale: Scale) -> list[Mention[float]]:
    """Return every plain statement of a score in order, on [0, 1]; the scale itself ("0 to 10") is none."""
    low, high = (re.escape(f"{bound:g}") for bound in scale)
    echo = re.compile(
        rf"\b{low}(?:\.0)?\s?(?:-|–|to|and|\.\.)\s?{high}\b(?!\.\d)"
        rf"|(?:^|[^\w\s*])\s?out of {high}\b|\b{high}-points?\b",
        re.IGNORECASE | re.MULTILINE,
    )
    text = echo.sub(lambda match: blank(match[0]), text)
    found = (_score_at(text, match, scale) for match in _NUMBER.finditer(text))
    return [mention for mention in found if mention is not None]


def _score_at(text: str, match: re.Match[str], scale: Scale) -> Mention[float] | None:
    before = text[max(0, match.start() - LEAD_CHARS) : match.start()]
    if _NUMBERED.search(before.rstrip()) or _NO_SCORE.match(text, match.end()):
        return None
    value = None if _GOES_ON.match(text, match.end()) else _normalised(match, scale)
    place, start = _place(text, match.start(), match.end(), _SCORE_LEAD, _BREAK)
    if place is not Place.LED and match["top"] and (value is not None or place is None):
        place = Place.MEASURED if value is not None else None  # `3/4` is no score of a scale up to 10
    if place is Place.OPENING and match["number"].isdigit() and re.match(r"[.)]\s*\w", text[match.end() :]):
        place = None  # the number of a list
    return None if place is None else Mention(start=start, end=match.end(), place=place, value=value)


def read_number(text: str, scale: Scale) -> float | None:
    """Return a score that is the whole of a text, on [0, 1]; None where it is none or off the scale."""
    match = _NUMBER.fullmatch(text.strip())
    return None if match is None else _normalised(match, scale)


def _normalised(match: re.Match[str], scale: Scale) -> float | None:
    """Map a score onto [0, 1] by (score - low) / (high - low); another denominator is refused, not relabelled."""
    low, high = scale
    written = match["number"].replace("−", "-").replace(",", ".")
    top = match["top"]
    if top is not None and float(top) != high:
        return None
    if "," in match["number"] and len(written.partition(".")[2]) == 3:
        return None  # `1,000` may be a thousand or one
    value = float(written)
    if match["percent"]:
        if (low, high) not in ((0, 1), (0, 100)):
            return None
        value = value * high / 100
    return (value - low) / (high - low) if low <= value <= high else None


def _place(text: str, start: int, end: int, lead: re.Pattern[str], pause: re.Pattern[str]) -> tuple[Place | None, int]:
    """Say how plainly text[start:end] is stated, and where the statement begins."""
    offset = max(0, start - LEAD_CHARS)
    before, after = text[offset:start], text[end : end + LEAD_CHARS]
    if re.match(r"\W{0,3}\?", after):
        return None, start
    led = lead.search(before)
    if led and not _UNMEANT.search(before[: led.start()]):
        return Place.LED, offset + led.start()
    line, rest = before.rpartition("\n")[2], after.partition("\n")[0]
    if not re.search(r"[^\W_]", line) and re.match(r"[\W_]*$|[^\w(]*\(", rest):
        return Place.ALONE, start
    if _STARTS.search(before) and pause.match(after):
        return (Place.OPENING if offset == 0 or re.search(r"[^\W_]|\n", before) else None), start
    return None, start


def last_plainest(mentions: Sequence[Mention[Value]], text: str, *, reconsiders: bool) -> Mention[Value] | None:
    """Return the last mention of the plainest kind; one without a value where two of them disagree.

    Args:
        mentions: In order.
        text: What they stand in.
        reconsiders: Whether two that disagree with no word between them are a change of mind (scores: the last
            rating counts) or a contradiction (labels).
    """
    if not mentions:
        return None
    best = min(mention.place for mention in mentions)
    same = [mention for mention in mentions if mention.place is best]
    last = same[-1]
    opposed = [mention for mention in same if mention.value != last.value]
    between = text[opposed[-1].end : last.start] if opposed else ""
    later = [m for m in mentions if m.start >= last.end and m.place is Place.MEASURED and m.value != last.value]
    unsettled = opposed and (best is Place.OPENING or (not reconsiders and not re.search(r"\w", between)))
    if unsettled or later:
        return Mention(start=last.start, end=last.end, place=best, value=None)
    return last
