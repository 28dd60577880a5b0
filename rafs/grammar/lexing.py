"""Cuts running text, Unicode mathematics and LaTeX into tokens, in one linear pass without rewriting the text.

Every token keeps its character offsets, so that a claim can point at the submitted text. One pattern finds the next
piece; plain words, numbers and signs become tokens at once, and only the rest goes to a reader of its own:
`word_readers` by word, `sign_readers` by sign.
"""

import re
import unicodedata
from dataclasses import replace

from rafs.grammar.lexer import Lexer
from rafs.grammar.literals import plain_value
from rafs.grammar.notation import EUROPEAN, EUROPEAN_SIGN
from rafs.grammar.number_words import ARTICLES, COUNTED_ARTICLE
from rafs.grammar.sign_readers import read_command, read_sign
from rafs.grammar.signs import ASCII_SIGNS, COMMANDS, INVISIBLE, SIGNS, TIGHT
from rafs.grammar.tokens import NUMBER, WORD, Kind, Token, plain_token
from rafs.grammar.word_readers import WORD_READERS, read_number, read_other_word
from rafs.types import ANSWER_PLACEHOLDER

_NOT_LETTERS = "\\W\\d_π²³¹⁰-₟¼-¾⅐-↉①-⓿"
LETTER = f"[^{_NOT_LETTERS}]"
_SUFFIX = (
    "[%％‰½⅓⅔¼¾⅕-⅞€£¥₹₽₺₩￥百千万萬亿億]|\\\\%|[ap]\\.?m\\b|o['’]c|per ?(?:cent|mil)|pct|points|basis|hundred|thousand|"
    "million|billion|trillion|lakh|crore|tens\\b|ones\\b|[mbt]n\\b|[kmbt]\\b|and (?:a|one)\\b|"
    "halves|thirds|(?:four|fif|six|seven|eigh|nin|ten)ths|(?:in |to )?base\\b|"
    "(?:[×·*⋅x]|\\\\times|\\\\cdot)\\s?10\\s?[\\^⁰¹²³⁴-⁹⁻]"
)
"""What may belong to the digits before it, with or without a blank."""
_TOUCHING = (
    "[0-9_₀-₉…\u0305\u20e3\ufe0f]|e[-+−]?[0-9]|(?:st|nd|rd|th)\\b|(?<=0)[xbo]|[a-f][0-9a-f]*_|['’:][0-9]|,[0-9]{2}|,\\\\!|\\{,|"
    "\\.[0-9.]|\\.(?:\\s?[+/=×÷]|\\\\(?:overline|bar|dot)|\\(\\d)|[/-](?:[0-9]{1,3}[/-][0-9]|0[0-9]|7)|"
    "\\\\(?:[,!]|[lc]?dots|overline|bar|dot)|[\u00a0\u2009\u202f][0-9]|[ ][0-9]{1,3}\\s?[/⁄]"
)
"""What belongs to them where it touches them: a base, an exponent, more digits."""
_ALONE = (
    r"(?=[)\]}=+;?\n<>]|[ ][=+\-()\[$dgjqruvwyz]|,[ \n]|\.(?:[ \n][A-Za-z]|\Z)"
    r"|[ ]?\\(?:[)\](]|(?:times|cdot)(?:[ ][2-9A-Za-z\\(]|[2-9\\(]))|\Z)"
)
"""What can be none of these, and stands behind most numbers."""
_BELONGING = rf"(?i:{_TOUCHING}|[ \u00a0\u2009\u202f]?(?:{_SUFFIX}))"
_PLAIN_NUMBER = rf"[0-9]{{1,15}}+(?:\.[0-9]{{1,15}})?+(?:{_ALONE}|(?!{_BELONGING}))"
"""Digits with nothing behind them that could belong to them."""
_PLAIN_WORD = rf"(?!{COUNTED_ARTICLE})[A-Za-z]++(?![\w'’\-]|\$\d)"
_PIECE = re.compile(
    r"[^\S\n]*+(?:\\[(),;:& ](?>(?:[^\S\n]|\\[(),;:& ])*)|)(?:"
    rf"({_PLAIN_WORD}(?:[ ]{_PLAIN_WORD}){{0,7}}+)"
    r"|([+^()\]\n;?×·≤≥≠]|\[(?!"
    + re.escape(ANSWER_PLACEHOLDER[1:])
    + r")|=(?![=<>])|,(?![0-9])|\.(?<!\s.)(?![.\w])|\{(?![%{])|\}"
    r"|-(?:(?<=[0-9)].)(?=[\s(A-Za-z\\])|(?<=[0-9)][ \u00a0].)(?=\s)))"
    rf"|({_PLAIN_NUMBER})"
    r"|(\\(?:[A-Za-z]+|.|\Z))"
    rf"|({LETTER}_\{{\w{{1,12}}\}}|{LETTER}++(?:_\w+)+|{LETTER}++(?:['’]{LETTER}++)*(?:-(?={LETTER}{{2}}){LETTER}++)*(?:(?<=log)\d{{1,3}}|(?<=[A-Za-z])\d)?)"
    r"|(\.?[0-9])"
    r"|(.)"
    r"|\Z)",
    re.DOTALL,
)
"""Blanks, LaTeX ones and what opens its mathematics among them, and the next piece, or nothing at the end."""
_WORDS, _PLAIN_SIGN, _NUMBER, _COMMAND, _OTHER_WORD, _OTHER_NUMBER, _OTHER_SIGN = range(1, 8)
"""Words of ASCII letters alone, up to eight in a row, or one with what can only be told letter by letter; plain
signs mean the same anywhere."""
_PLAIN_COMMANDS = {name: meaning for name, meaning in COMMANDS.items() if meaning[0] is not Kind.FUNCTION}
_MEANINGS = SIGNS | _PLAIN_COMMANDS
_PLAIN_READERS = {word: reader for word, reader in WORD_READERS.items() if word not in ARTICLES}
"""Readers of plain words; an article that counts something is none."""
_FOREIGN = re.compile(r"(?![0-9])\d|(?<=\d)[．٫](?=\d)|(?<=\d)[，٬](?=\d{3}(?!\d))|٪")
_UNSEEN = re.compile(
    "\x1b\\[[0-9;?]{0,16}[@-~]|[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b-\u200d\u2060-\u2064\ufeff]"
)
"""Signs of no width, inside a number or between any two signs, and what colours the text of a terminal."""
_VARIABLE_X = re.compile(
    r"[xX](?:(?<!\w.)\s?[=+^]|(?:(?<=[=+(].)|(?<=[=+(]\s.))\b(?!\s?\d)|(?<=\d.)(?![\w$]|\s?[\d$(])|(?<=\bfor x)\b)",
    re.DOTALL,
)
"""What shows that `x` is a name: `x =`, `(x`, `2x`, `for x`."""


