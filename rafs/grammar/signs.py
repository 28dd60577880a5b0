"""How signs and LaTeX commands are spelled: the tables of the tokenizer."""

from rafs.grammar.tokens import Kind

_OPENERS = {"lfloor": "⌊", "lceil": "⌈", "langle": "⟨"}
_CLOSERS = {"rfloor": "⌋", "rceil": "⌉", "rangle": "⟩"}
_SET_RELATIONS = {
    "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "supset": "⊃", "supseteq": "⊇", "nsubseteq": "⊈",
}  # fmt: skip
BASED_FUNCTIONS = frozenset(["log"])
"""Functions whose subscript is a base; that of every other word is part of its name."""

COMMANDS: dict[str, tuple[Kind, str]] = {
    **dict.fromkeys(["\\times", "\\cdot", "\\ast"], (Kind.OPERATOR, "*")),
    "\\div": (Kind.OPERATOR, "/"),
    "\\%": (Kind.OPERATOR, "%"),
    **dict.fromkeys(["\\frac", "\\dfrac", "\\tfrac", "\\cfrac"], (Kind.FUNCTION, "frac")),
    **dict.fromkeys(["\\binom", "\\dbinom", "\\tbinom"], (Kind.FUNCTION, "binom")),
    "\\sqrt": (Kind.FUNCTION, "sqrt"),
    "\\pi": (Kind.WORD, "pi"),
    **{f"\\{name}": (Kind.WORD, name) for name in "sin cos tan log ln gcd lcm min max".split()},
    **{f"\\{name}": (Kind.WORD, name) for name in "alpha beta gamma delta theta lambda mu phi omega".split()},
    **dict.fromkeys(["\\approx", "\\simeq", "\\doteq"], (Kind.RELATION, "≈")),
    **dict.fromkeys(["\\le", "\\leq", "\\leqslant"], (Kind.RELATION, "<=")),
    **dict.fromkeys(["\\ge", "\\geq", "\\geqslant"], (Kind.RELATION, ">=")),
    **dict.fromkeys(["\\ne", "\\neq"], (Kind.RELATION, "!=")),
    **{f"\\{name}": (Kind.OPEN, sign) for name, sign in {"{": "\\{", "lbrace": "\\{", **_OPENERS}.items()},
    **{f"\\{name}": (Kind.CLOSE, sign) for name, sign in {"}": "\\}", "rbrace": "\\}", **_CLOSERS}.items()},
    **{f"\\{name}": (Kind.FUNCTION, f"\\{name}") for name in ("sum", "prod", "int", "lim", "det", "overline")},
    **{f"\\{name}": (Kind.OPERATOR, f"\\{name}") for name in ("cup", "cap", "setminus", "smallsetminus", "triangle")},
    **{f"\\{name}": (Kind.RELATION, sign) for name, sign in _SET_RELATIONS.items()},
    "\\infty": (Kind.WORD, "∞"),
    "\\emptyset": (Kind.WORD, "∅"),
    "\\varnothing": (Kind.WORD, "∅"),
    "\\choose": (Kind.WORD, "choose"),
    **dict.fromkeys(["\\circ", "\\degree"], (Kind.WORD, "°")),
    **{f"\\{name}": (Kind.WORD, name) for name in "cot sec csc arcsin arccos arctan sinh cosh tanh exp lg".split()},
    "\\lt": (Kind.RELATION, "<"),
    "\\gt": (Kind.RELATION, ">"),
    "\\equiv": (Kind.RELATION, "≡"),
    "\\pmod": (Kind.FUNCTION, "pmod"),
    **dict.fromkeys(["\\bmod", "\\mod"], (Kind.WORD, "mod")),
    **dict.fromkeys(["\\[", "\\]", "\\\\", "\\quad", "\\qquad"], (Kind.BREAK, "")),
    **dict.fromkeys(["\\implies", "\\Rightarrow", "\\rightarrow", "\\to", "\\iff"], (Kind.BREAK, "")),
}
INVISIBLE = frozenset(
    [
        "\\,",
        "\\!",
        "\\;",
        "\\:",
        "\\ ",
        "\\(",
        "\\)",
        "\\left",
        "\\right",
        "\\displaystyle",
        "\\big",
        "\\Big",
        "\\bigl",
        "\\bigr",
        "\\Bigl",
        "\\Bigr",
        "\\limits",
        "\\boxed",
        "\\&",
        "&",
        "\\textstyle",
    ]
)
"""Commands and signs that change nothing in the meaning."""
TIGHT = frozenset(["\\!", "\\left", "\\right", "\\big", "\\Big", "\\bigl", "\\bigr", "\\Bigl", "\\Bigr"])
"""Those of them that leave no gap: in `f\\left(2\\right)` the bracket touches the f."""

SIGNS: dict[str, tuple[Kind, str]] = {
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
    **{sign: (Kind.OPEN, sign) for sign in "⌊⌈⟨"},
    **{sign: (Kind.CLOSE, sign) for sign in "⌋⌉⟩"},
    **{sign: (Kind.FUNCTION, sign) for sign in "∑∏∫∛∜"},
    **{sign: (Kind.OPERATOR, sign) for sign in "∪∩∖△"},
    **{sign: (Kind.RELATION, sign) for sign in "∈∉⊂⊆⊃⊇⊄⊈"},
    **{sign: (Kind.WORD, sign) for sign in "∞∅"},
    ".": (Kind.BREAK, "."),
    **dict.fromkeys(",、،", (Kind.COMMA, ",")),
    **{sign: (Kind.BREAK, sign) for sign in ";\n?。！？；，：؟।—→⇒⟹•"},
    "√": (Kind.FUNCTION, "sqrt"),
    "π": (Kind.WORD, "pi"),
    "°": (Kind.WORD, "°"),
    "¢": (Kind.WORD, "cents"),
}
PAIRS: dict[str, tuple[Kind, str]] = {
    "<=": (Kind.RELATION, "<="),
    ">=": (Kind.RELATION, ">="),
    "=<": (Kind.RELATION, "<="),
    "!=": (Kind.RELATION, "!="),
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

OPERATOR_WORDS: dict[str, tuple[str, str]] = {
    "plus": ("", "+"),
    "minus": ("", "-"),
    "negative": ("", "-"),
    "times": ("", "*"),
    "multiplied": ("by", "*"),
    "divided": ("by", "/"),
}
"""Words that are operators before a number: the word that must follow, and the sign."""
MULTIPLES = {"twice": 2, "double": 2, "thrice": 3, "triple": 3, "treble": 3, "quadruple": 4}
"""Words that multiply the number behind them."""
