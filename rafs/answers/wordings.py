"""Whether two answers in words are the same: the same words, surely different ones, or not to be told."""

import re

from rafs.answers.forms import Context, Words
from rafs.types import Truth

_SPOKEN = re.compile(r"[^\w\s'-]")
_ARTICLES = frozenset("the a an is it its it's that there".split())
_NEGATIONS = frozenset("not no non never isn't doesn't don't cannot can't without neither".split())
_CLASSES = tuple(
    frozenset(names.split())
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "january february march april may june july august september october november december",
        "spring summer autumn winter",
        "red blue green yellow black white orange purple brown pink gray",
        "north south east west",
        "up down",
        "left right",
        "above below",
        "before after",
        "inside outside",
        "more less equal same",
        "greater smaller",
        "larger smaller",
        "bigger smaller",
        "higher lower",
        "longer shorter",
        "faster slower",
        "older younger",
        "even odd",
        "prime composite",
        "positive negative zero",
        "rational irrational",
        "increase decrease",
        "rise fall",
        "gain loss profit",
        "win lose draw",
        "major minor",
        "heads tails",
        "head tail",
        "true false unknown uncertain",
        "yes no maybe",
        "always sometimes never",
        "acute obtuse right",
        "equilateral isosceles scalene",
        "circle triangle square pentagon hexagon octagon",
        "circle ellipse parabola hyperbola line point",
        "converge diverge",
        "convergent divergent",
        "convex concave",
        "possible impossible",
        "valid invalid",
        "linear quadratic cubic exponential logarithmic",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "one two three four five six seven eight nine ten",
        "male female",
        "boy girl",
        "boys girls",
        "man woman",
        "mother father sister brother daughter son aunt uncle",
        "mercury venus earth mars jupiter saturn uranus neptune",
        "mean median mode range",
        "solid liquid gas",
        "knight knave",
        "entailment contradiction neutral",
    )
)
"""Words of which a thing is at most one."""
_ENDINGS = ("ing", "es", "ed", "s")
_NAME = re.compile(r"[A-Z][^\W\d_]{1,20}")


def compare_words(a: Words, b: Words, context: Context) -> Truth:
    """Compare two wordings of the same question's answer."""
    if a.text == b.text:
        return Truth.TRUE
    if a.standard and b.standard:
        return Truth.TRUE if {a.text, b.text} == {"none", "no solution"} else Truth.FALSE
    first, second = _spoken(a.text), _spoken(b.text)
    if not first or not second:
        return Truth.UNKNOWN
    if first == second:
        return Truth.TRUE
    if _negated(first) != _negated(second):
        same = [word for word in first if word not in _NEGATIONS] == [word for word in second if word not in _NEGATIONS]
        return Truth.FALSE if same else Truth.UNKNOWN
    return Truth.FALSE if _are_alternatives(first, second, context) else Truth.UNKNOWN


def are_other_names(a: str, b: str) -> bool:
    """Say whether two answers are names of somebody else: one capitalised word each, none short for the other."""
    if not (_NAME.fullmatch(a) and _NAME.fullmatch(b)) or a.isupper() or b.isupper():
        return False
    first, second = sorted((a.lower(), b.lower()), key=len)
    return first != second and not second.startswith(first)


def _spoken(text: str) -> list[str]:
    """Return the words that matter, in lower case."""
    words = _SPOKEN.sub(" ", text.lower()).replace("-", " ").split()
    return [word for word in words if word not in _ARTICLES] or words


def _negated(words: list[str]) -> bool:
    return bool(_NEGATIONS & set(words))


def _are_alternatives(first: list[str], second: list[str], context: Context) -> bool:
    """Say whether both differ in one word, and those two exclude each other or are the problem's own two things."""
    if len(first) != len(second):
        return False
    differing = [(one, other) for one, other in zip(first, second, strict=True) if one != other]
    if len(differing) != 1:
        return False
    if all(word.isdecimal() for word in differing[0]):
        return int(differing[0][0]) != int(differing[0][1])
    stems = {_stem(word) for word in differing[0]}
    if len(stems) == 1:
        return False
    if any(stems <= {_stem(word) for word in names} for names in _CLASSES):
        return True
    return len(first) == 1 and set(differing[0]) <= context.words


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) > 3:
            return word.removesuffix(ending).rstrip("e")
    return word.rstrip("e")
