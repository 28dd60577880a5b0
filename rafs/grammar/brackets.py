r"""Reads what stands in brackets: groups, sets, tuples, intervals, matrices, `|x|`, `⌊x⌋`."""

from rafs.grammar.cursor import NOTHING, Cursor, Unreadable, deepen
from rafs.grammar.terms import Binary, Call, Expression, Variable
from rafs.grammar.tokens import DIGIT_COMMA, Kind
from rafs.types import Span

SET_SIGNS = frozenset(["∪", "∩", "∖", "△", "∈", "∉", "⊂", "⊆", "⊇", "⊃", "⊄", "⊈"])
"""Signs beside which braces hold a set, even of one member."""
BAR_REACH = 40
"""Tokens in which the second bar of `|x|` is looked for."""
MAX_ITEMS = 60
"""Items of one list, cells of one matrix."""
_ROUNDED = {"⌊": ("floor", "⌋"), "⌈": ("ceil", "⌉")}
_BARS = {"|": "abs", "‖": "norm"}
_CLOSERS = {"(": ")]", "[": "])", "{": "}", "⟨": "⟩"}
OPENERS = frozenset("([{⌊⌈⟨|‖")


def opens(cursor: Cursor, ahead: int = 0) -> bool:
    """Say whether the sign that many places ahead begins a bracket of any kind."""
    symbol = cursor.symbol(ahead)
    if symbol in _BARS:
        return not (ahead == 0 and cursor.closes()) and _bar_closes(cursor, ahead)
    return symbol in OPENERS or symbol.startswith("begin ")


def _bar_closes(cursor: Cursor, ahead: int) -> bool:
    """Say whether a second bar follows, with something between, before the relation or the sentence ends."""
    bar = cursor.symbol(ahead)
    for distance in range(ahead + 1, ahead + BAR_REACH):
        token = cursor.peek(distance)
        if token is None or token.kind in (Kind.RELATION, Kind.PLACEHOLDER):
            return False
        if cursor.symbol(distance) == bar:
            return distance > ahead + 1
        if token.kind is Kind.BREAK:
            return False
    return False


def read_bracket(cursor: Cursor) -> Expression:
    """Read a bracket and all that stands in it."""
    symbol = cursor.symbol()
    deepen(cursor)
    if symbol.startswith("begin "):
        inner = _matrix(cursor)
    elif symbol in _ROUNDED or symbol in _BARS:
        cursor.take()
        name, closer = _ROUNDED.get(symbol) or (_BARS[symbol], symbol)
        inner = Call(name=name, args=(_enclosed(cursor, closer),))
    else:
        inner = _listed(cursor, symbol)
    cursor.depth -= 1
    return inner


def _enclosed(cursor: Cursor, closer: str) -> Expression:
    cursor.closers.append(closer)
    inner = cursor.sum()
    cursor.closers.pop()
    cursor.expect(closer)
    return inner


def _listed(cursor: Cursor, opener: str) -> Expression:
    start = cursor.position
    opening = cursor.take()
    braces = opener == "{"
    escaped = opening.text != "{"
    cursor.closers.append(NOTHING)
    items: list[Expression] = []
    if not (braces and cursor.symbol() == "}"):
        items.append(_item(cursor, braces=braces))
    is_quotient = braces and bool(items) and cursor.symbol() == "\\over"
    if is_quotient:
        cursor.take()
        items = [Binary(op="/", left=items[0], right=cursor.sum())]
    while cursor.symbol() == "," and len(items) < MAX_ITEMS:
        cursor.take()
        items.append(_item(cursor, braces=braces))
    cursor.closers.pop()
    closer = cursor.symbol()
    if not closer or closer not in _CLOSERS[opener] or (len(items) == 1 and closer != _CLOSERS[opener][0]):
        raise Unreadable
    cursor.take()
    if len(items) == 2 and opener == "(" and _may_be_decimal(cursor, start):
        raise Unreadable
    if not items:
        return Variable(name="∅", span=Span(start=opening.start, end=cursor.tokens[cursor.position - 1].end))
    if len(items) > 1 or opener == "⟨" or (opener == "[" and _is_row(cursor, start)):
        return _collection(opener, closer, items)
    is_set = braces and not is_quotient and _is_set(cursor, start, escaped=escaped)
    return Call(name="set", args=(items[0],)) if is_set else items[0]


