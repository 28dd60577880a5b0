"""What numbers or names a line at its beginning, and is no part of its mathematics: `1)`, `(a)`, `[1]`, `Step 2 -`."""

from collections.abc import Sequence

from rafs.claims.right_sides import is_decoration, is_steered
from rafs.grammar.counted import FUNCTIONS
from rafs.grammar.phrases import PHRASE_WORDS
from rafs.grammar.tokens import Kind, Token

_NUMBERED = frozenset("step part case question problem exercise example item fact note line option".split())
_REMARKS = frozenset([Kind.WORD, Kind.JUNK, Kind.COMMA, Kind.BREAK, Kind.NUMBER, Kind.CLOCK])
MAX_REMARK = 40
"""Tokens of a remark in brackets at the beginning of a line."""
MAX_NUMERAL = 4
"""Letters of a label: `iv)`."""


def _label_width(tokens: Sequence[Token], start: int, end: int) -> int:
    """Return how many tokens of a line's label stand at `start`, with a left side up to `end` behind it; 0 for none."""
    first, second = tokens[start], tokens[start + 1]
    width = _rest_of_remark(tokens, start, end)
    if width:
        pass
    elif first.kind is Kind.CLOSE:
        width = 1  # of a remark that began before the sentence ended
    elif first.kind is Kind.OPEN:
        width = _bracketed(tokens, start, end)
    elif second.kind is Kind.CLOSE and second.text == ")":
        numeral = first.kind is Kind.WORD and len(first.text) <= MAX_NUMERAL and first.text not in FUNCTIONS
        width = 2 if first.kind is Kind.NUMBER or numeral else 0
    elif first.kind is Kind.WORD and first.text.lower() in _NUMBERED and second.kind is Kind.NUMBER:
        width = _after_number(tokens, start + 2, end)
    elif first.text == "%" and (not start or tokens[start - 1].text == "\n"):
        width = 1  # a comment of LaTeX
    elif first.text == "^" and second.kind is Kind.NUMBER:
        width = 2  # a footnote
    elif first.text == "*":
        width = 3 if not second.spaced and [one.text for one in tokens[start + 2 : end][:1]] == ["*"] else 0  # `*so*`
    elif first.text == "|":
        width = _cell(tokens, start, end)
    behind = start + width
    if not width or behind >= end or not tokens[behind].spaced or tokens[behind].kind is Kind.OPERATOR:
        return 2 if width and first.kind is Kind.NUMBER else 0
    return width


def _rest_of_remark(tokens: Sequence[Token], start: int, end: int) -> int:
    """Return how much of a remark stands at `start`, behind the colon that parts it: the `yes]` of `[checked: yes]`."""
    if not start or tokens[start - 1].text != ":":
        return 0
    close = next((one for one in tokens[start : min(end, start + MAX_REMARK)] if one.kind in _BRACKETS), None)
    if close is None or close.kind is Kind.OPEN:
        return 0
    before = range(start - 1, max(-1, start - MAX_REMARK), -1)
    opener = next((at for at in before if tokens[at].kind in _BRACKETS), None)
    if opener is None or tokens[opener].kind is Kind.CLOSE or _is_applied(tokens, opener):
        return 0
    return max(0, opener + _bracketed(tokens, opener, end) - start)


def _is_applied(tokens: Sequence[Token], opener: int) -> bool:
    """Say whether what stands before a bracket goes together with it: `f(x: 3)`, `5 [a: b]`."""
    before = tokens[opener - 1] if opener else None
    if before is None:
        return False
    return before.kind in (Kind.NUMBER, Kind.OPERATOR) or (before.kind is Kind.WORD and not tokens[opener].spaced)


_BRACKETS = frozenset([Kind.OPEN, Kind.CLOSE])


