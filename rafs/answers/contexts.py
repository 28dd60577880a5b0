"""What a problem's text says about how its answers are to be read."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from rafs.answers.forms import Context

MAX_PROBLEM_CHARS = 4000
"""Characters of the problem that are looked at."""
_PERCENT = re.compile(r"percent|per cent|%|proz|pourcent|porcent", re.IGNORECASE)
_ORDERED = re.compile(
    r"\bin (?:that |the |this )?(?:\w+ )?order\b|\border(?:ed)? (?:of|from|pair|triple)|respectively|sequence|\brank"
    r"|ascending|descending|\b(?:arrange|sort)(?:ed)?\b|chronological|alphabetical|\bin which\b.{0,30}\border"
    r"|\bfrom (?:the )?(?:\w{2,12}est|least|most|best|worst|first|top|left|low|high)\b.{0,20} to\b",
    re.IGNORECASE,
)
_RATIO = re.compile(r"\bratios?\b|\bproportion\b|\bodds\b|rapport|verhältnis", re.IGNORECASE)
_FOREIGN = frozenset(
    "quel quelle quels quelles combien est les des une le la du prix montant et dans pour que calcule calculez trouvez "
    "trouver déterminer wie viel viele welche welcher welches ist der das dem ein eine einer und von für wieviel "
    "berechne bestimme finde cuánto cuánta cuántos cuántas cuál cuáles es el los las un una del por calcula halla "
    "encuentra determina quanto quanta quanti quante qual quale quali il lo gli di che calcola trova em os uma um "
    "encontre hoeveel wat het een bereken bepaal hur många vad beräkna hvad hvor mange beregn oblicz ile jaka "
    "kolik vypočítejte paljonko laske mennyi mennyibe kaç hesapla berapa hitung".split()
)
"""Words of problems in languages that write decimals with commas, and neither of English nor of formulas."""
_ENGLISH = frozenset(
    "the what how many much is are of find an and to each has have does if which determine compute calculate solve "
    "simplify evaluate express factor expand let given suppose there number where when from write".split()
)
_COMMA_LETTER = re.compile("[ß-öø-žа-ӿạ-ỹ]")
"""Letters of such languages that English has not."""
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
"""Writing of languages with decimal points."""
_CHOICE = re.compile(
    r"(?:^|[\s(])\(?([A-J])[).:]\s{0,3}([^\n]{1,80}?)(?=\s{1,4}\(?[A-J][).:]\s|\s{0,4}$)", re.MULTILINE
)
_WORD = re.compile(r"[^\W\d_]+")


def read_context(problem: str, choices: Mapping[str, str] | None = None) -> Context:
    """Read from the problem how its answers are written; looks at its first 4000 characters."""
    context = _context_of(problem[:MAX_PROBLEM_CHARS])
    return replace(context, choices=choices) if choices else context


@lru_cache(maxsize=64)
def _context_of(problem: str) -> Context:
    words = [word.lower() for word in _WORD.findall(problem)]
    return Context(
        asks_percent=bool(_PERCENT.search(problem)) if problem.strip() else None,
        ordered=bool(_ORDERED.search(problem)),
        ratio=bool(_RATIO.search(problem)),
        decimal_comma=_is_foreign(words),
        decimal_point=_has_points(words),
        choices=listed_choices(problem),
        words=frozenset(words),
    )


def listed_choices(problem: str) -> Mapping[str, str]:
    """Return the options that a problem lists: their letters and texts; nothing where it lists none."""
    if "A" not in problem:
        return {}
    listed = {letter: text.strip(" ,;)") for letter, text in _CHOICE.findall(problem[:MAX_PROBLEM_CHARS])}
    return listed if {"A", "B"} <= listed.keys() else {}


def _is_foreign(words: list[str]) -> bool:
    """Say whether a problem is in a language that writes decimals with commas."""
    foreign = sum((word in _FOREIGN or _is_spelled_foreign(word)) and word not in _ENGLISH for word in words)
    return foreign > 2 * sum(word in _ENGLISH and word not in _FOREIGN for word in words)


def _is_spelled_foreign(word: str) -> bool:
    return len(word) > 1 and not word.isascii() and _COMMA_LETTER.search(word) is not None


def _has_points(words: list[str]) -> bool:
    """Say whether a problem has words of a language that writes decimals with points."""
    return any(word in _ENGLISH or _EAST_ASIAN.match(word) for word in words)
