"""Tells where a text calculates by other rules: in residues, in another base, column by column, with a sign of its own.

A contradiction found by the usual rules is none there.
"""

import re
from bisect import bisect_left
from functools import lru_cache

from rafs.claims.relations import Link
from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.signs import COMMANDS, SIGNS
from rafs.grammar.terms import Binary, walk

BEFORE, AFTER = 200, 80
"""Characters before and behind an equation in which the rules are told."""
_TELLING = (
    "equiv|≡|mod|residue|congruen|z_|f_|z/|f/|z}|f}|ℤ|gf(|base|binary|octal|hex|boolean|bitwise|xor|clock|carry|borrow|"
    "digit|place|column|concatenat|integer division".split("|")
)
_OTHER_RULES = GatedPattern(
    r"\\equiv|≡|\\[pb]?mod\b|\\text\s?\{mod\}|\b(?:mod|modulo|modulus|modular|residues?|congruen\w{1,5})\b"
    r"|(?:\b[ZF]|\\mathbb\s?\{?[ZF]\}?|ℤ)(?:_\{?\d|/\d)|\bGF\(|\b(?:in|to|from|number) base\b|\bbase-\d|\(base "
    r"|\b(?:binary|octal|hexadecimal|hex|boolean|bitwise|xor)\b|\bhour clock\b|\bclock arithmetic\b"
    r"|\b(?:carry|carrying|borrow|borrowing) (?:the |a |over )?(?:\d|one)|[(,] ?(?:carry|borrow)\b"
    r"|\b(?:units?'?s?|ones'?|tens'?|last|final) (?:digits?|place|column)\b|\bdigit(?:al)? (?:sum|root)"
    r"|\bconcatenat|\binteger division\b",
    _TELLING,
    lead=10,
    reach=30,
)
_INTRODUCED = GatedPattern(r"\b(?:defin\w{1,6}|operations?|operator|denot\w{1,3})\b", ["defin", "operat", "denot"])
_TOLD = GatedPattern(r"\b(?:if|let|where|suppose|when)\s", ["if", "let", "where", "suppose", "when"], lead=0)
_RULE_SIGN = re.compile(r"[-+*/^×·∗÷\\](?:(?<=\\)[a-z]{3,8}|(?<!\\))\s?[a-z]\s?=", re.IGNORECASE)
"""What every rule holds, and is quickly looked for."""
_LETTER_EQUALS = re.compile(r"=(?:(?<=[a-z]=)|(?<=[a-z]\s=))", re.IGNORECASE)
"""What that holds, and is found at once."""
_RULE = re.compile(
    r"(?P<told>\b(?:if|let|where|suppose|when)\s\$?)?(?<![\w)])(?P<a>[A-Za-z])\s?(?P<sign>\\[a-z]{3,8}|[-+*/^×·∗÷])\s?"
    r"(?P<b>[A-Za-z])\s?=[^=.;\n]{0,60}?\b\d{0,3}(?:(?P=a)|(?P=b))",
    re.IGNORECASE,
)
"""`a * b = a + 2b`, which gives a sign its meaning where the text says that it does so."""


def other_arithmetic(text: str, start: int, end: int) -> frozenset[str]:
    """Return a doubt where other rules are told around the equation text[start:end].

    Time is linear in the text, once for all of its equations.
    """
    places = _places(text)
    told = _is_between(places, start - BEFORE, start) or _is_between(places, end, end + AFTER)
    return frozenset(["other arithmetic"]) if told else frozenset()


def _is_between(places: tuple[int, ...], start: int, end: int) -> bool:
    following = bisect_left(places, start)
    return following < len(places) and places[following] < end


@lru_cache(maxsize=4)
def _places(text: str) -> tuple[int, ...]:
    return tuple(found.start() for found in _OTHER_RULES.finditer(text))


def redefined_signs(text: str) -> frozenset[str]:
    """Return the signs of calculation that a problem or a step gives a meaning of their own."""
    if _LETTER_EQUALS.search(text) is None or _RULE_SIGN.search(text) is None:
        return frozenset()
    introduced = _INTRODUCED.search(text) is not None
    if not introduced and _TOLD.search(text) is None:
        return frozenset()
    rules = [found for found in _RULE.finditer(text) if introduced or (found["told"] and found["sign"] not in "+-")]
    meanings = (COMMANDS.get(rule["sign"]) or SIGNS.get(rule["sign"]) for rule in rules)
    return frozenset(meaning[1] for meaning in meanings if meaning is not None)


def uses_sign(link: Link, signs: frozenset[str]) -> bool:
    """Say whether one of the signs stands in a side of a link."""
    sides = [side for side in (link.left, link.right) if side is not None] if signs else []
    return any(isinstance(node, Binary) and node.op in signs for side in sides for node in walk(side))
