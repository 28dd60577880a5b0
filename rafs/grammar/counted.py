"""Tells mathematics from the words around it: the unit of a number, a remark in brackets, a name, a function."""

from dataclasses import replace

from rafs.grammar.cursor import Cursor
from rafs.grammar.terms import Expression, Number
from rafs.grammar.tokens import Kind, Token

MAX_UNIT_WORDS = 6
"""Words that may stand after a number as its unit: `8 slices of the large pizza`."""
FUNCTIONS = frozenset(
    "sqrt abs gcd lcm binom binomial choose floor ceil min max mean log ln sin cos tan C root factorial".split()
)
GREEK = frozenset("alpha beta gamma delta theta lambda mu phi omega pi".split())
FUNCTION_NAMES = {"binomial": "binom", "choose": "binom", "C": "binom", "GCD": "gcd", "LCM": "lcm", "gcf": "gcd"}
NOT_UNITS = frozenset(
    "and or so then because since if is are was were be equals equal gives give makes make get gets which that but "
    "plus minus times than when where while thus therefore hence to into leaves leaving means yields remainder mod "
    "r let has have had he she they it we i".split()
)
"""Words that end an operand: a unit never reads across them."""
MAX_REMARK = 12
"""Tokens of a remark in brackets that is stepped over."""
KNOWN_UNITS = frozenset("km kg cm mm m g l ml mg lb lbs oz ft in hr hrs h min mins s sec secs mph mi yd pt".split())


def is_variable(cursor: Cursor, token: Token, following: Token | None) -> bool:
    """Say whether a word is a name in the expression rather than a word of the sentence."""
    if token.text in cursor.names or token.text in GREEK:
        return True
    if len(token.text) > 1 and "_" not in token.text:
        return False
    before_word = following is not None and following.kind is Kind.WORD and following.spaced
    return not (token.text in "aAI" and before_word)


def starts_operand(cursor: Cursor, ahead: int) -> bool:
    """Say whether the token that many places ahead can begin an operand."""
    token, following = cursor.peek(ahead), cursor.peek(ahead + 1)
    if token is None:
        return False
    match token.kind:
        case Kind.NUMBER | Kind.OPEN:
            return True
        case Kind.FUNCTION:
            return token.text != "pmod"
        case Kind.OPERATOR:
            return token.text in "+-" and not token.spaced
        case Kind.WORD:
            named = FUNCTION_NAMES.get(token.text, token.text) in FUNCTIONS
            return is_variable(cursor, token, following) or (
                named and following is not None and following.kind is Kind.OPEN
            )
    return False


def is_known_letter(cursor: Cursor, token: Token) -> bool:
    """Say whether a word is a name of one letter that the trace has given a value."""
    return token.text == "pi" or (len(token.text) == 1 and token.text in cursor.names)


def skip_remark(cursor: Cursor) -> bool:
    """Step over a bracket that begins with a word: `8 pounds (math and science)`, `14 holes (from 2-hole buttons)`."""
    first = cursor.peek(1)
    if not cursor.at(Kind.OPEN, "(") or first is None or first.kind is not Kind.WORD:
        return False
    if not cursor.tokens[cursor.position].spaced:
        return False
    if first.text == "mod" or first.text in cursor.names or first.text in FUNCTIONS:
        return False
    if first.text in GREEK or (len(first.text) == 1 and first.text != "a") or "_" in first.text:
        return False
    for ahead in range(2, MAX_REMARK):
        token = cursor.peek(ahead)
        if token is None or token.kind in (Kind.RELATION, Kind.BREAK, Kind.OPEN, Kind.FUNCTION, Kind.PLACEHOLDER):
            return False
        if token.kind is Kind.OPERATOR and token.text not in "-/":
            return False
        if token.kind is Kind.CLOSE:
            cursor.position += ahead + 1
            return True
    return False


def with_unit(cursor: Cursor, operand: Expression) -> Expression:
    """Step over the words that say what is counted, and keep the first as the number's unit."""
    last = cursor.tokens[cursor.position - 1]
    if last.kind not in (Kind.NUMBER, Kind.CLOSE):
        return operand
    unit = ""
    for _ in range(MAX_UNIT_WORDS):
        token = cursor.peek()
        if token is not None and token.kind is Kind.OPERATOR and token.text in "/-" and _unit_follows(cursor):
            cursor.position += 1
        elif token is None or token.kind is not Kind.WORD or not _is_unit(cursor, token):
            break
        token = cursor.tokens[cursor.position]
        unit = unit or token.text.lower()
        cursor.position += 1
        if len(token.text) == 1 and token.text != "°" and not _has_known_unit(cursor):
            cursor.doubts.add("letter")
        _skip_unit_power(cursor)
        skip_remark(cursor)
        cursor.unit_end = cursor.position
    return replace(operand, unit=operand.unit or unit) if unit and isinstance(operand, Number) else operand


def _has_known_unit(cursor: Cursor) -> bool:
    """Say whether a unit such as `km` stands near, so that a letter is one too: `180 km / 3 h`."""
    near = cursor.tokens[max(0, cursor.position - MAX_REMARK) : cursor.position + MAX_REMARK]
    return any(token.text in KNOWN_UNITS and len(token.text) > 1 and token.text != "in" for token in near)


def _unit_follows(cursor: Cursor) -> bool:
    """Say whether `/` or `-` joins a unit: `60/tire`, `5 hours/day`, `24-hour`."""
    sign, word = cursor.peek(), cursor.peek(1)
    if sign is None or word is None or word.kind is not Kind.WORD or is_known_letter(cursor, word):
        return False
    known = len(word.text) > 2 or word.text in KNOWN_UNITS
    if sign.text == "-":
        return known and not sign.spaced and not word.spaced
    return known and (len(word.text) > 1 or cursor.tokens[cursor.position - 1].kind is Kind.WORD)


def _is_unit(cursor: Cursor, token: Token) -> bool:
    if is_known_letter(cursor, token) or token.text.lower() in NOT_UNITS:
        return False
    if token.text == "of":
        return not starts_operand(cursor, 1)
    if len(token.text) == 1:
        return token.text == "°" or (token.spaced and token.text in KNOWN_UNITS)
    if token.text in FUNCTIONS or token.text in GREEK or "_" in token.text:
        return False
    return token.spaced or token.text in KNOWN_UNITS or (len(token.text) > 3 and token.text.islower())


def _skip_unit_power(cursor: Cursor) -> None:
    power = cursor.peek(1)
    if cursor.at(Kind.OPERATOR, "^") and power is not None and power.kind is Kind.NUMBER:
        cursor.position += 2
