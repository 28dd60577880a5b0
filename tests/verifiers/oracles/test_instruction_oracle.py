"""Each of the 25 rules is kept by one text, broken by another, and left open where people count differently."""

from pathlib import Path
from typing import Any, get_args

import pytest

from rafs.errors import ConfigError, InputError
from rafs.types import Truth
from verifiers.oracles.instructions import InstructionOracle, Rule, load_rules, parse_rules
from verifiers.oracles.text_counts import Count, count_sentences, count_words

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"rule": "words", "at_most": 3}, "Clay dries slowly.", "Clay dries very slowly."),
    ({"rule": "sentences", "at_least": 2}, "Clay dries. It cracks!", "Clay dries."),
    ({"rule": "paragraphs", "at_least": 2, "at_most": 2}, "Clay dries.\n\nIt cracks.", "Clay dries.\nIt cracks."),
    ({"rule": "characters", "at_most": 5}, " clay \n", "clay pot"),
    ({"rule": "lines", "at_least": 2}, "clay\n\npot", "clay pot"),
    ({"rule": "sections", "mark": "PART", "at_least": 2}, "PART 1\nclay\nPART 2\npots", "PART 1\nPARTLY clay"),
    ({"rule": "bullet_list", "at_least": 2, "at_most": 2}, "- clay\n* pots", "- clay\n- pots\n- kiln"),
    ({"rule": "numbered_list", "at_least": 2}, "1. clay\n2) pots", "1. clay\n2.5 pots"),
    ({"rule": "highlights", "at_least": 2}, "*clay* and **pots**", "*clay* and 2 * 3 * 4"),
    ({"rule": "placeholders", "at_most": 1}, "Dear [name], see [here](http://clay)", "Dear [name] of [town]"),
    ({"rule": "title"}, "<<On clay>>\nIt dries.", "<On clay>\nIt dries."),
    ({"rule": "title_case"}, "The Art of Half-dry Clay", "The art of Clay"),
    ({"rule": "json"}, '```json\n{"clay": [1, 2.5]}\n```', "{'clay': 1}"),
    ({"rule": "includes", "phrases": ["clay", "kiln"]}, "Clay in a kiln.", "Clay in an oven."),
    ({"rule": "excludes", "phrases": ["glaze"]}, "Clay in a kiln.", "Glaze it."),
    ({"rule": "occurs", "phrase": "clay", "at_least": 2, "at_most": 2}, "Clay on clay.", "Clay, clay and clay."),
    ({"rule": "letter", "letter": "k", "at_least": 2}, "Kick.", "kiln"),
    ({"rule": "upper_case"}, "CLAY 1!", "CLAY pots"),
    ({"rule": "lower_case"}, "clay 1!", "clay Pots"),
    ({"rule": "capital_words", "at_most": 1}, "A KILN for clay", "A HOT KILN"),
    ({"rule": "starts_with", "phrase": "First,"}, "first, wedge it.", "Wedge it first,"),
    ({"rule": "ends_with", "phrase": "That is all."}, "Fire it. That is all.\n", "That is all. Bye"),
    ({"rule": "quoted"}, '"Fire it."', 'Fire "it".'),
    ({"rule": "no_commas"}, "Wedge it and fire it.", "Wedge it, fire it."),
    ({"rule": "postscript"}, "Fire it.\n\nP.S. Glaze it.", "P.S. Glaze it."),
]
OPEN: list[tuple[dict[str, Any], str]] = [
    ({"rule": "words", "at_most": 3}, "A well-known clay"),
    ({"rule": "words", "at_most": 3}, "粘土は乾く"),
    ({"rule": "sentences", "at_most": 1}, "Ask Dr. Clay about it."),
    ({"rule": "sentences", "at_most": 2}, "Clay dries\nIt cracks\nIt breaks"),
    ({"rule": "includes", "phrases": ["clay"]}, "Clayey soil."),
    ({"rule": "excludes", "phrases": ["clay"]}, "Clayey soil."),
    ({"rule": "upper_case"}, "12 + 3"),
    ({"rule": "lower_case"}, "粘土"),
    ({"rule": "title_case"}, "12"),
    ({"rule": "quoted"}, '"Fire it" is not "glaze it"'),
    ({"rule": "json"}, "[" * 100_000),
]
ids = [case[0]["rule"] for case in CASES]


def decide(rule: dict[str, Any], text: str) -> Truth:
    return InstructionOracle(parse_rules([rule])).decide("", text).truth


def test_there_are_25_rules_and_each_has_a_case() -> None:
    assert len(set(ids)) == len(ids) == len(get_args(get_args(Rule)[0])) == 25


@pytest.mark.parametrize(("rule", "kept", "broken"), CASES, ids=ids)
def test_a_rule_is_kept(rule: dict[str, Any], kept: str, broken: str) -> None:
    assert decide(rule, kept) is Truth.TRUE


@pytest.mark.parametrize(("rule", "kept", "broken"), CASES, ids=ids)
def test_a_rule_is_broken(rule: dict[str, Any], kept: str, broken: str) -> None:
    assert decide(rule, broken) is Truth.FALSE


@pytest.mark.parametrize(("rule", "text"), OPEN, ids=[f"{rule['rule']} {n}" for n, (rule, _) in enumerate(OPEN)])
def test_what_people_count_differently_is_left_open(rule: dict[str, Any], text: str) -> None:
    assert decide(rule, text) is Truth.UNKNOWN


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", Count(low=0, high=0)),
        ("It is 3.5 m long. It holds!", Count(low=2, high=2)),
        ("See p. 7 of it. Done", Count(low=2, high=3)),
        ("粘土は乾く。割れる。", Count(low=2, high=2)),
        ("Really?! Yes...", Count(low=2, high=2)),
    ],
)
def test_sentences_are_counted_between_bounds(text: str, count: Count) -> None:
    assert count_sentences(text) == count


def test_a_word_with_a_hyphen_is_one_or_two() -> None:
    assert count_words("a half-dry pot") == Count(low=3, high=4)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        pytest.param([], "rules", id="none"),
        pytest.param([{"rule": "words", "most": 3}], "rules.0.words.most", id="unknown key"),
        pytest.param([{"rule": "rhymes"}], "rules.0", id="unknown rule"),
        pytest.param([{"rule": "letter", "letter": "ab"}], "rules.0.letter.letter", id="two letters"),
        pytest.param([{"rule": "includes", "phrases": [" "]}], "rules.0.includes.phrases.0", id="blank phrase"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_place(content: object, place: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_rules(content)
    assert refused.value.field == place


def test_rules_are_read_from_yaml_and_from_json(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules:\n  - rule: words\n    at_most: 3\n")
    (tmp_path / "rules.json").write_text('{"rules": [{"rule": "words", "at_most": 3}]}')
    assert load_rules(tmp_path / "rules.yaml") == load_rules(tmp_path / "rules.json")


def test_a_file_with_a_wrong_rule_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("rules:\n  - rule: words\n    most: 3\n")
    with pytest.raises(ConfigError, match="most"):
        load_rules(tmp_path / "rules.yaml")


def test_a_broken_rule_is_named() -> None:
    rules = parse_rules([{"rule": "no_commas"}, {"rule": "title"}])
    assert InstructionOracle(rules).decide("", "Wedge it.").reason == "rule title is broken"
