"""Whether a judge's explanation calls the step right or wrong, beside the label that it gave."""

import re
from collections.abc import Iterator, Sequence

from rafs.engines.judge_words import Said

_RIGHT = "correct|right|valid|true|accurate|sound|fine|flawless"
_WRONG = "incorrect|wrong|invalid|false|inaccurate|unsound|flawed|mistaken|erroneous|untrue|faulty"
_BEHIND = r"because|since|as\b|and|but|so\b|here|for\b|in\b|at\b|by\b|too|that|on\b|with|to\b|when|given|then|now"
_NO_NOUN = rf"(?!\s+(?!{_BEHIND})\w)"
_JUDGED = re.compile(
    r"(?:\b(?:is|are|was|were|be|isn|aren|wasn|weren)\b|['’]s\b)(?P<between>[^.;:!?\n]{0,30}?)"
    rf"\b(?:(?P<right>{_RIGHT})|{_WRONG})\b{_NO_NOUN}",
    re.IGNORECASE,
)
"""A copula, and a word of judgement that no noun follows ("is the right total" judges nothing)."""
_JUDGED_TOO = re.compile(
    rf"\s+and\s+(?:also\s+)?(?:(?P<right>{_RIGHT})|{_WRONG})\b(?:{_NO_NOUN}|(?=\s+depending\b))", re.IGNORECASE
)
"""A second one, as in `is both correct and incorrect`."""
_DENIED = re.compile(r"\b(?:not|never|hardly|cannot)\b|n['’]t\b|^['’]t\b|\b(?:un|in|non)-$", re.IGNORECASE)
_DOUBTED = re.compile(
    r"\b(?:no|not|nothing|none|never|cannot|hardly|doubts?|nobody|neither|nor|without)\b|n['’]t\b", re.IGNORECASE
)
"""`nothing here is wrong`, `I do not think that it is right`: neither praise nor blame without more grammar."""
_UNDOES = re.compile(
    r"\b(?:but|however|though|although|except|yet|wait|unless)\b[^\n]{0,120}?"
    r"(?:\bnot\b|n['’]t\b|\b(?:wrong|off\s+by|fails?|errors?|mistakes?|instead|incorrect|false|invalid|should)\b)"
    r"|\A[\s*_,:;–—-]*(?:but\s+)?(?:only\s+)?(?:if|unless|except|provided|assuming|apart\s+from)\b"
    r"|\A\W*\(?(?:not|wrong)\b\W*\Z"
    r"|\b(?:right|correct|true|actual)\s+(?:value|answer|result|sum|total|product)\s+(?:would|should)\b",
    re.IGNORECASE,
)
"""What takes a yes back: a fault behind a `but`, or a condition right behind it."""
_DENIED_BEFORE = re.compile(r"(?:\b(?:not|never|hardly|cannot)|n['’]t)\s+$", re.IGNORECASE)
"""`cannot be considered correct`"""
_SUBJECTS = (
    "steps?|claims?|statement|solution|answer|reasoning|work|equation|result|conclusion|calculation|"
    "it|everything|all|this|that"
)
_PLAIN_PRAISE = re.compile(
    r"\W*(?:(?:so|thus|therefore|hence|overall|ok|okay|indeed|yes|in\s+(?:short|summary|conclusion)|and|"
    r"i\s+(?:think|find|believe|conclude|agree)(?:\s+that)?)\b\W*)*"
    rf"(?:(?:the|this|that|these|all|both|last|final|current|whole|entire|given|student['’]s)\s+)*(?:{_SUBJECTS})(?:\s+\d{{1,3}})?"
    r"(?:\s+(?:is|are)|['’]s)(?:\s+\w+ly|\s+(?:indeed|also|quite|all|both))*[\s*_]+$",
    re.IGNORECASE,
)
"""What stands before the word of praise where the step as a whole is its subject."""
_PARTLY = re.compile(
    r"\b(?:part(?:ial)?ly|mostly|almost|nearly|largely|possibly|probably|likely|necessarily|half|far\s+from|near|"
    r"close\s+to|no\s+longer|less\s+than|anything\s+but|neither)\b",
    re.IGNORECASE,
)
_FAULTS = (
    r"(?!(?:minor|small|slight|trivial|typing|spelling|style|notation)\b)(?:\w+\s+){0,2}?(?:errors?|mistakes?|flaws?)\b"
)
_FAULTLESS = re.compile(
    rf"\b(?:no|not\s+an?|without|zero|any|free\s+of)\s+{_FAULTS}|\bnothing\s+(?:here\s+)?(?:is\s+)?(?:{_WRONG})\b",
    re.IGNORECASE,
)
_FAULTY = re.compile(
    rf"\b(?:an?|the|one|two|some|several|contains|has|makes?|made|there\s+are)\s+{_FAULTS}|\bshould\s+(?:have\s+been|be|equal)\b"
    r"|\b(?:does\s+not|doesn['’]t|do\s+not|don['’]t)\s+(?:follow|hold)\b|\bmiscalculat\w+|\boff\s+by\b"
    r"|\bfails\b(?!\s+to\s)",
    re.IGNORECASE,
)
_TURN = r"(?:[,.;:!–—-]|\b(?:actually|rather|then|mean|say|no|not|now)\b|\bis\s+(?=yes\b|no\b))"
_COPULA = re.compile(r"(?:\b(?:is|are|was)|['’]s)\s+(?:\w+ly\s+)?[*_]*$", re.IGNORECASE)
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
        before, between = sentence[: match.start()], match["between"]
        denied = _DENIED.search(between) or _DENIED_BEFORE.search(before)
        if match["right"] and denied:
            yield Said.NO
        elif not (_PARTLY.search(between) or _DOUBTED.search(before)):
            yield Said.YES if bool(match["right"]) is not bool(denied) else Said.NO
        if (too := _JUDGED_TOO.match(sentence, match.end())) is not None and not denied:
            yield Said.YES if too["right"] else Said.NO
    if _FAULTLESS.search(sentence):
        yield Said.YES
    elif _FAULTY.search(sentence):
        yield Said.NO


