r"""Reads markup that stands in the way of mathematics: `&times;`, `<b>`, `<sup>2</sup>`, `\begin{align*}`."""

import html
import re
from fractions import Fraction

from rafs.grammar.lexer import Lexer
from rafs.grammar.literals import read_vulgar
from rafs.grammar.signs import PAIRS, SIGNS, SUPERSCRIPTS
from rafs.grammar.tokens import Kind

_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}[0-9]{0,2}|#[0-9]{2,6}|#x[0-9A-Fa-f]{2,5});")
_TAG = re.compile(
    r"</?(b|i|u|em|strong|span|code|small|sup|sub|p|br|div|li|ul|ol|td|tr|table|h[1-6])(?:\s[^<>]{0,60})?/?>", re.I
)
_BLOCKS = frozenset("p br div li ul ol tr table h1 h2 h3 h4 h5 h6".split())
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s?\{(?:align(?:ed|at)?|equation|gather(?:ed)?|split|multline|eqnarray|flalign|displaymath|math|"
    r"center|quote|itemize|enumerate)\*?\}"
)
"""Environments that only set out what stands in them; those of matrices and cases mean something."""


def read_entity(lexer: Lexer, _: str) -> None:
    """Read an HTML entity as the sign that it stands for; any other `&` parts columns, which matter in a matrix."""
    found = _ENTITY.match(lexer.text, lexer.position)
    sign = html.unescape(found.group()) if found is not None else ""
    if lexer.matrices and sign in ("", "&"):
        lexer.emit(Kind.COMMA, "&", lexer.position + max(1, len(found.group()) if found else 1))
    elif found is None or len(sign) > 1:
        lexer.skip(lexer.position + 1, True)
    elif sign in SIGNS and sign not in "{}":
        lexer.emit(*SIGNS[sign], found.end())
    elif (power := SUPERSCRIPTS.get(ord(sign), "")).isdecimal():
        lexer.emit(Kind.OPERATOR, "^", lexer.position)
        lexer.emit(Kind.NUMBER, "", found.end(), Fraction(int(power)))
    elif (vulgar := read_vulgar(sign, 0)) is not None:
        lexer.emit(Kind.NUMBER, "", found.end(), vulgar)
    elif sign.isspace() or sign == '"':
        lexer.skip(found.end(), True)
    else:
        lexer.emit(Kind.JUNK, sign, found.end())


def read_tag(lexer: Lexer) -> bool:
    """Read an HTML tag: `<sup>` raises, blocks break, and the look of letters is nothing; False where there is none."""
    found = _TAG.match(lexer.text, lexer.position)
    if found is None:
        return _read_control(lexer)
    name, closes = found[1].lower(), found.group().startswith("</")
    if name == "sup" and not closes and lexer.follows_operand():
        lexer.emit(Kind.OPERATOR, "^", lexer.position)
        lexer.emit(Kind.OPEN, "(", found.end())
        lexer.raised += 1
    elif name == "sup" and closes and lexer.raised:
        lexer.raised -= 1
        lexer.emit(Kind.CLOSE, ")", found.end())
    elif name in ("sup", "sub"):
        lexer.emit(Kind.JUNK, name, found.end())
    elif name in _BLOCKS:
        lexer.emit(Kind.BREAK, "\n", found.end())
    elif (
        name in ("b", "i", "u") and not closes and lexer.text.find(f"</{name}>", found.end(), found.end() + _REACH) < 0
    ):
        return False  # `a <b> c` compares
    else:
        lexer.skip(found.end(), False)
    return True


def _read_control(lexer: Lexer) -> bool:
    """Read a mark of a chat template, `<|im_end|>`, or a tag of any other name as the end of a line."""
    found = _CONTROL.match(lexer.text, lexer.position)
    if found is None and starts_line(lexer):
        found = _NUMBERING.match(lexer.text, lexer.position)
    if found is not None:
        lexer.emit(Kind.BREAK, "\n", found.end())
    return found is not None


_NUMBERING = re.compile(r"<\d{1,3}>(?=\s)")
_CONTROL = re.compile(
    r"<\|[\w ]{1,40}\|>|</[A-Za-z][\w-]{0,30}>|<s>|<[A-Za-z][A-Za-z_]{3,30}(?:_\d{1,3})?>|<!--|<[A-Za-z]{1,12}\s?/>"
    r"|<[A-Za-z]{1,12}(?:\s[A-Za-z-]{1,20}=[\"'][^\"'<>\n]{0,200}[\"']){1,5}\s?/?>"
)
_REACH = 2000
"""Characters in which a tag of one letter must be closed."""


def read_environment(lexer: Lexer) -> bool:
    r"""Read `\begin{align*}` as the end of a line; False before an environment that means something."""
    found = _ENVIRONMENT.match(lexer.text, lexer.position)
    if found is not None:
        lexer.emit(Kind.BREAK, "", found.end())
    return found is not None


def starts_line(lexer: Lexer) -> bool:
    """Say whether nothing stands before on the line or in the sentence."""
    return not lexer.tokens or lexer.tokens[-1].kind is Kind.BREAK


def read_comment(lexer: Lexer) -> bool:
    """Read what opens or closes a comment as the end of a line: `/*`, `*/`, `-->`, and `//` at the start of one."""
    found = _COMMENT.match(lexer.text, lexer.position)
    if found is None or (found.group() == "//" and not starts_line(lexer)):
        return False
    lexer.emit(Kind.BREAK, "\n", found.end())
    return True


_COMMENT = re.compile(r"/\*{1,2}(?!\*)|\*{1,2}/|-->|//")
COMMENT_SIGNS = frozenset(["/*", "*/", "**", "--", "//"])
"""What such a sign begins with."""


def read_less(lexer: Lexer, sign: str) -> None:
    """Read `<`, `<=`, `<<`, or a tag."""
    pair = lexer.text[lexer.position : lexer.position + 2]
    if not read_tag(lexer):
        lexer.emit(*(PAIRS.get(pair) or SIGNS[sign]), lexer.position + (2 if pair in PAIRS else 1))


def read_quotation(lexer: Lexer, sign: str) -> None:
    """Read `>`: at the start of a line the mark of a quotation, anywhere else a comparison."""
    found = _QUOTATION.match(lexer.text, lexer.position)
    if found is not None and starts_line(lexer):
        lexer.emit(Kind.BREAK, "\n", found.end())
    else:
        pair = lexer.text[lexer.position : lexer.position + 2]
        lexer.emit(*(PAIRS.get(pair) or SIGNS[sign]), lexer.position + (2 if pair in PAIRS else 1))


_QUOTATION = re.compile(r">{1,4}(?=\s)")


def read_layout(lexer: Lexer, name: str) -> bool:
    r"""Read a LaTeX command that only sets out the text: `\small`, `\color{red}`, `\item`; False for any other."""
    end = lexer.position + len(name)
    if name in _SIZES:
        lexer.skip(end, True)
    elif name in _SET_APART and (argument := _ARGUMENT.match(lexer.text, end)) is not None:
        lexer.skip(argument.end(), True)
    elif name in _BREAKS or (name in _BULLETS and starts_line(lexer)):
        lexer.emit(Kind.BREAK, "", end)
    else:
        return False
    return True


def _named(names: str) -> frozenset[str]:
    return frozenset(f"\\{name}" for name in names.split())


_SIZES = _named("tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge noindent centering bfseries")
_SET_APART = _named("color textcolor hspace vspace phantom hphantom vphantom label tag footnote")
_BREAKS = _named("item par newline bigskip medskip smallskip therefore because checkmark")
_BULLETS = _named("bullet star dagger ddagger ast diamond blacksquare square triangleright")
"""Signs of an operation elsewhere."""
_ARGUMENT = re.compile(r"\*?\s?\{[^{}\n]{0,80}\}")
