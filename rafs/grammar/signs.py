"""How signs and LaTeX commands are spelled: the tables of the tokenizer."""

from rafs.grammar.tokens import Kind

Meaning = tuple[Kind, str]
"""The kind of a token and its canonical text."""
BASED_FUNCTIONS = frozenset(["log"])
"""Functions whose subscript is a base; that of every other word is part of its name."""


def _commands(kind: Kind, spellings: dict[str, str]) -> dict[str, Meaning]:
    """Return what LaTeX commands mean, listed without their backslash behind the text that stands for them."""
    return {f"\\{name}": (kind, text) for text, names in spellings.items() for name in names.split()}


def _own(kind: Kind, names: str) -> dict[str, Meaning]:
    """Return LaTeX commands that mean their own name."""
    return {f"\\{name}": (kind, name) for name in names.split()}


_OPERATORS = {
    **{
        "*": "times cdot ast",
        "/": "div",
        "%": "%",
        "∪": "cup bigcup",
        "∩": "cap bigcap",
        "△": "triangle bigtriangleup",
    },
    "∖": "setminus smallsetminus backslash",
}
_RELATIONS = {
    **{"≈": "approx simeq doteq", "<": "lt", ">": "gt", "<=": "le leq leqslant", ">=": "ge geq geqslant"},
    **{"!=": "ne neq", "≡": "equiv", "∈": "in", "∉": "notin", "⊂": "subset", "⊆": "subseteq", "⊃": "supset"},
    **{"⊇": "supseteq", "⊈": "nsubseteq"},
}
_BRACKETS = {
    Kind.OPEN: {"\\{": "{ lbrace", "⌊": "lfloor", "⌈": "lceil", "⟨": "langle"},
    Kind.CLOSE: {"\\}": "} rbrace", "⌋": "rfloor", "⌉": "rceil", "⟩": "rangle"},
}
_APPLIED = {
    **{"frac": "frac dfrac tfrac cfrac", "binom": "binom dbinom tbinom", "sqrt": "sqrt", "∛": "cbrt", "∑": "sum"},
    **{"∏": "prod", "∫": "int", "lim": "lim", "det": "det", "‾": "overline bar", "pmod": "pmod"},
}
COMMANDS: dict[str, Meaning] = {
    **_commands(Kind.OPERATOR, _OPERATORS),
    **_commands(Kind.RELATION, _RELATIONS),
    **{name: meaning for kind, spellings in _BRACKETS.items() for name, meaning in _commands(kind, spellings).items()},
    **_commands(Kind.FUNCTION, _APPLIED),
    **_commands(Kind.WORD, {"∞": "infty", "∅": "emptyset varnothing", "°": "circ degree degrees", "mod": "bmod mod"}),
    **_own(
        Kind.WORD, "pi sin cos tan log ln gcd lcm min max choose cot sec csc arcsin arccos arctan sinh cosh tanh exp"
    ),
    **_own(Kind.WORD, "lg Re Im arg alpha beta gamma delta theta lambda mu phi omega"),
    **_commands(Kind.JUNK, {"...": "cdots ldots dots dotsb dotsc", "‖": "lVert rVert Vert |", "'": "prime"}),
    **_commands(
        Kind.BREAK, {"": "[ ] \\ quad qquad implies Rightarrow Leftrightarrow rightarrow longrightarrow to iff"}
    ),
}
TIGHT = frozenset(f"\\{name}" for name in "! left right big Big bigl bigr Bigl Bigr".split())
"""Commands that mean nothing and leave no gap: in `f\\left(2\\right)` the bracket touches the f."""
INVISIBLE = TIGHT | {"&", "\\ ", *(f"\\{name}" for name in ", ; : ( ) & displaystyle textstyle limits boxed".split())}
"""Commands and signs that change nothing in the meaning."""