def _bracketed(tokens: Sequence[Token], start: int, end: int) -> int:
    """Return the width of a bracket that is a label or a remark, not a factor of what follows."""
    close = next((at for at in range(start + 1, min(end - 1, start + MAX_REMARK)) if _closes(tokens[at])), start)
    inside, opener = tokens[start + 1 : close], tokens[start].text
    if tokens[start + 1].kind is Kind.CLOSE and opener == "[":
        return 2  # a box that is not ticked
    if not inside or close + 1 >= end:
        return 0
    behind = tokens[close + 1]
    if len(inside) == 1 and inside[0].kind is Kind.NUMBER:
        is_factor = behind.kind is Kind.OPEN and opener == "(" and inside[0].value != 1
        is_counted = behind.kind is Kind.WORD and (behind.text.lower() in PHRASE_WORDS or is_steered(tokens, close + 1))
        return 0 if is_factor or is_counted else close + 1 - start
    if inside[0].text == "^" and len(inside) == 2 and opener == "[":
        return close + 1 - start
    if any(token.kind not in _REMARKS and token.text not in "/-:" for token in inside):
        return 0
    words = [token.text.lower() for token in inside if token.kind is Kind.WORD]
    is_parted = any(token.kind is Kind.BREAK for token in inside)
    is_plain = is_parted or not any(word in FUNCTIONS or word in PHRASE_WORDS for word in words)
    is_remark = opener == "[" or inside[0].kind is Kind.CLOCK or (words and inside[0].kind is not Kind.NUMBER)
    return close + 1 - start if is_plain and is_remark else 0


def _closes(token: Token) -> bool:
    return token.kind is Kind.CLOSE


def _after_number(tokens: Sequence[Token], at: int, end: int) -> int:
    """Return the width of `Step 1` with the bracket or the dash behind it; without one it may be a number of all."""
    behind = tokens[at] if at < end else None
    is_dash = behind is not None and behind.text == "-" and behind.spaced and at + 1 < end and tokens[at + 1].spaced
    is_close = behind is not None and behind.kind is Kind.CLOSE
    return 3 if is_dash or is_close else 0


def _cell(tokens: Sequence[Token], start: int, end: int) -> int:
    """Return the width of the first cell of a table's row, a number or a word that no calculation goes on from."""
    if start + 3 >= end or tokens[start + 2].text != "|" or tokens[start + 1].kind not in (Kind.NUMBER, Kind.WORD):
        return 0
    return 3 if tokens[start + 1].spaced and tokens[start + 2].spaced else 0


def _is_mark(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Say whether an unread sign only marks what follows: a quotation mark, a tick, the bar of a table."""
    token = tokens[index]
    if token.kind is not Kind.JUNK or token.text == "digits":
        return False
    return (
        is_decoration(token)
        or token.text in _LINE_MARKS
        or (token.text == "|" and tokens[index + 1].spaced and not _is_closed_bar(tokens, end))
    )


_LINE_MARKS = frozenset([*"∴∵§¶†‡「」『』", "..."])
"""Signs at the beginning of a line; between two numbers they may be an operation."""


def _is_closed_bar(tokens: Sequence[Token], end: int) -> bool:
    """Say whether a bar stands before a relation and none behind it, so that it ends an absolute value."""
    behind = [token.text for token in tokens[end : end + MAX_CELL]]
    rest = behind[: behind.index("\n")] if "\n" in behind else behind
    return tokens[end - 1].text == "|" and "|" not in rest


MAX_CELL = 20
"""Tokens in which the next bar of a table's row is looked for."""


def past_numbering(tokens: Sequence[Token], start: int, end: int) -> int:
    """Step over quotation marks, ticks, remarks and the number of an item at the beginning of a line: `1)`, `(2)`."""
    while start + 1 < end:
        is_head = not start or tokens[start - 1].kind in (Kind.BREAK, Kind.JUNK, Kind.CLOSE)
        width = (_label_width(tokens, start, end) if is_head else 0) or int(_is_mark(tokens, start, end))
        if not width:
            break
        start += width
    return start
