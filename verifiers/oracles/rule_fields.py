"""What the rules are made of: how one is declared, and the bounds of its fields."""

from dataclasses import field
from typing import Annotated, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

MAX_COUNT = 100_000
"""A text has no more characters."""
MAX_PHRASE_CHARS = 200
MAX_PHRASES = 50

Least = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Most = Annotated[int, Field(ge=0, le=MAX_COUNT)] | None
Phrase = Annotated[str, Field(min_length=1, max_length=MAX_PHRASE_CHARS, pattern=r"\S")]
Phrases = Annotated[tuple[Phrase, ...], Field(min_length=1, max_length=MAX_PHRASES)]

Declared = TypeVar("Declared")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def a_rule(declared: type[Declared]) -> type[Declared]:
    """Make a frozen keyword-only dataclass whose fields are checked, and that takes no other."""
    checked = dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))(declared)
    return cast("type[Declared]", checked)
