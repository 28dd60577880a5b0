"""Tells mathematics from the words around it: the unit of a number, a remark in brackets, a name, a function."""

from dataclasses import replace
from itertools import pairwise

from rafs.grammar.brackets import opens
from rafs.grammar.calculus import BINDERS
from rafs.grammar.commands import ROOTS
from rafs.grammar.cursor import Cursor
from rafs.grammar.functions import FUNCTION_NAMES, starts_call
from rafs.grammar.phrases import ends_operand, past_article, starts_phrase
from rafs.grammar.terms import Expression, Number
from rafs.grammar.tokens import BREAK, CLOSE, FUNCTION, NUMBER, OPEN, OPERATOR, PLACEHOLDER, RELATION, WORD, Kind, Token
from rafs.grammar.units import is_known_unit

MAX_UNIT_WORDS = 6
"""Words that may stand after a number as its unit: `8 slices of the large pizza`."""
FUNCTIONS = frozenset(FUNCTION_NAMES) - {"average", "avg", "trace", "arg", "P", "permutations", "combinations"}
"""Words that are read as functions and never as units."""
GREEK = frozenset("alpha beta gamma delta theta lambda mu phi omega pi".split())
_PREFIXES = frozenset(["∅", "∞", "‾", "subfactorial", "^", *ROOTS, *BINDERS])
"""Signs that begin an operand, besides brackets, numbers and names."""
NOT_UNITS = frozenset(
    "and or so then because since if is are was were be equals equal gives give makes make get gets which that but "
    "plus minus times than when where while thus therefore hence to into leaves leaving means yields remainder mod "
    "r let has have had he she they it we i".split()
)
"""Words that end an operand: a unit never reads across them."""
MAX_REMARK = 12
"""Tokens of a remark in brackets that is stepped over."""
KNOWN_UNITS = frozenset("km kg cm mm m g l L ml mg lb lbs oz ft in hr hrs h min mins s sec secs mph mi yd pt".split())


def is_variable(cursor: Cursor, token: Token, following: Token | None) -> bool:
    """Say whether a word is a name in the expression rather than a word of the sentence."""
    if token.text in cursor.names or token.text in GREEK:
        return True
    if len(token.text) > 1 and "_" not in token.text and not is_numbered(token.text):
        return False
    before_word = following is not None and following.kind is WORD and following.spaced
    return not (token.text in "aAI" and before_word)


def is_numbered(text: str) -> bool:
    """Say whether a word is a letter with a digit: `x1`."""
    return len(text) == 2 and text[0].isalpha() and text[1].isdigit()


_STARTING = frozenset([NUMBER, OPEN, Kind.CLOCK])


def starts_operand(cursor: Cursor, ahead: int) -> bool:
    """Say whether the token that many places ahead can begin an operand."""
    token, following = cursor.peek(ahead), cursor.peek(ahead + 1)
    if token is None:
        return False
    kind = token.kind
    if kind in _STARTING:
        return True
    if kind is FUNCTION:
        return token.text != "pmod"
    if kind is OPERATOR:
        touches = following is not None and not following.spaced and following.kind is not OPERATOR
        return token.text in "+-" and (touches or not token.spaced)
    if kind is WORD:
        named = is_variable(cursor, token, following)
        return named or starts_call(cursor, ahead) or starts_phrase(cursor, ahead)
    return _starts_sign(cursor, ahead)


def _starts_sign(cursor: Cursor, ahead: int) -> bool:
    """Say whether a sign that is no token of its own kind begins an operand: `⌊`, `∑`, `∅`."""
    return opens(cursor, ahead) or starts_call(cursor, ahead) or cursor.symbol(ahead) in _PREFIXES


def is_known_letter(cursor: Cursor, token: Token) -> bool:
    """Say whether a word is a name of one letter that the trace has given a value."""
    return token.text == "pi" or (len(token.text) == 1 and token.text in cursor.names)


def skip_remark(cursor: Cursor) -> bool:
    """Step over a bracket that begins with a word: `8 pounds (math and science)`, `14 holes (from 2-hole buttons)`."""
    if not cursor.at(OPEN, "("):
        return False
    first = cursor.peek(1)
    if first is None or first.kind is not WORD:
        return False
    opener = cursor.tokens[cursor.position]
    if not opener.spaced and not (first.spaced and first.start == opener.end):  # Han words need no blanks: `8（人）`
        return False
    if first.text == "mod" or first.text in cursor.names or first.text in FUNCTIONS:
        return False
    if first.text in GREEK or (len(first.text) == 1 and first.text != "a") or "_" in first.text:
        return False
    for ahead in range(2, MAX_REMARK):
        token = cursor.peek(ahead)
        if token is None or token.kind in (RELATION, BREAK, OPEN, FUNCTION, PLACEHOLDER):
            return False
        if token.kind is OPERATOR and token.text not in "-/":
            return False
        if token.kind is CLOSE:
            cursor.position += ahead + 1
            return True
    return False


