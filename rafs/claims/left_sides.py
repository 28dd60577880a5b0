"""Finds the expression that ends before a relation, among the words of the sentence."""

from collections.abc import Sequence

from rafs.claims.line_labels import past_numbering
from rafs.claims.right_sides import is_decoration
from rafs.grammar.counted import FUNCTIONS, NOT_UNITS
from rafs.grammar.functions import BARE
from rafs.grammar.parsing import Parsed, parse_at
from rafs.grammar.phrases import PHRASE_WORDS
from rafs.grammar.terms import Binary, Expression, Number
from rafs.grammar.tokens import BREAK, CLOSE, COMMA, JUNK, NUMBER, OPEN, OPERATOR, RELATION, WORD, Kind, Token
from rafs.immutable import placed

MAX_SEGMENT = 160
"""Tokens read back from a relation; longer left sides are not arithmetic that anybody wrote by hand."""
MAX_STARTS = 10
"""Places at which a left side is tried to begin, counted from the relation backwards."""
MAX_NAMED = 40
"""Tokens of a named operation and its list."""
_SEPARATORS = NOT_UNITS - {"than", "minus", "plus", "to", "into", "of", "or", "mod", "remainder"}
"""Words after which a new left side may begin though another number stands before them."""
_PARTING = _SEPARATORS - {"and", "or"}
"""Those of them that join no two parts of one left side."""
_ENDS = frozenset([BREAK, RELATION, Kind.PLACEHOLDER])
"""Tokens over which no value in words reaches."""
_NO_LABELS = frozenset(
    "so then thus hence therefore since because that but now as number numbers integer value values clearly".split()
)
"""Words before a number that do not make it the number of something, as `step 3` is."""
_VERBS = frozenset("is are was were equals gives makes yields".split())
"""Words over which no left side reaches, but in `the remainder when 17 is divided by 5`."""
_JOINED = frozenset("sum difference product average mean ratio between median quotient".split())


@placed
class LeftSide:
    """An expression before a relation."""

    parsed: Parsed
    doubts: frozenset[str]
    """Why a contradiction found with it would not be certain."""


def find_left(
    tokens: Sequence[Token],
    end: int,
    names: frozenset[str],
    *,
    across_breaks: bool = True,
    segment: int | None = None,
) -> LeftSide | None:
    """Return the longest expression that ends right before token `end`.

    Args:
        tokens: Tokens of a text.
        end: Index of the relation, or of the words that lead to it.
        names: Words of several letters that are variables here.
        across_breaks: Whether a line end may stand between the expression and the relation.
        segment: What `segment_start` says of `end`, where no break stands before it; None where nobody has asked.
    """
    while across_breaks and end > 0 and tokens[end - 1].kind is BREAK and tokens[end - 1].text in ("", "\n"):
        end -= 1
    if (named := _named_left(tokens, end, names)) is not None:
        return named
    start = past_numbering(tokens, segment_start(tokens, end) if segment is None else segment, end)
    last_bracket = end - 1
    while last_bracket >= start and tokens[last_bracket].kind is not OPEN:
        last_bracket -= 1
    for index in _starts(tokens, start, end):
        for spaced_product in (False, True) if index <= last_bracket else (False,):
            parsed = parse_at(tokens, index, names, spaced_product=spaced_product)
            if parsed is not None and parsed.end == end:
                doubts = parsed.doubts | _doubts_before(tokens, start, index)
                extra = {"spaced product"} if spaced_product else set()
                if tokens[index].kind is OPERATOR and (tokens[index].text == "+" or _goes_on(tokens, index)):
                    extra.add("line before")
                if _is_torn(tokens, index):
                    extra.add("sign before")
                if index - start > 1 and _is_mixed(tokens, index, parsed.expression):
                    extra.add("mixed number")
                if index > start and _is_labelled(tokens[index - 1], parsed.expression):
                    extra.add("label")
                return LeftSide(parsed, doubts | extra)
    return None


