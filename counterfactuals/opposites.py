"""Words and their opposites, with the contexts in which one can take the place of the other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PAIRS = (
    "greater smaller|larger smaller|bigger smaller|more less|fewer more|higher lower|longer shorter|taller shorter|"
    "older younger|heavier lighter|faster slower|wider narrower|hotter colder|warmer colder|earlier later|"
    "largest smallest|biggest smallest|greatest smallest|highest lowest|longest shortest|tallest shortest|"
    "oldest youngest|heaviest lightest|fastest slowest|earliest latest|maximum minimum|maximal minimal|"
    "increases decreases|increased decreased|increasing decreasing|rises falls|grows shrinks|odd even|"
    "positive negative|rational irrational|possible impossible|correct incorrect|valid invalid|true false|"
    "consistent inconsistent|convergent divergent|converges diverges|prime composite|parallel perpendicular|"
    "acute obtuse|always never|above below|inside outside|likely unlikely|finite infinite|bounded unbounded|"
    "dependent independent|enough insufficient|sufficient insufficient|clockwise counterclockwise|"
    "satisfies violates|before after|all none|can cannot"
)
"""`left right` and `first last` are not here: both have too many other meanings."""
_OPPOSITES = {
    **{
        word: other
        for pair in _PAIRS.split("|")
        for one, two in [pair.split()]
        for word, other in ((one, two), (two, one))
    },
    "smaller": "larger",
    "smallest": "largest",
    "shorter": "longer",
    "shortest": "longest",
    "more": "less",
    "insufficient": "sufficient",
}
_SUBJECTS = "the|noon|lunch|dinner|midnight|his|her|their|[a-z]{3,6}day"
_OWNERS = "the|his|her|their|its|these|those|them"
_END = r"[.,;:]|$|\n"
_SAID = "is|are|was|were|be|both|not|also"
_CONTEXTS: dict[str, str] = {
    "even": rf"\b(?:(?:{_SAID}) even(?= ?(?:{_END}|and\b|so\b|because\b|since\b))|even(?= (?:number|integer|digit)))",
    "prime": rf"\b(?:(?:{_SAID}) prime(?= ?(?:{_END}|and\b|so\b|because\b|since\b))|prime(?= numbers?\b))",
    "can": r"\bcan(?= (?:be|fit|hold|have|reach|afford|form|divide|make|contain|exist|occur)\b)",
    "cannot": r"\bcannot(?= [a-z])",
    "before": rf"\bbefore(?= (?:{_SUBJECTS})\b)",
    "after": rf"\bafter(?= (?:{_SUBJECTS})\b)",
    "all": rf"\ball(?= of (?:{_OWNERS})\b)",
    "none": rf"\bnone(?= of (?:{_OWNERS})\b)",
    "less": r"\bless(?= than\b)",
    "fewer": r"\bfewer(?= (?:[a-z]+s )?than\b)",
    "more": r"\bmore(?= (?:[a-z]+s )?than\b)",
    "lower": r"\blower(?= than\b)",
    "higher": r"\bhigher(?= than\b)",
    "above": r"\babove(?= (?:the|zero|average|sea)\b)",
    "below": r"\bbelow(?= (?:the|zero|average|sea)\b)",
    "later": r"\blater(?= than\b)",
    **{
        word: rf"\b(?:{_SAID}) {word}\b"
        for word in ("true", "false", "correct", "valid", "possible", "impossible", "likely")
    },
}
"""Where a word means what its opposite denies; elsewhere it means something else (`even if`, `prime factor`)."""
_CONTEXTS_COMPILED = {word: re.compile(pattern, re.IGNORECASE) for word, pattern in _CONTEXTS.items()}
_AROUND = 40
"""Characters around a word that such a pattern looks at."""
_COPULA = re.compile(
    r"\b(?P<verb>is|are|was|were)\b(?P<negated> not|n't)?"
    r"(?= (?:a|an|the|in|on|at|divisible|equal|congruent|similar|true|possible|valid|needed|required|included|parallel"
    r"|symmetric|constant|continuous|unique|independent|isosceles|equilateral|perpendicular|tangent|injective|"
    r"surjective|prime|enough|able|collinear|concurrent|cyclic)\b)"
)
_COUNTED = re.compile(r" [a-z]+s than\b")
_ARTICLE = re.compile(r"(?<![A-Za-z])([Aa])n? $")
_ARTICLE_CHARS = 4
_WORD = re.compile(r"[A-Za-z]+")
_VOWELS = "aeiou"
_AN_EXCEPT = ("uni", "use", "eu", "one")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One word of a sentence, and what turns the sentence round."""

    start: int
    end: int
    """Characters of the text that are replaced: the word, with its article where that changes."""
    written: str


def opposites_in(text: str, start: int, end: int) -> Iterator[Flip]:
    """Yield the words of text[start:end] that can be turned round where they stand, in order; the grammar stays."""
    for found in _WORD.finditer(text, start, end):
        word = found.group().lower()
        other = _OPPOSITES.get(word)
        if other is not None and _fits(text, found.start(), word):
            yield _replaced(text, found, _plural_less(text, found, other))
    for copula in _COPULA.finditer(text, start, end):
        verb = copula["verb"]
        yield Flip(start=copula.start(), end=copula.end(), written=verb if copula["negated"] else f"{verb} not")


def _fits(text: str, start: int, word: str) -> bool:
    context = _CONTEXTS_COMPILED.get(word)
    if context is None:
        return True
    around = context.finditer(text, max(0, start - _AROUND), start + _AROUND)
    return any(found.start() <= start < found.end() for found in around)


def _plural_less(text: str, found: re.Match[str], other: str) -> str:
    """Return `fewer` before things that are counted: `less water`, but `fewer apples than`."""
    counted = _COUNTED.match(text, found.end())
    return "fewer" if other == "less" and counted else other


def _replaced(text: str, found: re.Match[str], other: str) -> Flip:
    word = found.group()
    other = other.capitalize() if word[0].isupper() else other
    article = _ARTICLE.search(text, max(0, found.start() - _ARTICLE_CHARS), found.start())
    if article is None:
        return Flip(start=found.start(), end=found.end(), written=other)
    wants_an = other[0].lower() in _VOWELS and not other.lower().startswith(_AN_EXCEPT)
    return Flip(start=article.start(), end=found.end(), written=f"{article[1]}{'n' if wants_an else ''} {other}")