def lex(text: str, *, variable_x: bool | None = None) -> list[Token]:
    """Cut `text` into tokens.

    Args:
        text: Running text, any script.
        variable_x: Whether `x` between numbers is a variable rather than a times sign; None to judge by the text.

    Returns:
        Tokens in order of position; white space, LaTeX spacing and emphasis are not tokens. Never raises. Time is
        linear in the length of the text.
    """
    if _UNSEEN.search(text) is not None:
        return _with_places(text, variable_x)
    if not text.isascii():
        text = _FOREIGN.sub(_ascii_sign, text)
    if "," in text and EUROPEAN_SIGN.search(text) is not None:
        text = EUROPEAN.in_english(text)
    if variable_x is None:
        variable_x = _VARIABLE_X.search(text) is not None
    lexer = Lexer(text=text, variable_x=variable_x)
    _cut(lexer)
    return lexer.tokens


def _with_places(text: str, variable_x: bool | None) -> list[Token]:
    """Cut a text as if its invisible signs were not there."""
    seen: list[int] = []
    position = 0
    for unseen in _UNSEEN.finditer(text):
        seen += range(position, unseen.start())
        position = unseen.end()
    seen += range(position, len(text))
    tokens = lex("".join(map(text.__getitem__, seen)), variable_x=variable_x)
    seen.append(len(text))
    ends = [seen[token.end - 1] + 1 if token.end > token.start else seen[token.start] for token in tokens]
    return [replace(token, start=seen[token.start], end=end) for token, end in zip(tokens, ends, strict=True)]


def _ascii_sign(found: re.Match[str]) -> str:
    """Return the ASCII sign for a digit of any script, or for a point or comma inside a number; lengths must stay."""
    sign = found.group()
    return ASCII_SIGNS.get(sign) or str(unicodedata.decimal(sign))


def _cut(lexer: Lexer) -> None:
    """Walk through the text: the quick ways here, everything else in a reader, which moves `lexer.position` on."""
    append, text, braces, position, gap = lexer.tokens.append, lexer.text, lexer.braces, 0, True
    while True:
        for found in _PIECE.finditer(text, position):
            which = found.lastindex
            if which is None:
                return
            start, stop = found.span(which)
            piece = text[start:stop]
            gap = gap or start > position
            if which == _WORDS:
                for word in piece.split(" "):
                    end = start + len(word)
                    if word.lower() in _PLAIN_READERS:
                        lexer.before, lexer.position, lexer.gap = position, start, gap
                        _read_word(lexer, word)
                        position, gap = lexer.position, lexer.gap
                        break
                    append(plain_token(WORD, word, start, end, gap))
                    position, start, gap = end, end + 1, True
                else:
                    gap = False
            elif (which == _PLAIN_SIGN and not (braces and piece in "{}")) or (
                which == _COMMAND and piece in _PLAIN_COMMANDS and not lexer.matrices
            ):
                kind, canonical = _MEANINGS[piece]
                append(plain_token(kind, canonical, start, stop, gap))
                position, gap = stop, False
            elif which == _NUMBER:
                value, decimals = plain_value(piece)
                currency = lexer.currency if lexer.currency_end == position else ""
                append(plain_token(NUMBER, "", start, stop, gap, value, currency, decimals))
                position, gap = stop, False
            else:
                lexer.before, lexer.position, lexer.gap = position, start, gap
                reader = _skip if (piece in INVISIBLE and piece != "&") or piece == "$" else _READERS[which]
                reader(lexer, piece)
                position, gap = lexer.position, lexer.gap
            if position != stop:  # a reader went on, or stopped, somewhere else
                break


def _skip(lexer: Lexer, piece: str) -> None:
    """Step over a piece that means nothing, or opens mathematics, or may be the currency of the number behind it."""
    if piece == "$":
        lexer.currency = "$"
    else:
        lexer.gap = lexer.gap or piece not in TIGHT
    if piece == "$" or lexer.currency_end == lexer.before:
        lexer.currency_end = lexer.position + len(piece)
    lexer.position += len(piece)


def _read_word(lexer: Lexer, piece: str) -> None:
    if not _PLAIN_READERS[piece.lower()](lexer):
        lexer.emit(Kind.WORD, piece, lexer.position + len(piece))


_READERS = {
    _OTHER_WORD: read_other_word,
    _NUMBER: read_number,
    _OTHER_NUMBER: read_number,
    _COMMAND: read_command,
    _PLAIN_SIGN: read_sign,
    _OTHER_SIGN: read_sign,
}
