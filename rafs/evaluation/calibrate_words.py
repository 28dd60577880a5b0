"""What a verifier says of traces that it did not learn from, where the verifier in a run learned from them.

On what it was trained on a verifier looks better than it is, and so would every threshold. Cross-validation gives its
word on each trace from a fit that did not see the problem: one JSON object a line, `id` of the trace and `p`, a
probability for each labelled step, null where the word of the run stays.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rafs.errors import InputError
from rafs.evaluation.families import Item


class Words(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    p: tuple[Annotated[float, Field(ge=0, le=1)] | None, ...]


def read_words(path: Path) -> list[Words]:
    """Read the lines of a file.

    Raises:
        InputError: It cannot be read, or a line is something else.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
        return [Words.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        allowed = "lines with id and p"
        raise InputError(f"--words {path}: {error}", field="--words", got=str(path), allowed=allowed) from error


def with_words(items: Sequence[Item], member: str, words: Sequence[Words]) -> tuple[list[Item], int]:
    """Put the words of a verifier in the place of those of the run.

    Args:
        items: Of the run.
        member: Name of the verifier in the ledger.
        words: Of any traces; those of others than the run's are left alone.

    Returns:
        The items, and the number of traces whose words were put in.

    Raises:
        InputError: A line has another number of steps than its trace.
    """
    by_id = {one.id: one.p for one in words}
    changed, count = [], 0
    for item in items:
        new, record = by_id.get(item.trace.id), item.record
        if new is None or record is None:
            changed.append(item)
            continue
        row = record.members.get(member, (None,) * len(record.q))
        if len(new) != len(row):
            got, allowed = f"{len(new)} steps of trace {item.trace.id!r}", f"{len(row)}"
            raise InputError(f"--words: got {got}, allowed {allowed}", field="--words", got=got, allowed=allowed)
        said = tuple(old if p is None else p for old, p in zip(row, new, strict=True))
        changed.append(replace(item, record=replace(record, members={**record.members, member: said})))
        count += 1
    return changed, count