def with_unit(cursor: Cursor, operand: Expression) -> Expression:
    """Step over the words that say what is counted, and keep the first as the number's unit."""
    last = cursor.tokens[cursor.position - 1]
    if last.kind not in (NUMBER, CLOSE):
        return operand
    words: list[str] = []
    start = cursor.position, cursor.unit_end
    for _ in range(MAX_UNIT_WORDS):
        token = cursor.peek()
        if token is not None and token.kind is OPERATOR and token.text in "/-" and _unit_follows(cursor):
            words += ["per"] if token.text == "/" else []
            cursor.position += 1
        elif token is None or token.kind is not WORD or not _is_unit(cursor, token):
            break
        token = cursor.tokens[cursor.position]
        if not words and token.text.lower() == "of":
            cursor.doubts.add("a share of something unsaid")
        words.append(token.text)
        cursor.position += 1
        if token.text == "°" and cursor.at(WORD, "C", "F"):
            words[-1] += cursor.take().text
        if (
            len(token.text) == 1
            and token.text != "°"
            and not _has_known_unit(cursor)
            and not _only_counts(cursor, token)
        ):
            cursor.doubts.add("letter")
        words += _unit_power(cursor)
        skip_remark(cursor)
        cursor.unit_end = cursor.position
    if all(word == "per" for word in words):  # of nothing, as in `5 per.`
        cursor.position, cursor.unit_end = start
        return operand
    if not isinstance(operand, Number):
        return operand
    currency = operand.unit
    if currency and words[0] != "per" and is_known_unit(words[0]):
        currency = ""  # the dollar sign began a formula
    unit = currency or next(word.lower() for word in words if word != "per")
    return replace(operand, unit=unit, measure=" ".join([currency, *words] if currency else words))


LETTER_REACH = 60
"""Tokens around a letter in which its other uses tell whether it is a unit."""


def _only_counts(cursor: Cursor, letter: Token) -> bool:
    """Say whether a letter at the end of a clause stands behind numbers only, as the g of `3 + 4 = 8 g.` does."""
    following = cursor.peek()
    if following is not None and following.kind is not BREAK:
        return False
    around = cursor.tokens[max(0, cursor.position - LETTER_REACH) : cursor.position + LETTER_REACH]
    pairs = pairwise([None, *around])
    return all(
        before is not None and before.kind is NUMBER for before, token in pairs if token and token.text == letter.text
    )


def _has_known_unit(cursor: Cursor) -> bool:
    """Say whether a unit such as `km` stands near, so that a letter is one too: `180 km / 3 h`."""
    near = cursor.tokens[max(0, cursor.position - MAX_REMARK) : cursor.position + MAX_REMARK]
    return any(len(token.text) > 1 and token.text.lower() in KNOWN_UNITS and token.text != "in" for token in near)


def _unit_follows(cursor: Cursor) -> bool:
    """Say whether `/` or `-` joins a unit: `60/tire`, `5 hours/day`, `24-hour`."""
    sign, word = cursor.peek(), cursor.peek(1)
    if sign is None or word is None or word.kind is not WORD or is_known_letter(cursor, word):
        return False
    if starts_call(cursor, 1):
        return False
    known = len(word.text) > 2 or word.text in KNOWN_UNITS
    if sign.text == "-":
        return known and not sign.spaced and not word.spaced
    before = cursor.tokens[cursor.position - 1]
    if sign.spaced and word.spaced and before.kind is NUMBER and not before.currency:
        return is_known_unit(word.text)  # `8 / whole distance` is no rate
    return known and (len(word.text) > 1 or cursor.tokens[cursor.position - 1].kind is WORD)


def _is_unit(cursor: Cursor, token: Token) -> bool:
    if is_known_letter(cursor, token) or token.text.lower() in NOT_UNITS or token.text in cursor.closers:
        return False
    if len(token.text) == 1 and not token.spaced and token.text != "°":
        return False
    if token.text.lower() == "of":
        return not starts_operand(cursor, past_article(cursor, 1))
    if ends_operand(cursor) or (cursor.symbol(1) == "^" and not is_known_unit(token.text)):
        return False
    if len(token.text) == 1:
        known = token.text in KNOWN_UNITS or (is_known_unit(token.text) and _has_known_unit(cursor))
        return token.text == "°" or (token.spaced and known)
    if token.text == "min":
        return cursor.symbol(1) != "("
    if token.text in FUNCTIONS or token.text in GREEK or "_" in token.text:
        return False
    return token.spaced or token.text in KNOWN_UNITS or (len(token.text) > 3 and token.text.islower())


def _unit_power(cursor: Cursor) -> list[str]:
    power = cursor.peek(1)
    if not cursor.at(OPERATOR, "^") or power is None or power.kind is not NUMBER:
        return []
    cursor.position += 2
    return [f"^{power.value}"]
