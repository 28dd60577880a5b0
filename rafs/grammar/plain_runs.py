"""Reads the commonest expressions at once: numbers with signs of one kind between them, `3 + 4 - 5`, `6 * 7`."""

from collections.abc import Sequence

from rafs.grammar.cursor import ENDING, number_of
from rafs.grammar.terms import Binary, Expression
from rafs.grammar.tokens import Kind, Token

MAX_SIGNS = 20
"""Signs of one run; a longer one is left to the parser, which has the caps."""
_KINDS = {"+": "+-", "-": "+-", "*": "*", "/": ""}
"""Which signs may go on behind each."""

Run = tuple[Expression, int, bool]
"""The expression, the index of the token after it, and whether it adds a percentage to another number."""


def read_run(tokens: Sequence[Token], position: int) -> Run | None:
    """Read the signs and numbers from a number on; None where anything else but an end stands among them."""
    end, n_tokens, kinds, mixed = position + 1, len(tokens), "+-*/", False
    while end < n_tokens and (sign := tokens[end]).kind not in ENDING:
        if sign.kind is not Kind.OPERATOR or sign.text not in kinds or end + 1 == n_tokens:
            return None
        number = tokens[end + 1]
        if number.kind is not Kind.NUMBER or end - position > 2 * MAX_SIGNS:
            return None
        kinds = _KINDS[sign.text]
        before = tokens[end - 1]
        is_one = end == position + 1 and before.value == 1
        mixed = mixed or (kinds == "+-" and number.percent != before.percent and not is_one)
        end += 2
    left: Expression = number_of(tokens[position])
    for at in range(position + 1, end, 2):
        left = Binary(tokens[at].text, left, number_of(tokens[at + 1]))
    return left, end, mixed
