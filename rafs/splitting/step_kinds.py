"""What a step does: infer, set up, or only state the answer. Read from its blind text alone."""

import re
from collections.abc import Iterator, Set

from rafs.grammar.gated_patterns import GatedPattern
from rafs.splitting.segments import STEP_MARK
from rafs.types import ANSWER_PLACEHOLDER, StepKind

_DECORATION = re.compile(r"[*_#>`\"“”$\\()\[\]{}|]|\\(?:text|mathrm|quad|,|;|!)")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_REASON = re.compile(r"\b(?:because|since|given that|as there|if|due to|so that|by)\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"\b(?:therefore|so|thus|hence|consequently|then|must be|must have|can't be|cannot be|which means|means that"
    r"|this means|gives?|giving|yields?|implies|it follows|follows that|we get|we have|we find|we obtain|results? in"
    r"|resulting in|equals|is equal to|amounts? to|comes? to|adds? up to|leav(?:es|ing)|makes|simplif(?:y|ies)"
    r"|reduces? to|we conclude|we see that|because|since|also ist|daher|donc|por lo tanto|entonces)\b"
    r"|∴|⇒|\\implies|\\therefore|\\rightarrow|因此|所以|得|故"
)
"""Of a text in small letters: without regard to case it would take three times as long."""
_ORDINAL = r"(?:first|next|now|then|finally|second|third|so|okay|ok|alright|well|to begin|to start)(?:ly)?,?\s+"
_WE = r"(?:we|i|you|let's|let us|let me)\s+(?:(?:will|can|should|must|also|first|now|then|just)\s+){0,3}"
_PLAN = re.compile(
    rf"^(?:{_ORDINAL}(?:of all,?\s+)?){{0,3}}"
    rf"(?:{_WE}(?:(?:need|have|want|are going|try|like)\s+to|need|want|start|begin|look|consider|denote|think|see"
    r"|work|set|recall|check|verify|use|break|figure|assume)"
    rf"|(?:{_WE})?(?:calculate|find|determine|compute|solve|identify|analy[sz]e|express|define|consider))\b",
    re.IGNORECASE,
)
_GOAL = re.compile(r"^to\s+(?:solve|find|determine|calculate|compute|answer|figure)\b[^=]*$", re.IGNORECASE)
_GIVEN = re.compile(
    r"^(?:let|suppose|assume|given|denote|define|problem|question|recall|we (?:know|are given|are told))\b",
    re.IGNORECASE,
)
_EQUATION = re.compile(r"[=≈≡<>≤≥\\](?:(?<=[=≈≡])|(?<=[<>≤≥])\s*\S|(?<=\\)(?:approx|equiv|(?:leq?|geq?)\b))")
"""It begins with its signs and looks back at them, since Python skips to signs but tries alternatives everywhere."""
_OPERATION = re.compile(r"[-+*/×÷·^−x\\](?:(?<!\\)|(?<=\\)(?:times|cdot|div))(?=\s*[$€£]?[\w({\[\\])")
"""A sign of calculation with what may be an operand behind it."""
_CALCULATED = re.compile(
    r"(?:\d|\))\s?(?:[-+*/×÷·−]|\\times|\\cdot|\\div|x)\s?[$€£(]{0,2}\d[\d,.]{0,20}"
    r"(?:[ ][a-z]{1,12}){0,2}\)?\s?=\s?[$€£]?\d",
    re.IGNORECASE,
)
_SHARED = GatedPattern(
    r"(?:%|\bpercent|\d/\d{1,4}|\b(?:half|third|quarter)s?)\s(?:of|off)\s[^.!?=\n]{0,20}\d[^.!?=\n]{0,20}?"
    r"(?:=|\b(?:is|are|equals|gives|makes|comes to))\s?\W{0,4}\d",
    ["%", "percent", "/", "half", "third", "quarter"],
    lead=1,
    reach=80,
    core=r"(?i:\sof)",
)
"""An operation on numbers, or a share of a number, and the number that it comes to."""
_ANSWER_LABEL = re.compile(r"\b(?:answer|antwort|réponse|respuesta|risposta|resposta)\b|答案", re.IGNORECASE)
_MAX_STATEMENT_CHARS = 240  # a longer sentence argues; it does not only state


class Numerals(Set[str]):
    """The numerals of some texts, which are looked for when somebody asks: most steps are told without them."""

    __slots__ = ("_found", "_unread")

    def __init__(self, text: str) -> None:
        self._found: set[str] = set()
        self._unread = [text]

    def add(self, text: str) -> None:
        """Add those of another text."""
        self._unread.append(text)

    def _read(self) -> Set[str]:
        while self._unread:
            self._found |= numbers_in(self._unread.pop())
        return self._found

    def __contains__(self, numeral: object) -> bool:
        return numeral in self._read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def numbers_in(text: str) -> frozenset[str]:
    """Return the numerals of a text, without their thousands separators."""
    numbers = _NUMBER.findall(text)
    return frozenset([number.replace(",", "") for number in numbers] if "," in text else numbers)


def classify_step(blind: str, known: Set[str], *, guessed: bool = False) -> StepKind:
    """Say what a step does.

    ANSWER: holds the placeholder and nothing that could be judged beside it: no digit, no operation, no equation
    but `symbol = [answer]`, no reason. INFERENCE: an equation with a number or an operation, a conclusion word, or
    a number that neither the problem nor an earlier step has. SETUP: everything else, and plans and givens.

    Args:
        blind: The step's blind text.
        known: Numerals of the problem and of the earlier steps.
        guessed: True where the placeholder stands for a number that no marker or conclusion called the answer;
            only a bare number is a statement then.
    """
    if ANSWER_PLACEHOLDER in blind and _only_states(blind, guessed):
        return StepKind.ANSWER
    body = blind[_mark_end(blind) :]
    plain = body.replace("’", "'").lstrip(" *_")
    numbered = bool(_NUMBER.search(body)) or ANSWER_PLACEHOLDER in body
    equation = bool(_EQUATION.search(body))
    if (equation and _calculates(body) and not _GIVEN.match(plain)) or _is_computed(body):
        return StepKind.INFERENCE
    if _PLAN.match(plain) or _GIVEN.match(plain) or _GOAL.match(plain) or plain.rstrip(' *_"').endswith(("?", ":")):
        return StepKind.SETUP
    if (equation and numbered) or _CONCLUSION.search(body.casefold()) or ANSWER_PLACEHOLDER in body:
        return StepKind.INFERENCE
    heading = blind.startswith("#") and "\n" not in blind
    return StepKind.SETUP if heading or not numbered or numbers_in(body) <= known else StepKind.INFERENCE


def _calculates(text: str) -> bool:
    """Say whether a sign of calculation stands between what may be two operands."""
    for sign in _OPERATION.finditer(text):
        at = sign.start() - 1
        while at >= 0 and text[at].isspace():
            at -= 1
        if at >= 0 and (text[at].isalnum() or text[at] in "_)}]"):
            return True
    return False


def _is_computed(body: str) -> bool:
    return ("=" in body and _CALCULATED.search(body) is not None) or _SHARED.search(body) is not None


def _only_states(blind: str, guessed: bool) -> bool:
    """Say whether a step states the answer and nothing else."""
    rest = blind.replace(ANSWER_PLACEHOLDER, " ")
    words = _DECORATION.sub(" ", rest[_mark_end(rest) :]).strip(" .,:;!?。：-=\n")
    if not words or _ANSWER_LABEL.fullmatch(words):
        return True
    if guessed or len(rest) > _MAX_STATEMENT_CHARS or _NUMBER.search(words) or _REASON.search(words):
        return False
    sides = rest.split("=")
    if len(sides) > 2 or _calculates(rest):
        return False
    left = re.search(r"(?:^|[\s$(])([^\s$]*)\s*$", sides[0])
    operators = (
        left is None or re.search(r"[-+*/×÷]", left[1]) or re.search(r"[-+*/×÷·]\s*$", sides[0][: left.start(1)])
    )
    return len(sides) == 1 or not operators


def _mark_end(text: str) -> int:
    mark = STEP_MARK.match(text)
    return mark.end() if mark else 0
