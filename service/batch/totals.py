"""What became of a batch: counts for the summary, and its errors as a file."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import Select, func, select

from service.batch.index import SECONDS, BatchIndex, Cursor
from service.batch.outcome import RETRYABLE, Kind
from service.batch.tables import failure, item, line, pending, result

ERRORS = "errors.jsonl"
SUMMARY = "summary.json"


class CommonError(BaseModel):
    """What most of the failed rows have in common."""

    message: str = Field(description="As it stands in `errors.jsonl`.")
    rows: int


class Totals(BaseModel):
    """Counts of a batch; those by status, outcome and error count rows, duplicates included."""

    complete: bool = Field(description="Whether every row was read and nothing waits.")
    rows: int = Field(description="Rows read.")
    scored: int
    failed: int
    left_out: dict[str, int] = Field(description="Rows that are no model's replies, by reason.")
    waiting: int = Field(description="Items that are still to be scored.")
    distinct: int = Field(description="Different requests; each is scored once.")
    duplicates: int = Field(description="Rows that ask what a row before them asked.")
    status: dict[str, int]
    outcome: dict[str, int]
    errors: dict[str, int]
    most_frequent_error: CommonError | None = Field(description="None where no row failed.")
    retryable: int = Field(description="Failed items that `--retry-errors` tries again.")
    tokens: int = Field(description="That went through models.")
    seconds: float = Field(description="Of all runs over this batch together.")
    rows_per_second: float | None


def count_totals(index: BatchIndex, cursor: Cursor) -> Totals:
    """Count what became of a batch so far."""
    with index.connection.begin():
        one, grouped = index.connection.scalar, index.connection.execute
        n_lines = one(select(func.count()).select_from(line)) or 0
        distinct = one(select(func.count()).select_from(item)) or 0
        waiting = one(select(func.count()).select_from(pending)) or 0
        duplicates = one(select(func.count()).where(line.c.item != line.c.number)) or 0
        retryable = one(select(func.count()).where(failure.c.request.is_not(None))) or 0
        tokens = one(select(func.sum(result.c.tokens))) or 0
        status = _by(grouped(_count_by(result, result.c.status)))
        outcome = _by(grouped(_count_by(result, result.c.outcome)))
        errors = _by(grouped(_count_by(failure, failure.c.kind)))
        by_message = _count_by(failure, failure.c.message).order_by(None)
        common = grouped(by_message.order_by(func.count().desc(), func.min(line.c.number)).limit(1)).first()
    seconds = index.read_fact(SECONDS)
    spent = float(seconds) if isinstance(seconds, int | float) else 0.0
    scored = sum(status.values())
    return Totals(
        complete=cursor.ended and waiting == 0,
        rows=n_lines + sum(cursor.left_out.values()),
        scored=scored,
        failed=sum(errors.values()),
        left_out=dict(cursor.left_out),
        waiting=waiting,
        distinct=distinct,
        duplicates=duplicates,
        status=status,
        outcome=outcome,
        errors=errors,
        most_frequent_error=None if common is None else CommonError(message=common[0], rows=common[1]),
        retryable=retryable,
        tokens=tokens,
        seconds=round(spent, 3),
        rows_per_second=round(scored / spent, 2) if spent > 0 else None,
    )


def write_errors(index: BatchIndex, folder: Path, names: Sequence[str]) -> Path:
    """Write every row without a score into `errors.jsonl`, whole or not at all; an empty file where there is none."""
    path = folder / ERRORS
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in _errors(index, names))
    draft.replace(path)
    return path


def write_summary(folder: Path, content: dict[str, object]) -> Path:
    """Write `summary.json`, whole or not at all."""
    path = folder / SUMMARY
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    draft.replace(path)
    return path


def _errors(index: BatchIndex, names: Sequence[str]) -> Iterator[dict[str, object]]:
    columns = [line.c.number, line.c.file, line.c.place, line.c.id, line.c.item, failure.c.kind, failure.c.message]
    failed = select(*columns).join(failure, failure.c.number == line.c.item).order_by(line.c.number)
    with index.connection.begin():
        for row in index.connection.execute(failed.execution_options(yield_per=1_000)):
            yield {
                "row": row.number,
                "place": f"{names[row.file]}:{row.place}",
                "id": row.id,
                "duplicate_of": None if row.item == row.number else row.item,
                "problem": row.kind,
                "message": row.message,
                "retryable": Kind(row.kind) in RETRYABLE,
            }


def _count_by(table: Any, column: Any) -> Select[Any]:
    return select(column, func.count()).join(line, line.c.item == table.c.number).group_by(column).order_by(column)


def _by(rows: Any) -> dict[str, int]:
    return {str(name): int(count) for name, count in rows}
