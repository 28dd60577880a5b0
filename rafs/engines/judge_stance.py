"""Whether a judge's explanation calls the step right or wrong, beside the label that it gave."""

import re
from collections.abc import Iterator

from rafs.engines.judge_words import Said

_RIGHT = "correct|right|valid|true|accurate|sound|fine|flawless"
_WRONG = "incorrect|wrong|invalid|false|inaccurate|unsound|flawed|mistaken|erroneous|untrue|faulty"
_JUDGED = re.compile(
    rf"(?:\b(?:is|are|was|were|be|isn|aren|wasn|weren)\b|['’]s\b)(?P<between>[^.;:!?\n]{{0,30}}?)\b(?:(?P<right>{_RIGHT})|{_WRONG})\b"
    r"(?!\s+(?!because|since|as\b|and|but|so\b|here|for\b|in\b|at\b|by\b|too|that|on\b|with|to\b|when|given|then|now)\w)",
    re.IGNORECASE,
)
"""A copula, and a word of judgement that no noun follows ("is the right total" judges nothing)."""
_DENIED = re.compile(r"\b(?:not|never|hardly)\b|n['’]t\b|^['’]t\b", re.IGNORECASE)
_PARTLY = re.compile(
    r"\b(?:part(?:ial)?ly|mostly|almost|nearly|largely|possibly|probably|likely|necessarily)\b", re.IGNORECASE
)
_FAULTS = (
    r"(?!(?:minor|small|slight|trivial|typing|spelling|style|notation)\b)(?:\w+\s+){0,2}?(?:errors?|mistakes?|flaws?)\b"
)
_FAULTLESS = re.compile(rf"\b(?:no|not\s+an?|without|zero|any|free\s+of)\s+{_FAULTS}", re.IGNORECASE)
_FAULTY = re.compile(
    rf"\b(?:an?|the|one|two|some|several|contains|has|makes?|made)\s+{_FAULTS}|\bshould\s+(?:have\s+been|be|equal)\b"
    r"|\b(?:does\s+not|doesn['’]t|do\s+not|don['’]t)\s+(?:follow|hold)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:would|could|might|may|if|whether|seems?|looks?|appears?|thought|says?|said|claims?|supposed|unless)\b", re.I
)
_CONCEDES = re.compile(r"\b(?:but|however|although|though|yet)\b", re.IGNORECASE)
"""What is praised and then qualified is not praised."""
_SENTENCE = re.compile(r"[^.!?\n]*(?:\.(?=\S)[^.!?\n]*)*[.!?\n]?")


def stances(text: str) -> Iterator[Said]:
    """Say of every plain remark on the step, in order, what it makes of it; hedged remarks and questions are none."""
    for sentence in _SENTENCE.findall(text):
        if not sentence.endswith("?") and not _HEDGED.search(sentence):
            concedes = _CONCEDES.search(sentence) is not None
            yield from (said for said in _in_sentence(sentence) if said is Said.NO or not concedes)


def _in_sentence(sentence: str) -> Iterator[Said]:
    for match in _JUDGED.finditer(sentence):
        denied = _DENIED.search(match["between"]) is not None
        if denied and match["right"]:
            yield Said.NO
        elif not denied and not _PARTLY.search(match["between"]):
            yield Said.YES if match["right"] else Said.NO
    if _FAULTLESS.search(sentence):
        yield Said.YES
    elif _FAULTY.search(sentence):
        yield Said.NO


def contradicts(explanation: str, verdict: Said) -> bool:
    """Whether an explanation disagrees: any fault found against a yes, nothing but praise against a no."""
    said = set(stances(explanation))
    return Said.NO in said if verdict is Said.YES else said == {Said.YES}


def stance_of(text: str) -> Said:
    """Return the one stance of a whole reply without a label; unknown where there are two, none, or it is cut off."""
    said = set(stances(text))
    is_whole = re.search(r"[.!](?:[\s*_\"”')]|$)*$", text) is not None
    return said.pop() if len(said) == 1 and is_whole else Said.UNKNOWN
