"""Made-up requests: a reply that keeps a rule, and one that breaks it."""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from verifiers.oracles.audit_items import Made, make
from verifiers.oracles.instructions import InstructionOracle, parse_rules

SENTENCES = (
    "The ferry leaves at noon.",
    "Our baker opens before dawn.",
    "A fox crossed the lower field.",
    "The old bridge hums in the wind.",
    "Snow fell on the quiet harbour.",
    "My aunt repairs brass clocks.",
    "The orchard smells of rain.",
    "Two swans sleep near the mill.",
    "The lamp in the tower still burns.",
    "Fresh bread cools on the sill.",
)
_Case = tuple[dict[str, Any], str, str, str]
"""Fields of the rule, how it is asked for, a text that keeps it and one that breaks it."""


def _joined(sentences: Sequence[str], by: str = " ") -> str:
    return by.join(sentences)


def _listed(sentences: Sequence[str], mark: str) -> str:
    return "\n".join(mark.format(number) + text for number, text in enumerate(sentences, 1))


CASES: Mapping[str, Callable[[Sequence[str]], _Case]] = {
    "words": lambda s: ({"at_most": 14}, "in at most 14 words", _joined(s[:2]), _joined(s[:5])),
    "sentences": lambda s: ({"at_most": 2}, "in at most two sentences", _joined(s[:2]), _joined(s[:4])),
    "paragraphs": lambda s: (
        {"at_least": 2, "at_most": 2},
        "in two paragraphs parted by a blank line",
        _joined(s[:2], "\n\n"),
        _joined(s[:3], "\n\n"),
    ),
    "characters": lambda s: ({"at_most": 80}, "in at most 80 characters", _joined(s[:2]), _joined(s[:5])),
    "lines": lambda s: ({"at_least": 3, "at_most": 3}, "in three lines", _joined(s[:3], "\n"), _joined(s[:5], "\n")),
    "sections": lambda s: (
        {"mark": "SECTION", "at_least": 2, "at_most": 2},
        "in two sections that each open with a line SECTION and a number",
        _listed(s[:2], "SECTION {}\n"),
        _listed(s[:4], "SECTION {}\n"),
    ),
    "bullet_list": lambda s: (
        {"at_least": 3, "at_most": 3},
        "as a list of three bullet points that begin with a dash",
        _listed(s[:3], "- "),
        _joined(s[:3], "\n"),
    ),
    "numbered_list": lambda s: (
        {"at_least": 3, "at_most": 3},
        "as a numbered list of three points",
        _listed(s[:3], "{}. "),
        _listed(s[:3], "- "),
    ),
    "highlights": lambda s: ({}, "with one sentence *between stars*", f"*{s[0]}* {s[1]}", _joined(s[:2])),
    "placeholders": lambda s: ({}, "with a [placeholder] for the date", f"[date] {s[0]}", f"Today {s[0]}"),
    "title": lambda s: ({}, "under a title <<between such marks>>", f"<<{s[0]}>>\n{s[1]}", _joined(s[:2], "\n")),
    "title_case": lambda s: ({}, "as a headline In Which Every Word Is Capitalised", s[0].title(), s[0]),
    "json": lambda s: ({}, "as a JSON list of texts", json.dumps(s[:2]), _joined(s[:2], "\n")),
    "includes": lambda s: ({"phrases": ["meanwhile"]}, "using the word meanwhile", f"Meanwhile {s[0]}", s[0]),
    "excludes": lambda s: ({"phrases": ["meanwhile"]}, "without the word meanwhile", s[0], f"Meanwhile {s[0]}"),
    "occurs": lambda s: (
        {"phrase": "gently", "at_least": 2, "at_most": 2},
        "using the word gently exactly twice",
        f"Gently {s[0]} Gently {s[1]}",
        f"Gently {s[0]} {s[1]}",
    ),
    "letter": lambda s: ({"letter": "z", "at_least": 2}, "with two letters z", f"Dazzling: {s[0]}", s[0]),
    "upper_case": lambda s: ({}, "in capital letters alone", s[0].upper(), s[0]),
    "lower_case": lambda s: ({}, "in small letters alone", s[0].lower(), s[0]),
    "capital_words": lambda s: (
        {"at_least": 1, "at_most": 1},
        "with exactly one word in capitals",
        f"LOOK! {s[0]}",
        f"LOOK HERE! {s[0]}",
    ),
    "starts_with": lambda s: ({"phrase": "Listen"}, "beginning with the word Listen", f"Listen: {s[0]}", s[0]),
    "ends_with": lambda s: ({"phrase": "The end."}, "ending in: The end.", f"{s[0]} The end.", f"The end. {s[0]}"),
    "quoted": lambda s: ({}, "all of it between double quotes", f'"{s[0]}"', s[0]),
    "no_commas": lambda s: ({}, "without any comma", _joined(s[:2]), _joined([s[0][:-1], s[1]], ", ")),
    "postscript": lambda s: ({}, "with a postscript that opens with P.S.", f"{s[0]}\nP.S. {s[1]}", _joined(s[:2])),
}


def make_instructions(n: int, seed: int) -> list[Made]:
    """Return n requests over the 25 rules."""
    return make([(name, _maker(name)) for name in CASES], n, seed, lambda made: oracle_of(made.domain))


def _maker(name: str) -> Callable[[Random], Made]:
    def draw(random: Random) -> Made:
        _, asked, right, wrong = CASES[name](random.sample(SENTENCES, len(SENTENCES)))
        return Made(domain=name, problem=f"Describe a quiet morning {asked}.", right=right, wrong=wrong)

    return draw


def oracle_of(name: str) -> InstructionOracle:
    """Return the oracle of a made request, by the rule that it asks for."""
    return InstructionOracle(parse_rules([{"rule": name, **CASES[name](SENTENCES)[0]}]))
