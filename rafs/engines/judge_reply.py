"""What a judge said in words: a verdict, a score, or nothing that can be relied on.

Objects with the keys `verdict` and `score` come first, then the words around them. There a mention counts by where it
stands: behind a lead ("Verdict:"), alone on its line, or at the start of a sentence; the last of the plainest is
taken, and a mention in running text is none. What contradicts itself, or is cut off, says nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rafs.engines.judge_mentions import (
    Mention,
    Place,
    Scale,
    last_plainest,
    mentioned_scores,
    mentioned_verdicts,
    read_number,
)
from rafs.engines.judge_objects import FoundObject, Pairs, find_objects
from rafs.engines.judge_stance import contradicts, stance_of, takes_back
from rafs.engines.judge_words import FILLERS, Said, blank, known_words, labels_of, plain_words, spoken_part, vocabulary
from rafs.engines.label_mass import Labels

__all__ = ["DEFAULT_LABELS", "Reply", "Said", "Scale", "labels_of", "read_reply"]

DEFAULT_LABELS: Labels = ("Yes", "No")
_NAMES_VERDICT = re.compile(r"(?:verdict|judge?ment|assessment|decision|ruling)\b", re.IGNORECASE)
"""Leads behind which `right` and `wrong` are verdicts, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A judge's reply, read; what it does not say plainly is not in it."""

    verdict: Said = Said.UNKNOWN
    score: float | None = None
    """In [0, 1], the asked scale mapped linearly; None where none was stated, or an impossible one."""

    @property
    def is_readable(self) -> bool:
        """Whether it says anything."""
        return self.verdict is not Said.UNKNOWN or self.score is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stated:
    """What the objects of a reply state, each value once."""

    verdicts: tuple[Said, ...]
    scores: tuple[float | None, ...]
    explanation: str


def read_reply(raw: str | None, labels: Labels = DEFAULT_LABELS, scale: Scale | None = None) -> Reply:
    """Read a reply in words or as JSON.

    Args:
        raw: The reply; None where the server sent none.
        labels: What the judge was to choose from, the label for a correct step first.
        scale: Lowest and highest score asked for; None where no score was asked for, and then none is read.

    Returns:
        The verdict and the score that it states plainly. A reply is never guessed at: an off-menu, contradictory,
        cut or empty one has neither.
    """
    text = spoken_part(raw)
    objects = list(find_objects(text))
    if any(found.pairs is None for found in objects):
        return Reply()
    stated = _state(objects, labels, scale)
    if len(stated.verdicts) > 1 or len(stated.scores) > 1:
        return Reply()  # which of them is the judge's own, and which is quoted from what it judged?
    words = plain_words(_without(text, objects))
    after = objects[-1].end if objects else 0
    verdict = _verdict(words, stated, labels, after)
    if stated.verdicts not in ((), (verdict,)):
        return Reply()
    score = _score(words, stated, scale, after) if scale is not None else None
    if score is not None and ((verdict is Said.YES and score < 0.5) or (verdict is Said.NO and score > 0.5)):
        return Reply()
    return Reply(verdict=verdict, score=score)


def _without(text: str, objects: Sequence[FoundObject]) -> str:
    for found in objects:
        text = text[: found.start] + blank(text[found.start : found.end]) + text[found.end :]
    return text


def _state(objects: Sequence[FoundObject], labels: Labels, scale: Scale | None) -> _Stated:
    pairs = [pair for found in objects for pair in _opened(found.pairs or ())]
    verdicts = [_verdict_of(value, labels) for key, value in pairs if key == "verdict"]
    scores = [read_number(str(value), scale or (0, 1)) for key, value in pairs if key == "score"]
    return _Stated(
        verdicts=tuple(dict.fromkeys(verdicts)),
        scores=tuple(dict.fromkeys(scores)),
        explanation="\n".join(str(value) for key, value in pairs if key not in ("verdict", "score")),
    )


def _opened(pairs: Pairs) -> Pairs:
    """Return the pairs of an object with plain keys, an envelope of one key opened."""
    if len(pairs) == 1 and isinstance(pairs[0][1], tuple):
        pairs = pairs[0][1]
    return tuple((key.strip().casefold(), value) for key, value in pairs)


def _verdict_of(value: object, labels: Labels) -> Said:
    if not isinstance(value, str | bool):
        return Said.UNKNOWN
    means = known_words(labels, is_value=True)
    text = plain_words(str(value))
    found = last_plainest(mentioned_verdicts(text, means), text, reconsiders=False)
    if found is None or found.value is None or contradicts(text[found.end :], found.value):
        return Said.UNKNOWN
    return found.value


def _verdict(words: str, stated: _Stated, labels: Labels, after: int) -> Said:
    found = _said_in(words, labels)
    if stated.verdicts:
        (verdict,) = stated.verdicts
        is_plain = found is not None and (found.start >= after or found.place is Place.LED)
        opposed = found is not None and is_plain and found.value is not verdict
        is_denied = opposed or contradicts(f"{stated.explanation}\n{words[after:]}", verdict)
        return Said.UNKNOWN if is_denied else verdict
    if found is None:
        return Said.UNKNOWN if after else stance_of(words)
    if found.value is None:
        return Said.UNKNOWN
    rest = words[found.end :]
    known = known_words(labels, is_value=False)
    opposed = any(other.value is not found.value for other in mentioned_verdicts(rest, known)) or takes_back(
        rest, [word for word, said in known.items() if said is not found.value]
    )
    remarks = rest if found.place is Place.LED else f"{words[: found.start]}\n{rest}"
    return Said.UNKNOWN if opposed or contradicts(remarks, found.value) else found.value


def _said_in(words: str, labels: Labels) -> Mention[Said] | None:
    """Return what the words settle on, by the menu itself before the words of other menus."""
    for means in (vocabulary(labels), known_words(labels, is_value=False)):
        if mentions := mentioned_verdicts(words, means):
            return last_plainest(mentions, words, reconsiders=False)
    fillers = mentioned_verdicts(words, vocabulary(FILLERS))
    led = [one for one in fillers if one.place is Place.LED and _NAMES_VERDICT.match(words, one.start)]
    return last_plainest(led, words, reconsiders=False)


def _score(words: str, stated: _Stated, scale: Scale, after: int) -> float | None:
    found = last_plainest(mentioned_scores(words, scale), words, reconsiders=True)
    if not stated.scores:
        return found.value if found else None
    opposed = found is not None and found.start >= after and found.value not in stated.scores
    return None if opposed else stated.scores[0]
