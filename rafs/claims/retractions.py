"""What a step takes back: `3*4 = 13. Wait, that is wrong: 3*4 = 12` asserts the second equation alone.

Only a retraction inside the step counts. One in a later step leaves the earlier step as it was: the judgement of a step
hangs on the steps up to it, so a wrong equation stays refuted there, and the step that repairs it is judged on its own.
"""

import re
from collections.abc import Sequence

from rafs.claims.relations import Link
from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.terms import Number

_DOUBTFUL = GatedPattern(
    r"\b(?:wait|oops|hold on|hmm+|actually|sorry|no[,:.]|let me (?:check|verify|recheck|re-check)|instead|or rather"
    r"|i mean)",
    "wait|oops|hold on|hm|actually|sorry|no,|no:|no.|let me|instead|rather|i mean".split("|"),
    lead=4,
)
"""Words behind which an equation written again replaces the one before."""
_TAKING_BACK = (
    "oops|scratch|correct|strike|mistake|bad|wait|quite|make that|meant|n't right|not right|be right|wrong|false|error|"
    "off|not true|be true|slip|misc|misr|let me|should".split("|")
)
_RETRACTING = GatedPattern(
    r"\b(?:oops|scratch that|correction|correcting (?:this|that|it)|strike that|my (?:mistake|bad)|no,? wait|wait,? no"
    r"|not quite|make that|i meant|that isn't right"
    r"|(?:that|this|it|which|the above|the last (?:line|step|result))(?:'s| is| was| looks| seems)"
    r"(?: (?:clearly|obviously|of course|actually|plainly))? (?:wrong|incorrect|not right|not correct|false|a mistake"
    r"|an error|off|not true|mistaken)"
    r"|(?:that|this) (?:can't|cannot|can not) be (?:right|correct|true)"
    r"|(?:i|we) (?:made|have made|just made) an? (?:\w{1,12} )?(?:mistake|error|slip)"
    r"|i (?:miscalculated|misread|was wrong)"
    r"|let me (?:correct|redo|re-do|recompute|recalculate|re-calculate|fix|start over|try (?:that )?again)"
    r"|should (?:be|have been))\b",
    _TAKING_BACK,
    lead=40,
    reach=40,
)
"""Words that take back the equation before them."""
_OPENING = re.compile(
    r"(?:^|[.!?:;\n]|\b(?:but|oh|ah)\b)[\s*_\"'“]{0,8}(?:wait|oops|hold on|hmm+|actually|sorry|no|or rather|i mean)\b"
    r"(?=[\s,.:;!-])",
    re.IGNORECASE,
)
"""Words of doubt where a sentence begins, which are about what stands before it."""
_SHOULD_BE = re.compile(r"should (?:be|have been)", re.IGNORECASE)
"""What both meanings share: `that should be 12`, and `the number should be whole`."""
_CORRECTED = re.compile(
    r"\b(?:(?:it|this|that|these|those|which|above|(?:step|line|equation) \d{1,3}|result)\s(?:should|must)\sbe"
    r"|should have been)\b(?=[^.!?\n\d]{0,30}\d)",
    re.IGNORECASE,
)
REACH = 60
"""Characters from an equation to the words that take it back."""


_TRIAL = re.compile(
    r"\b(?:try|tries|trying|test|tests|testing|guess|suppose|attempt|assume|select|choose|pick|consider|option"
    r"|check|checks|checking|plug|plugging|substitute|substituting|verify)\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:(?:does not|doesn't|do not|don't|did not|didn't|cannot|can't) (?:\w{1,12} )?(?:equal|equate|be equal|work"
    r"|hold|satisfy|match|fit|give|add up)"
    r"|(?:is|are) (?:too (?:large|small|big|high|low)|not (?:equal|enough|a solution|true|correct|satisfied|what))"
    r"|isn't (?:equal|enough|a solution|true|right)|fails?|false|no solution|contradict\w{1,4}"
    r"|try (?:another|again|a different))",
    re.IGNORECASE,
)


def is_failed_trial(text: str, link: Link) -> bool:
    """Say whether a step tries a value out and finds that it fails, so that its equation is none that it asserts."""
    return (
        _TRIAL.search(text, 0, link.left_span.start) is not None
        and _FAILED.search(text, link.right_span.end) is not None
    )


def retracted(text: str, links: Sequence[Link]) -> frozenset[int]:
    """Return the positions of the links that the rest of their step takes back."""
    if not links:
        return frozenset()
    strong = [found.start() for found in _RETRACTING.finditer(text)]
    gone: set[int] = set()
    for marker in strong:
        before = [
            index for index, link in enumerate(links) if link.right_span.end <= marker <= link.right_span.end + REACH
        ]
        gone |= set(before[-1:])
    again = _written_again(text, links)
    markers = [*strong, *(found.start() for found in _DOUBTFUL.finditer(text))] if again else []
    for earlier, later in again:
        start, end = links[earlier].right_span.end, links[later].left_span.start
        if any(start <= marker <= end for marker in markers):
            gone.add(earlier)
    return frozenset(gone)


def doubts(text: str) -> list[int]:
    """Return where words end that take back, or doubt, something said before them; what that is the caller finds out.

    A bare `should be` says what something is to be (`the number should be whole`), and takes nothing back.
    """
    strong = (found.end() for found in _RETRACTING.finditer(text) if not _SHOULD_BE.fullmatch(found.group()))
    return sorted({*strong, *(found.end() for mark in (_OPENING, _CORRECTED) for found in mark.finditer(text))})


def _written_again(text: str, links: Sequence[Link]) -> list[tuple[int, int]]:
    """Return the positions of each two links, one behind the other, with the same left side."""
    latest: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for index, link in enumerate(links):
        key = _key(text, link)
        earlier = latest.get(key)
        if earlier is not None:
            pairs.append((earlier, index))
        if not isinstance(link.left, Number):
            latest[key] = index
    return pairs


def _key(text: str, link: Link) -> str:
    return "".join(text[link.left_span.start : link.left_span.end].split())
