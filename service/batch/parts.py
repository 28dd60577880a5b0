"""The results as numbered Parquet files, each written whole or not at all.

A part holds the scores of a fixed range of rows, in their order. It is a picture of the index, so that it can be made
again at any time: one that a kill cut short, or that lacks items which were tried again, is written anew.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Row, Select, func, insert, null, select

from rafs.errors import InputError
from service.batch.index import BatchIndex, Cursor, from_row
from service.batch.libraries import arrow, parquet
from service.batch.tables import item, line, part, pending, result

FOLDER = "results"
PART_ROWS = 10_000
"""Rows of the input that a part covers."""
COMPRESSION = "zstd"
BLANK_CHARS = 64
"""Of a text that is written to nowhere: as long as a hash in hex."""
ROWS_AT_ONCE = 1_000
FULL_ROWS_AT_ONCE = 50
"""Where whole responses, of tens of kilobytes each, are written."""


class Parts:
    """Writes the parts of a batch as they are complete."""

    def __init__(
        self, index: BatchIndex, folder: Path, names: Sequence[str], *, full: bool, rows: int = PART_ROWS
    ) -> None:
        """Keep where to write.

        Args:
            index: What the parts show.
            folder: Of the batch.
            names: Of the input's files.
            full: Write whole responses too.
            rows: Rows of the input that a part covers; the same for all of a batch.

        Raises:
            ConfigError: pyarrow is not installed.
        """
        self._index = index
        self._folder = folder / FOLDER
        self._names = names
        self._full = full
        self.rows = rows
        self._next = 0
        self._warm()

    def write_complete(self, cursor: Cursor, *, read_enough: bool) -> list[Path]:
        """Write every part that is complete and not written yet; return them.

        Args:
            cursor: How far the input is read.
            read_enough: Whether no more will be read now, so that the last part may be short.

        Raises:
            InputError: They cannot be written.
        """
        first_waiting = self._first_waiting()
        settled = cursor.n_rows if first_waiting is None else min(cursor.n_rows, first_waiting - 1)
        n_complete = settled // self.rows
        if read_enough and settled == cursor.n_rows:
            n_complete = -(-settled // self.rows)
        if n_complete <= self._next:
            return []
        self._next = n_complete
        return [self._write(number, cursor, is_final=True) for number in self._missing(n_complete)]

    def write_so_far(self, cursor: Cursor) -> list[Path]:
        """Write what is scored of the parts that are not complete; they are written again later. Errors as above."""
        return [self._write(number, cursor, is_final=False) for number in self._missing(-(-cursor.n_rows // self.rows))]

    def _warm(self) -> None:
        """Write a part of nothing to nowhere.

        So what is missing shows before hours of scoring, and what writing loads and keeps, some 20 MiB, is part of
        the memory that a batch begins with.
        """
        schema, some = self._schema(), range(self._rows_at_once)
        of_kind: dict[str, Callable[[int], object]] = {
            "int": int,
            "float": float,
            "text": f"{{:0{BLANK_CHARS}}}".format,
            "texts": lambda n: [str(n)] * 4,
        }
        rows = [{name: of_kind[COLUMNS[name]](n) for name in schema.names} for n in some]
        with parquet().ParquetWriter(arrow().BufferOutputStream(), schema, compression=COMPRESSION) as writer:
            for _ in range(0, self.rows, len(some)):
                writer.write_table(arrow().Table.from_pylist(rows, schema=schema))

    @property
    def _rows_at_once(self) -> int:
        return FULL_ROWS_AT_ONCE if self._full else ROWS_AT_ONCE

    def _missing(self, n: int) -> list[int]:
        with self._index.connection.begin():
            written = set(self._index.connection.scalars(select(part.c.number)))
        return [number for number in range(n) if number not in written]

    def _first_waiting(self) -> int | None:
        with self._index.connection.begin():
            first: int | None = self._index.connection.scalar(select(func.min(pending.c.number)))
        return first

    def _write(self, number: int, cursor: Cursor, *, is_final: bool) -> Path:
        path = self._folder / f"part-{number:05d}.parquet"
        draft = path.with_suffix(".draft")
        connection = self._index.connection
        try:
            self._folder.mkdir(exist_ok=True)
            with connection.begin():
                rows = connection.execute(self._rows_of(number))
                with parquet().ParquetWriter(draft, self._schema(), compression=COMPRESSION) as writer:
                    for some in rows.partitions(self._rows_at_once):
                        writer.write_table(self._table(some))
                _flush(draft)
                draft.replace(path)
                if is_final and (cursor.ended or (number + 1) * self.rows <= cursor.n_rows):
                    connection.execute(insert(part).values(number=number))
        except OSError as error:
            got = error.strerror or str(error)
            raise InputError(f"{path}: {got}", field="FILE", got=got, allowed="a folder that can be written") from error
        return path

    def _rows_of(self, number: int) -> Select[Any]:
        columns = [line.c.number, line.c.file, line.c.place, line.c.id, line.c.item]
        whole = result.c.response if self._full else null()
        chosen = select(*columns, item.c.hash, result.c.record, result.c.ms, whole.label("response"))
        return (
            chosen.join(item, item.c.number == line.c.item)
            .join(result, result.c.number == line.c.item)
            .where(line.c.number.between(number * self.rows + 1, (number + 1) * self.rows))
            .order_by(line.c.number)
        )

    def _table(self, rows: Sequence[Row[Any]]) -> Any:
        shown = [self._show(row) for row in rows]
        return arrow().Table.from_pylist(shown, schema=self._schema())

    def _show(self, row: Row[Any]) -> dict[str, object]:
        scored = from_row(row.record, row.response)
        record, is_first = scored.record, row.number == row.item
        return {
            "row": row.number,
            "place": f"{self._names[row.file]}:{row.place}",
            "id": row.id,
            "duplicate_of": None if is_first else row.item,
            **{name: getattr(record, name) for name in RECORDED},
            "reasons": list(record.reasons),
            "models": list(record.models),
            "tokens": record.tokens if is_first else 0,
            "ms": row.ms if is_first else 0.0,
            "request_hash": row.hash.hex(),
            "response": scored.response,
        }

    def _schema(self) -> Any:
        library = arrow()
        types: dict[str, Callable[[], Any]] = {
            "int": library.int64,
            "float": library.float64,
            "text": library.string,
            "texts": lambda: library.list_(library.string()),
        }
        columns = COLUMNS if self._full else {name: kind for name, kind in COLUMNS.items() if name != "response"}
        return library.schema([(name, types[kind]()) for name, kind in columns.items()])


COLUMNS = {
    "row": "int",
    "place": "text",
    "id": "text",
    "duplicate_of": "int",
    "status": "text",
    "outcome": "text",
    "reasoning": "text",
    "answer": "text",
    "score": "float",
    "interval_low": "float",
    "interval_high": "float",
    "suspect_step": "int",
    "reasons": "texts",
    "coverage": "float",
    "independence": "text",
    "tokens": "int",
    "ms": "float",
    "request_hash": "text",
    "rafs_version": "text",
    "config_hash": "text",
    "calibration": "text",
    "models": "texts",
    "response": "text",
}
"""Columns of the results and their types; tokens and ms are those that the row itself cost, 0 for a duplicate."""
RECORDED = (
    "status",
    "outcome",
    "reasoning",
    "answer",
    "score",
    "interval_low",
    "interval_high",
    "suspect_step",
    "coverage",
    "independence",
    "rafs_version",
    "config_hash",
    "calibration",
)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def written_parts(folder: Path) -> Iterator[Path]:
    """Yield the parts of a batch, in order."""
    yield from sorted((folder / FOLDER).glob("part-*.parquet"))
