"""One apple, two apples: the words behind a number that becomes one, or ceases to be one."""

import re
from collections.abc import Sequence
from fractions import Fraction

from counterfactuals.recalculating import Change

_BEHIND = re.compile(r"(?P<lead>[\s~]*(?:\\text\{\s*)?)(?P<noun>[A-Za-z]+)(?P<gap>\}?\s+)?(?P<verb>[A-Za-z]+)?")
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet", "mouse": "mice"}
_INVARIABLE = frozenset(
    "am as at and are been but by cm each fewer for from g h hr hrs if in is it kg km l left less lb lbs m mg min ml "
    "mm more mph of off on oz per pm remaining s so than that the then there times to total was were which with".split()
)
"""Words that stay as they are behind any number, or that name nothing which is counted."""
_VERBS = {"is": "are", "was": "were", "has": "have", "remains": "remain", "does": "do", "needs": "need"}
_SINGULAR_VERBS = {plural: singular for singular, plural in _VERBS.items()}
_SIBILANT = ("s", "x", "z", "ch", "sh")


def agreeing_words(
    text: str, places: Sequence[Change], old: Fraction, new: Fraction, evidence: str
) -> list[Change] | None:
    """Return how the words behind some numbers change with them; None where that is not known for sure.

    Args:
        text: The text.
        places: Where it says the old number.
        old: The number that it says.
        new: The number that it will say.
        evidence: Text in which the other form of a noun must stand: a rule alone would make `1 lef` of `2 left`.
    """
    if (old == 1) == (new == 1):
        return []
    known = {word.lower() for word in re.findall(r"[A-Za-z]+", evidence)}
    changes: list[Change] = []
    for _, end, _ in places:
        behind = _BEHIND.match(text, end)
        if behind is None or behind["noun"].lower() in _INVARIABLE:
            continue
        noun = behind["noun"]
        other = next((form for form in _other_forms(noun.lower(), to_one=new == 1) if form in known), None)
        if other is None:
            return None
        changes.append((*behind.span("noun"), other.capitalize() if noun[0].isupper() else other))
        verb = (_SINGULAR_VERBS if new == 1 else _VERBS).get(behind["verb"] or "")
        if verb is not None:
            changes.append((*behind.span("verb"), verb))
    return changes


def _other_forms(noun: str, *, to_one: bool) -> Sequence[str]:
    """Return what a noun may be in the other number; for `boxes`, both `box` and `boxe`."""
    if to_one:
        irregular = [one for one, many in _IRREGULAR.items() if many == noun]
        if irregular or not noun.endswith("s"):
            return irregular
        return [noun[:-1], noun[:-2], noun[:-3] + "y"] if noun.endswith("es") else [noun[:-1]]
    if noun in _IRREGULAR:
        return [_IRREGULAR[noun]]
    if noun.endswith("y"):
        return [noun + "s", noun[:-1] + "ies"]
    return [noun + "es"] if noun.endswith(_SIBILANT) else [noun + "s"]