def _is_row(cursor: Cursor, start: int) -> bool:
    """Say whether brackets around one expression are a row of a column: `[[3], [4]]`."""
    return start > 0 and cursor.tokens[start - 1].text in ("[", ",", DIGIT_COMMA) and cursor.symbol() in (",", "]")


def _may_be_decimal(cursor: Cursor, start: int) -> bool:
    """Say whether `(2,50)`, now behind the cursor, is as well one number in brackets: beside a number it may be."""
    if cursor.tokens[start + 2].text != DIGIT_COMMA:
        return False
    behind, before = cursor.peek(), cursor.tokens[start - 1] if start else None
    if before is not None and before.kind is Kind.OPERATOR and cursor.tokens[max(0, start - 2)].kind is Kind.CLOSE:
        return False
    if behind is not None and behind.kind is Kind.RELATION:
        return cursor.symbol(1) not in _CLOSERS
    return (
        before is not None and before.kind is Kind.RELATION and cursor.tokens[max(0, start - 2)].kind is not Kind.CLOSE
    )


def _collection(opener: str, closer: str, items: list[Expression]) -> Expression:
    if opener == "{":
        return Call(name="set", args=tuple(items))
    if opener + closer in ("(]", "[)"):
        if len(items) != 2:
            raise Unreadable
        return Call(name=f"interval {opener}{closer}", args=tuple(items))
    return Call(name="list" if opener == "[" else "tuple", args=tuple(items))


def _item(cursor: Cursor, *, braces: bool) -> Expression:
    """Read a member; in braces a plain word is one too: `{red, blue}`."""
    token = cursor.peek()
    if braces and token is not None and token.kind is Kind.WORD and cursor.symbol(1) in (",", "}"):
        return cursor.name()
    return cursor.sum()


def _is_set(cursor: Cursor, start: int, *, escaped: bool) -> bool:
    r"""Say whether braces around one expression, now behind the cursor, hold a set rather than group in LaTeX."""
    before = cursor.tokens[max(0, start - 2) : start]
    texts = [cursor.symbol(start - len(before) + index - cursor.position) for index in range(len(before))]
    if (
        escaped
        or cursor.symbol() in SET_SIGNS
        or (texts and (texts[-1] in SET_SIGNS | {","} or (texts[-1] == "{" and cursor.symbol() == ",")))
        or texts in (["}", "*"], ["}", "-"])
    ):
        return True
    return len(before) == 2 and before[1].kind is Kind.RELATION and (texts[0] in ("}", "∅"))


def _matrix(cursor: Cursor) -> Expression:
    r"""Read `\begin{pmatrix} a & b \\ c & d \end{pmatrix}`; vertical bars around it mean its determinant."""
    name = cursor.take().text.removeprefix("begin ")
    rows: list[list[Expression]] = [[]]
    cursor.closers.append(NOTHING)
    while cursor.symbol() != f"end {name}":
        if cursor.symbol() == "&":
            cursor.take()
        elif cursor.symbol() == "\\\\":
            cursor.take()
            rows.append([])
            continue
        rows[-1].append(cursor.sum())
        if sum(map(len, rows)) > MAX_ITEMS:
            raise Unreadable
    cursor.closers.pop()
    cursor.take()
    rows = [row for row in rows if row]
    if not rows or len({len(row) for row in rows}) != 1:
        raise Unreadable
    matrix = Call(name="matrix", args=tuple(Call(name="list", args=tuple(row)) for row in rows))
    return Call(name="det", args=(matrix,)) if name == "vmatrix" else matrix
