"""The oracle of instructions: a text keeps its rules, or it does not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rafs.config_file import load_config
from rafs.errors import InputError
from rafs.limits import MAX_RULES
from rafs.types import Truth
from verifiers.oracles.counted_rules import (
    BulletList,
    CapitalWords,
    Characters,
    Highlights,
    Letter,
    Lines,
    NumberedList,
    Occurs,
    Paragraphs,
    Placeholders,
    Sections,
    Sentences,
    Words,
)
from verifiers.oracles.oracle import Decision, all_hold, is_too_long
from verifiers.oracles.wording_rules import (
    EndsWith,
    Excludes,
    Includes,
    Json,
    LowerCase,
    NoCommas,
    Postscript,
    Quoted,
    StartsWith,
    Title,
    TitleCase,
    UpperCase,
)

Rule = Annotated[
    Words
    | Sentences
    | Paragraphs
    | Characters
    | Lines
    | Sections
    | BulletList
    | NumberedList
    | Highlights
    | Placeholders
    | Title
    | TitleCase
    | Json
    | Includes
    | Excludes
    | Occurs
    | Letter
    | UpperCase
    | LowerCase
    | CapitalWords
    | StartsWith
    | EndsWith
    | Quoted
    | NoCommas
    | Postscript,
    Field(discriminator="rule"),
]
Rules = Annotated[tuple[Rule, ...], Field(min_length=1, max_length=MAX_RULES)]
_RULES: TypeAdapter[tuple[Rule, ...]] = TypeAdapter(Rules)


class RuleFile(BaseModel):
    """A YAML or JSON file of rules."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: Rules


class InstructionOracle:
    """A text is right if it keeps every rule, and wrong if it breaks one."""

    name = "oracle:instructions"

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Keep the rules."""
        self._rules = rules

    def decide(self, problem: str, text: str) -> Decision:
        """Decide by the rules; see `oracle.Oracle`."""
        if (refusal := is_too_long(text)) is not None:
            return refusal
        return all_hold((_decide(rule, text) for rule in self._rules), "no rule")


_SAYS = {Truth.TRUE: "is kept", Truth.FALSE: "is broken", Truth.UNKNOWN: "is kept or broken as one counts"}


def _decide(rule: Rule, text: str) -> Decision:
    truth = rule.check(text)
    return Decision(truth=truth, reason=f"rule {rule.rule} {_SAYS[truth]}")


def load_rules(path: Path) -> tuple[Rule, ...]:
    """Read the rules of a file: `rules:` and a list, in YAML or JSON.

    Raises:
        ConfigError: The file is wrong; the message says where and what is allowed.
    """
    return load_config(path, RuleFile).rules


def parse_rules(content: object) -> tuple[Rule, ...]:
    """Return the rules of a list of JSON objects.

    Raises:
        InputError: It is none.
    """
    try:
        return _RULES.validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(["rules", *map(str, first["loc"])])
        got = repr(first["input"])[:80]
        message = f"{place}: got {got}, allowed: {first['msg']}"
        raise InputError(message, field=place, got=got, allowed=first["msg"]) from error