def _is_torn(tokens: Sequence[Token], index: int) -> bool:
    """Say whether a sign was lost before an expression: a dash that may be a minus, or an entity as `&times;`."""
    if index < 2 or tokens[index - 1].kind is not BREAK:
        return False
    sign, before = tokens[index - 1].text, tokens[index - 2]
    return (sign in ("—", "--") and before.kind is NUMBER) or (sign == ";" and before.text in _ENTITIES)


def _is_mixed(tokens: Sequence[Token], index: int, expression: Expression) -> bool:
    """Say whether a whole number and `and` stand before a proper fraction: `2 and 1/2 + 3`."""
    whole = tokens[index - 2]
    if tokens[index - 1].text != "and" or whole.kind is not Kind.NUMBER or whole.value.denominator > 1:
        return False
    while isinstance(expression, Binary) and not isinstance(expression.left, Number):
        expression = expression.left
    if not isinstance(expression, Binary) or expression.op != "/" or not isinstance(expression.right, Number):
        return False
    return isinstance(expression.left, Number) and expression.left.value < expression.right.value


_ENTITIES = frozenset("times divide minus plus sdot middot frasl lowast nbsp".split())


def _goes_on(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the line before a sign ends in an operand, so that the expression may begin there."""
    return index > 1 and tokens[index - 1].text == "\n" and tokens[index - 2].kind in (NUMBER, CLOSE)


def _is_labelled(before: Token, expression: Expression) -> bool:
    return isinstance(expression, Number) and before.text.lower() not in _NO_LABELS


def _named_left(tokens: Sequence[Token], end: int, names: frozenset[str]) -> LeftSide | None:
    """Return the longest value in words that ends at `end`, as `half of the sum of 4, 6 and 8`, over its commas."""
    first = last_comma = end
    for index in range(end - 1, max(0, end - MAX_NAMED) - 1, -1):
        kind = tokens[index].kind
        if kind in _ENDS:
            break
        first = index
        if kind is COMMA and last_comma == end:
            last_comma = index
    if last_comma == end:
        return None
    words = [index for index in range(first, end) if tokens[index].text.lower() in PHRASE_WORDS]
    if not words or words[0] > last_comma:
        return None
    for index in _starts(tokens, first, end):
        if index <= words[-1]:
            parsed = parse_at(tokens, index, names, spaced_product=False)
            if parsed is not None and parsed.end == end:
                return LeftSide(parsed, parsed.doubts)
    return None


_JUNK_STARTS = frozenset(["_", "|", "‖", "subfactorial", "\\lvert", "\\vert", "\\lVert", "\\Vert", "\\|"])
"""Signs that begin an expression, if their other half follows."""
_WRITTEN_OPENERS, _WRITTEN_CLOSERS = ("{",), ("}",)
r"""What LaTeX writes around `k=1` under a sum and `x \to 0` under a limit: a sign there ends nothing."""


def segment_start(tokens: Sequence[Token], end: int) -> int:
    """Go back from `end` to the nearest break, relation, verb or comma outside brackets."""
    depth = braces = 0
    for index in range(end - 1, max(0, end - MAX_SEGMENT) - 1, -1):
        token = tokens[index]
        kind = token.kind
        if kind is WORD:
            if depth == 0 and token.text in _VERBS and _is_verb(tokens, index):
                return index + 1
        elif kind is CLOSE:
            depth += 1
            braces += token.text in _WRITTEN_CLOSERS
        elif kind is OPEN:
            if depth == 0:
                return index + 1
            depth -= 1
            braces -= token.text in _WRITTEN_OPENERS
        elif kind is BREAK or kind is RELATION:
            if braces <= 0:
                return index + 1
        elif kind is Kind.PLACEHOLDER or (kind is COMMA and depth == 0):
            return index + 1
    return max(0, end - MAX_SEGMENT)


def _is_verb(tokens: Sequence[Token], index: int) -> bool:
    following = tokens[index + 1].text if index + 1 < len(tokens) else ""
    return following not in ("divided", "/")


def _starts(tokens: Sequence[Token], start: int, end: int) -> list[int]:
    """Return the places where an expression may begin: at the start, or after a word that is none of its own."""
    places: list[int] = []
    for index in range(end - 1, start, -1):
        token = tokens[index]
        if not token.spaced or not _may_begin(token):
            continue
        before = tokens[index - 1]
        raised = token.text == "^" and before.kind is WORD and len(before.text) > 1  # `^6C_2`
        if (raised or token.kind is not OPERATOR) and _may_end_before(tokens, start, index):
            places.append(index)
            if len(places) == MAX_STARTS:
                break
    else:
        if start < end and _may_begin(tokens[start]):
            places.append(start)
    places.reverse()
    return places


def _may_begin(token: Token) -> bool:
    """Say whether an expression may begin with a token."""
    kind = token.kind
    if kind is JUNK:
        return token.text in _JUNK_STARTS
    if kind is OPERATOR:
        return token.text in _SIGNS
    return kind is not CLOSE and kind is not COMMA


_SIGNS = frozenset("-+^")
"""Signs before an operand."""


def _may_end_before(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Say whether the token before `index` is a word or a tag of the sentence, no part of an expression."""
    kind = tokens[index - 1].kind
    if kind is WORD:
        return not _is_name(tokens, index - 1)
    if kind is CLOSE:
        return _is_tag(tokens, start, index - 1)
    return kind is JUNK and is_decoration(tokens[index - 1])


def _is_tag(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Say whether a group that ends there is a remark, a label or a mark of a template: `(hint)`, `[/INST]`, `{0}`."""
    opener = end
    while opener > max(start, end - MAX_TAG) and tokens[opener].kind is not OPEN:
        opener -= 1
    inside = [token for token in tokens[opener + 1 : end] if token.text != "/"]
    if tokens[opener].kind is not OPEN or not inside or not (opener == start or tokens[opener].spaced):
        return False
    if len(inside) == 1 and inside[0].kind is NUMBER:
        return tokens[end].text == "}" and (opener == 0 or tokens[opener - 1].text == "}")
    return all(token.kind is WORD and len(token.text) > 1 and token.text not in FUNCTIONS for token in inside)


MAX_TAG = 6
"""Tokens of a tag."""


def _is_name(tokens: Sequence[Token], index: int) -> bool:
    """Say whether the word there belongs to mathematics, so that a left side cannot begin behind it."""
    text = tokens[index].text
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if text == "a" and following is not None and (following.kind is Kind.FUNCTION or following.text in FUNCTIONS):
        return True
    applied = text in BARE or (following is not None and following.kind is OPEN and not following.spaced)
    return (text in FUNCTIONS and applied) or text in ("pi", "mod", "rem") or (len(text) == 1 and text not in "aAI°")


def _doubts_before(tokens: Sequence[Token], start: int, index: int) -> frozenset[str]:
    """Say why the words before a left side may belong to it."""
    if index == start:
        return frozenset()
    words = tokens[start:index]
    texts = [token.text.lower() for token in words if token.kind is WORD]
    doubts: set[str] = set()
    ends = [position for position, text in enumerate(texts) if text in _PARTING]
    if _JOINED & set(texts[ends[-1] if ends else 0 :]) and texts[-1] not in _JOINED:
        doubts.add("joined")
    for position in range(index - 1, start - 1, -1):
        token = tokens[position]
        if token.kind is WORD and token.text.lower() in _SEPARATORS:
            break
        if token.kind is CLOSE and _is_tag(tokens, start, position):
            break
        if token.kind is not WORD and not (token.kind is JUNK and is_decoration(token)):
            doubts.add("unread")
            break
    return frozenset(doubts)
