"""How signs and LaTeX commands are spelled: the tables of the tokenizer."""

from rafs.grammar.tokens import Kind

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
        "\\$",
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
        '"',
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
    **{sign: (Kind.OPEN, plain) for sign, plain in zip("([{（［", "([{([", strict=True)},
    **{sign: (Kind.CLOSE, plain) for sign, plain in zip(")]}）］", ")]})]", strict=True)},
    **dict.fromkeys("=＝", (Kind.RELATION, "=")),
    **dict.fromkeys("<＜", (Kind.RELATION, "<")),
    **dict.fromkeys(">＞", (Kind.RELATION, ">")),
    "≤": (Kind.RELATION, "<="),
    "≥": (Kind.RELATION, ">="),
    "≠": (Kind.RELATION, "!="),
    **dict.fromkeys("≈≅≃∼", (Kind.RELATION, "≈")),
    "≡": (Kind.RELATION, "≡"),
    ",": (Kind.COMMA, ","),
    **{sign: (Kind.BREAK, sign) for sign in ";\n?。！？；，—→⇒⟹•"},
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
SUPERSCRIPTS = {ord(sign): plain for sign, plain in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+", strict=True)}
CURRENCIES = frozenset("$£€¥₹＄")
