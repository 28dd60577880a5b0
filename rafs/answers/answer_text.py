"""Answers as written, in one spelling: without delimiters, sizing, text macros and other clothes."""

import html
import re
import unicodedata
from fractions import Fraction

from rafs.splitting.markup import atomic_spans

MAX_ANSWER_CHARS = 2000
"""Characters of an answer that is compared by more than its spelling."""

GREEK = "α-ωΑ-Ω"
"""Greek letters, for a class of characters."""
_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega varepsilon vartheta varkappa varrho varsigma varphi"
)
_LETTERS = dict(zip(_NAMES.split(), "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΣΥΦΨΩεθκρςφ", strict=True))
_COMMAND, _WORD = re.compile(r"\\([A-Za-z]+)"), re.compile(r"\\?([A-Za-z]+)")
_RAISED = re.compile("[²³¹⁰ⁱ⁴-ⁿʰ-ʸˡ-ˣᴬ-ᵡ]{1,20}")
_ORDINALS = frozenset(["ˢᵗ", "ⁿᵈ", "ʳᵈ", "ᵗʰ"])
_LOWERED = re.compile("[₀-ₜᵢ-ᵪⱼ]{1,20}")
_RINGS = str.maketrans(dict.fromkeys("º˚ᵒ", "°"))
"""Signs that stand for degrees, and would be letters or blanks after Unicode's normalisation."""
_GLYPHS = str.maketrans(
    {"−": "-", "–": "-", "—": "-", "∶": ":", "‐": "-", "’": "'", "′": "'", "“": '"', "”": '"', "∞": "\\infty "}
    | {"∣": "|", "∠": "\\angle "}
)
_VULGAR = re.compile(r"(?P<whole>[0-9]?)(?P<part>[¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])(?P<factor>(?=[A-Za-z(\\√]))?")
_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}\d{0,2}|#\d{2,6});")
_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_REWRITES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<=,)\s?\\[!,]\s?(?=\d{3})|\\!", ""),
        (r"\{,\}(?=\d{3}(?!\d))", ","),
        (r"(?<!\\)&(?=\s?(?:[=<>≤≥≈]|\\(?:leq?|geq?|approx)(?![a-z])))", ""),
        (r"_\{\s?(\w)\s?\}(?!\w)", r"_\1"),
        (r"\\langle(?![a-z])|⟨", "("),
        (r"\\rangle(?![a-z])|⟩", ")"),
        (r"\{,\}", "."),
        (r"\{:\}|\\colon(?![a-z])", ":"),
        (r"(?<=[\w)}])\*\*(?=[\w({\\-])", "^"),
        (
            r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits)(?![a-z])\s?\.?(?=[\s()\[\]{}\\|\w]|$)",
            "",
        ),
        (r"\\[dtc]frac(?![a-z])", r"\\frac"),
        (r"\\frac\s?(\d|(?<=\s)[a-z])\s?(\d|[a-z](?![a-z]))", r"\\frac{\1}{\2}"),
        (r"\^?\s?\{?\\(?:circ|degree)(?![a-z])\}?", "°"),
        (
            r"\\frac\s?\{(?P<n>[\d.,]{0,20})\s?\\(?:text|mathrm)\s?\{\s?(?P<above>[A-Za-z]{1,12})\s?\}(?P<p>\^\{?\d\}?)?\}"
            r"\s?\{\\(?:text|mathrm)\s?\{\s?(?P<below>[A-Za-z]{1,12})\s?\}(?P<q>\^\{?\d\}?)?\}",
            r" \g<n> \g<above>\g<p>/\g<below>\g<q>",
        ),
        (
            r"\\(?:text|textbf|textit|mathrm|mathbf|mbox|operatorname|textrm|boldsymbol|boxed|fbox)\s?\{([^{}]{0,500})\}",
            r" \1 ",
        ),
        (r"(?<!\\)\\(?:[,;: ]|quad|qquad)|~|\u00a0", " "),
        (r"(?<!\\)\\([%$#&])", r"\1"),
        (r"(?<![\d.,])(\d{1,12}(?:\.\d{1,12})?)\s?(?:‰|per\s?mille?\b)", r"\1/10%"),
        (r"\+\s?-", "- "),
        (r"\\(?:le|leq|leqslant)(?![a-z])|≤|⩽|=<", "<="),
        (r"\\(?:ge|geq|geqslant)(?![a-z])|≥|⩾", ">="),
        (r"\\lt(?![a-z])", "<"),
        (r"\\gt(?![a-z])", ">"),
        (r"\\(?:approx|simeq)(?![a-z])|≈", " ≈ "),
        (r"\\in(?![a-z])|∈", " ∈ "),
        (r"∈\s{1,2}\{([^{}]{1,200})\}", r"∈ \\{\1\\}"),
        (r"\\(?:cup)(?![a-z])|∪", " ∪ "),
        (r"U(?:(?<=[)\]]U)|(?<=[)\]]\sU))(?=\s?[(\[])", " ∪ "),
        (r"\{([^{}\\]{1,40})\\over(?![a-z])([^{}\\]{1,40})\}", r"\\frac{\1}{\2}"),
        (r"\\(?:emptyset|varnothing)(?![a-z])", "∅"),
        (r"(?:\\pm(?![a-z])|±)\s?", "±"),
        (r"(^|[(,=\[{]\s?)-\s+(?=[\d\\.(])", r"\1-"),
        (r"(?<=[\d)}])\s?\\?(?=(?:sin|cos|tan|ln|log)(?![a-z]))", "*"),
        (r"\\(?:mathbb|mathcal)\s?\{?([A-Z])\}?", r"\1"),
        (r"\*\*|__|`", ""),
        (r"μ(?<=\d\sμ)\s(?=[gms](?![A-Za-z]))", "μ"),
    )
)
_FORMULA = re.compile(r"(?:[A-Z][a-z]?(?:_\{?\d{1,2}\}?)?){2,12}")
"""Chemical formulas, whose indices many write on the line: `H_2O`."""
_INDEX = re.compile(r"_\{?(\d+)\}?")
_WRAPPED = re.compile(
    r"(?:\\\((?P<a>.*)\\\)|\\\[(?P<b>.*)\\\]|\{(?P<c>[^{}]+)\}|\"(?P<d>[^\"]*)\"|\*(?P<e>[^*]+)\*)", re.DOTALL
)
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_GROUPED = re.compile(r"-?[1-9]\d{0,2}(?:,\d{3})+")
_FILLER = re.compile(
    r"(?:approximately|approx\.?|about|around|roughly|exactly|a total of|≈|~|option|choice|answer:?)\s+",
    re.IGNORECASE,
)