def is_remark(before: str, said: Said) -> bool:
    """Whether `before`, up to a label, makes a sentence of it that is as plain as the label alone: `The step is`."""
    if said is Said.YES:
        return _PLAIN_PRAISE.match(before) is not None
    return _COPULA.search(before) is not None and not _DOUBTED.search(before)


def contradicts(explanation: str, verdict: Said) -> bool:
    """Whether an explanation disagrees: any fault found against a yes, nothing but praise against a no."""
    said = set(stances(explanation))
    if verdict is Said.YES:
        return Said.NO in said or _UNDOES.search(explanation) is not None
    return said == {Said.YES}


def takes_back(rest: str, opposites: Sequence[str]) -> bool:
    """Whether one of the opposite labels ends a clause behind a verdict, as in `Yes. On second thought, no`."""
    words = "|".join(map(re.escape, opposites))
    return re.search(rf"{_TURN}\W{{0,8}}(?:{words})\b(?=\W{{0,8}}\Z|\s{{0,8}}[.!\n])", rest, re.IGNORECASE) is not None


def stance_of(text: str) -> Said:
    """Return the one stance of a whole reply without a label.

    Unknown where there are two, none, or it is cut off; praise counts where the step as a whole is its subject.
    """
    said = set(stances(text))
    is_whole = re.search(r"[.!](?:[\s*_\"”')]|$)*$", text) is not None
    if len(said) != 1 or not is_whole:
        return Said.UNKNOWN
    praised = all(_praises_all(sentence) for sentence in _SENTENCE.findall(text) if _JUDGED.search(sentence))
    return Said.NO if said == {Said.NO} else Said.YES if praised else Said.UNKNOWN


def _praises_all(sentence: str) -> bool:
    return all(
        _PLAIN_PRAISE.match(sentence[: match.start("right")]) for match in _JUDGED.finditer(sentence) if match["right"]
    )
