"""Grades by people of the flaws that a run named: a file to be filled in, and read when the run is reported again."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from rafs.evaluation.families import Item
from rafs.evaluation.flaw_families import FlawId, described
from rafs.evaluation.named_flaws import described_flaws
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import read_rows

FILE = "flaws.jsonl"


class PersonsGrade(RowModel):
    """A row of the file; its texts are for the reader alone."""

    id: str
    step: int | None = None
    equivalent: bool | None = None
    """Whether the flaw that was named is the expert's; None until somebody has said so."""


def read_grades(path: Path) -> dict[FlawId, bool]:
    """Return what people said, by flaw; nothing where there is no file yet.

    Raises:
        InputError: A row is wrong; with its line.
    """
    found: dict[FlawId, bool] = {}
    for row in read_rows(path) if path.exists() else ():
        try:
            grade = PersonsGrade.model_validate(row.fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise row.refuse(".".join(map(str, first["loc"])), first["input"], first["msg"]) from error
        if grade.equivalent is not None:
            found[grade.id, grade.step] = grade.equivalent
    return found


def to_be_graded(items: Sequence[Item], known: dict[FlawId, bool], *, with_texts: bool) -> str:
    """Return the file for people: a line for each flaw that was named, with what they have said already."""
    lines: list[str] = []
    for item, flaw in described(items):
        if flaw.flagged and flaw.p_same is not None:
            notes = dict(described_flaws(item.trace))
            texts = {"by_expert": notes.get(flaw.step), "named": flaw.text} if with_texts else {}
            grade = known.get((item.trace.id, flaw.step))
            row = {"id": item.trace.id, "step": flaw.step, **texts, "equivalent": grade}
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(lines)