def normalise_answer(text: str) -> str:
    """Return the one spelling under which identical answers are identical; linear in the text.

    Case stays, since names of variables differ by it.
    """
    if _PLAIN_NUMBER.fullmatch(text):
        return text  # as most answers; forty rewritings find nothing in it
    text = _ENTITY.sub(lambda sign: html.unescape(sign.group()), text)
    text = with_greek_letters(text if text.isascii() else _with_plain_signs(text), bare=False)
    text = _without_dollars(text.strip())
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    text = " ".join(text.split())
    for _ in range(3):
        text = text.strip(" \t\"'").lstrip(":=# ").rstrip(".,;").strip()
        wrapped = _WRAPPED.fullmatch(text)
        inner = next(part for part in wrapped.groups() if part is not None).strip() if wrapped else text
        text = f"\\{{{inner}\\}}" if text[:1] == "{" and "," in inner and not _GROUPED.fullmatch(inner) else inner
        filler = _FILLER.match(text)
        text = text[filler.end() :] if filler else text
    return _INDEX.sub(r"\1", text) if _FORMULA.fullmatch(text) else text


def _with_plain_signs(text: str) -> str:
    """Write what has a plainer spelling in it: raised and lowered signs, fractions, digits, dashes."""
    text = _VULGAR.sub(_written_out, text)
    text = _RAISED.sub(_as_power, text.translate(_RINGS))
    text = _LOWERED.sub(r"_{\g<0>}", text)
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_GLYPHS)
    return "".join(str(int(char)) if char.isdecimal() and not char.isascii() else char for char in text)


def _as_power(run: re.Match[str]) -> str:
    return run.group() if run.group() in _ORDINALS else "^{" + run.group() + "}"


def with_greek_letters(text: str, *, bare: bool) -> str:
    r"""Write `\theta` as the letter that it names, and with `bare` the word `theta` too."""
    return (_WORD if bare else _COMMAND).sub(lambda name: _LETTERS.get(name[1]) or name.group(), text)


def _written_out(sign: re.Match[str]) -> str:
    """Write `3½` as `3 1/2`, before normalisation glues it into 31/2; no factor behind it gets below the bar."""
    part = Fraction(unicodedata.numeric(sign["part"])).limit_denominator(10)
    if sign["factor"] is not None:
        return f"{sign['whole']}\\frac{{{part.numerator}}}{{{part.denominator}}}"
    return f"{sign['whole']} {part}".strip()


def _without_dollars(text: str) -> str:
    """Drop the delimiters of inline and display maths; a currency sign stays."""
    parts, at = [], 0
    for start, end in atomic_spans(text):
        if text[start] == "$":
            width = 2 if text.startswith("$$", start) else 1
            parts += [text[at:start], text[start + width : end - width]]
            at = end
    return "".join([*parts, text[at:]])
