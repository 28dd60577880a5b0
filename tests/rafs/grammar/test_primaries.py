"""The quick look at the first word of an operand turns nothing away that the parser would read."""

import pkgutil
from collections.abc import Collection, Iterator
from importlib import import_module

import pytest

from rafs import grammar
from rafs.grammar.lexing import lex
from rafs.grammar.parsing import parse_at
from rafs.grammar.primaries import may_begin
from rafs.grammar.tokens import Kind, Token

ENDINGS = (" 5", " of 5", " of 4 and 6", "(5)", "(4, 6)", " 4 by 6", " 4 and 6", "_2(8)", " from 4 to 5", "")


def vocabulary() -> Iterator[str]:
    """Yield every word that stands in a table of the grammar."""
    for module in pkgutil.iter_modules(grammar.__path__):
        for table in vars(import_module(f"rafs.grammar.{module.name}")).values():
            if isinstance(table, Collection) and not isinstance(table, str | bytes):
                words = (part for one in table for part in (one if isinstance(one, tuple) else (one,)))
                yield from (word for one in words if isinstance(one, str) for word in one.split())


WORDS = sorted({word for word in vocabulary() if word.isascii() and word.isalpha()})


def is_read(text: str) -> bool:
    tokens = lex(text)
    parsed = parse_at(tokens, 0, frozenset(["total"]))
    return parsed is not None and parsed.end == len(tokens)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_read_in_brackets_is_read_alone(ending: str) -> None:
    assert len(WORDS) > 500
    for word in WORDS:
        for phrase in (f"{word}{ending}", f"the {word}{ending}", f"a {word}{ending}"):
            assert not is_read(f"({phrase})") or is_read(phrase)


def begins(*words: str) -> bool:
    tokens = [Token(Kind.WORD, word, 0, len(word), spaced=True) for word in words]
    return may_begin(tokens, 0, frozenset(["total"]))


@pytest.mark.parametrize("words", ["apples", "Therefore", "was", "so", "altogether", "the price", "a box", "An egg"])
def test_plain_words_are_turned_away_at_once(words: str) -> None:
    assert not begins(*words.split())


@pytest.mark.parametrize(
    "words",
    ["x", "x1", "x_max", "total", "twice", "The", "An", "log10", "gcd", "infinity", "pi", "the sum", "an average"],
)
def test_names_functions_and_phrases_may_begin(words: str) -> None:
    assert begins(*words.split())