SIGNS: dict[str, Meaning] = {
    **dict.fromkeys("+＋", (Kind.OPERATOR, "+")),
    **dict.fromkeys("-−–‒﹣－‐‑", (Kind.OPERATOR, "-")),
    **dict.fromkeys("*×·⋅∙∗＊✕✖", (Kind.OPERATOR, "*")),
    **dict.fromkeys("/÷⁄∕／", (Kind.OPERATOR, "/")),
    **dict.fromkeys("^＾", (Kind.OPERATOR, "^")),
    **dict.fromkeys("%％", (Kind.OPERATOR, "%")),
    **{sign: (Kind.OPEN, plain) for sign, plain in zip("([{（［｛", "([{([{", strict=True)},
    **{sign: (Kind.CLOSE, plain) for sign, plain in zip(")]}）］｝", ")]})]}", strict=True)},
    **dict.fromkeys("=＝", (Kind.RELATION, "=")),
    **dict.fromkeys("<＜", (Kind.RELATION, "<")),
    **dict.fromkeys(">＞", (Kind.RELATION, ">")),
    "≤": (Kind.RELATION, "<="),
    "≥": (Kind.RELATION, ">="),
    "≠": (Kind.RELATION, "!="),
    **dict.fromkeys("≈≅≃∼", (Kind.RELATION, "≈")),
    "≡": (Kind.RELATION, "≡"),
    **{sign: (Kind.OPEN, plain) for sign, plain in zip("⌊⌈⟨〈", "⌊⌈⟨⟨", strict=True)},
    **{sign: (Kind.CLOSE, plain) for sign, plain in zip("⌋⌉⟩〉", "⌋⌉⟩⟩", strict=True)},
    **{sign: (Kind.FUNCTION, sign) for sign in "∑∏∫∛∜"},
    **{sign: (Kind.OPERATOR, plain) for sign, plain in zip("∪∩∖△⋃⋂⊖", "∪∩∖△∪∩△", strict=True)},
    **{sign: (Kind.RELATION, sign) for sign in "∈∉⊂⊆⊃⊇⊄⊈"},
    **{sign: (Kind.WORD, sign) for sign in "∞∅"},
    ".": (Kind.BREAK, "."),
    **dict.fromkeys(",、،", (Kind.COMMA, ",")),
    **{sign: (Kind.BREAK, sign) for sign in ";\n?。！？；，：؟।—→⇒⟹⇔⟺•"},
    "√": (Kind.FUNCTION, "sqrt"),
    "π": (Kind.WORD, "pi"),
    **dict.fromkeys("°º˚", (Kind.WORD, "°")),
    **dict.fromkeys("…⋯", (Kind.JUNK, "...")),
    **dict.fromkeys("’′", (Kind.JUNK, "'")),
    "∥": (Kind.JUNK, "‖"),
    "¢": (Kind.WORD, "cents"),
}
PAIRS: dict[str, Meaning] = {
    "<=": (Kind.RELATION, "<="),
    ">=": (Kind.RELATION, ">="),
    "=<": (Kind.RELATION, "<="),
    "!=": (Kind.RELATION, "!="),
    **{f"{sign}=": (Kind.JUNK, f"{sign}=") for sign in "+-*/"},
    "==": (Kind.RELATION, "="),
    ":=": (Kind.RELATION, "="),
    "//": (Kind.JUNK, "//"),
    "!!": (Kind.OPERATOR, "!!"),
    "=>": (Kind.BREAK, "=>"),
    "->": (Kind.BREAK, "->"),
    "--": (Kind.BREAK, "--"),
    "<<": (Kind.JUNK, "<<"),
    ">>": (Kind.JUNK, ">>"),
}
SUPERSCRIPTS = {ord(sign): plain for sign, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n", strict=True)}
CURRENCIES = frozenset("$£€¥₹＄￥￡₩₽₺₫₪₱")
CURRENCY_SIGNS = {"＄": "$", "￥": "¥", "￡": "£"}
"""Other spellings of a currency sign."""
CURRENCY_CODES = {
    **{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "Rs": "₹", "Rs.": "₹"},
    **{code: code for code in ("CHF", "AUD", "CAD", "CNY", "RMB", "NZD", "SEK", "NOK", "DKK", "PLN")},
}
"""Currencies in letters, in front of an amount."""
DOLLARS = {"US": "$", **{country: f"{country}$" for country in ("AU", "CA", "NZ", "HK", "A", "C", "S", "R")}}
"""Letters before a dollar sign, and the currency that they make it."""
ASCII_SIGNS = {
    **dict.fromkeys("．٫", "."),
    **dict.fromkeys("，٬", ","),
    "٪": "%",
}
"""Other spellings of the signs inside a number."""
