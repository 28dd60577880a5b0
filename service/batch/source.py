"""The rows of log files, one at a time, from any place on: what is behind it is never read again."""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic_core import from_json

from rafs.errors import InputError
from service.batch.libraries import arrow, parquet
from service.request_body import Fault
from service.visible import show_text, show_value

MAX_LINE_BYTES = 16 << 20
"""Of one row; a longer one is refused and passed over."""
MAX_DOCUMENT_BYTES = 64 << 20
"""A `.json` file is read as a whole; larger logs have to be written one object a line."""
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
ENDINGS = (*LINES, ".json", ".parquet")
PARQUET_ROWS = 64
"""Rows of a Parquet file in memory at once."""
BLOCK = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Between two rows."""

    file: int = 0
    offset: int = 0
    """Bytes of a file of lines, unpacked; rows of any other."""
    line: int = 0
    """Of the row before it, 1-based."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a file: its fields, or why it cannot be read."""

    file: int
    """Place in the list of files."""
    name: str
    number: int
    """1-based line of a file of lines, row of any other."""
    row: Mapping[str, object] | Fault
    after: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """A file of rows."""

    name: str
    """Below the folder that was named."""
    path: Path
    size: int


def find_files(path: Path, without: Path | None = None) -> list[LogFile]:
    """Return the log files that an argument names: itself, or those below a folder, by name.

    Args:
        path: A file or folder.
        without: A folder below it that is left out: where results go.

    Raises:
        InputError: There is none, or it is of another kind.
    """
    allowed = f"a file that ends in {', '.join(ENDINGS)}, or a folder with some"
    try:
        if not path.is_dir():
            if not path.name.endswith(ENDINGS):
                raise _refuse(path, "a file of another kind", allowed)
            return [LogFile(name=path.name, path=path, size=path.stat().st_size)]
        found = sorted(one for one in path.rglob("*") if one.name.endswith(ENDINGS) and one.is_file())
        kept = [one for one in found if without is None or not one.resolve().is_relative_to(without.resolve())]
        if not kept:
            raise _refuse(path, "a folder without any", allowed)
        return [LogFile(name=one.relative_to(path).as_posix(), path=one, size=one.stat().st_size) for one in kept]
    except OSError as error:
        raise _refuse(path, error.strerror or str(error), allowed) from error


def read_lines(files: Sequence[LogFile], since: Position) -> Iterator[Line]:
    """Yield the rows behind a position, in order; empty lines are none.

    Raises:
        InputError: A file cannot be read, or is no Parquet file.
        ConfigError: pyarrow is not installed.
    """
    for index in range(since.file, len(files)):
        begin = since if index == since.file else Position(file=index)
        file = files[index]
        try:
            for number, row, offset in _rows(file, begin):
                after = Position(file=index, offset=offset, line=number)
                yield Line(file=index, name=file.name, number=number, row=row, after=after)
        except (OSError, EOFError, zlib.error) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise _refuse(file.path, why, "a file that can be read to its end") from error


def count_rows(files: Sequence[LogFile]) -> int:
    """Return about how many rows there are, by the ends of lines."""
    return sum(_count(file) for file in files)


Numbered = tuple[int, Mapping[str, object] | Fault, int]
"""Number of a row, the row, and the offset behind it."""


def _rows(file: LogFile, begin: Position) -> Iterator[Numbered]:
    if file.name.endswith(".parquet"):
        return _read_parquet(file, begin)
    return _read_document(file, begin) if file.name.endswith(".json") else _read_text(file, begin)


def _open(file: LogFile) -> IO[bytes]:
    return gzip.open(file.path, "rb") if file.name.endswith(".gz") else file.path.open("rb")  # type: ignore[return-value]


def _read_text(file: LogFile, begin: Position) -> Iterator[Numbered]:
    with _open(file) as stream:
        offset, number = stream.seek(begin.offset), begin.line
        while line := stream.readline(MAX_LINE_BYTES + 1):
            number += 1
            offset += len(line)
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                while rest := stream.readline(BLOCK):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        break
                yield number, Fault(field="row", got="a longer line", allowed=f"{MAX_LINE_BYTES} bytes a line"), offset
            elif (text := line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).strip():
                yield number, parse_row(text), offset


def _read_document(file: LogFile, begin: Position) -> Iterator[Numbered]:
    if file.size > MAX_DOCUMENT_BYTES:
        allowed = f"at most {MAX_DOCUMENT_BYTES} bytes; write one object a line into a .jsonl file"
        raise _refuse(file.path, f"a JSON file of {file.size} bytes", allowed)
    content = file.path.read_bytes().removeprefix(BYTE_ORDER_MARK)
    try:
        found = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        allowed = "one JSON object or list; a file with one object a line has to end in .jsonl"
        yield 1, Fault(field="row", got=f"no JSON: {show_text(str(error))}", allowed=allowed), 1
        return
    rows = found if isinstance(found, list) else [found]
    for number, row in enumerate(rows[begin.offset :], begin.offset + 1):
        yield number, _checked(row), number


def _read_parquet(file: LogFile, begin: Position) -> Iterator[Numbered]:
    library = parquet()
    try:
        with library.ParquetFile(file.path, buffer_size=BLOCK, pre_buffer=False) as table:
            first, skipped = 0, 0
            while first < table.num_row_groups:
                n_rows = table.metadata.row_group(first).num_rows
                if skipped + n_rows > begin.offset:
                    break
                first, skipped = first + 1, skipped + n_rows
            groups = range(first, table.num_row_groups)
            number = skipped
            for batch in table.iter_batches(batch_size=PARQUET_ROWS, row_groups=list(groups)):
                for row in batch.to_pylist():
                    number += 1
                    if number > begin.offset:
                        yield number, _checked(row), number
    except arrow().ArrowException as error:
        raise _refuse(file.path, "no Parquet file", "a Parquet file") from error


def parse_row(text: bytes) -> Mapping[str, object] | Fault:
    """Return the object that a line holds, or what is wrong with it."""
    try:
        return _checked(from_json(text, allow_inf_nan=False))
    except ValueError as error:
        return Fault(field="row", got=f"no JSON: {show_text(str(error))}", allowed="a JSON object a line, in UTF-8")


def _checked(row: object) -> Mapping[str, object] | Fault:
    return row if isinstance(row, dict) else Fault(field="row", got=show_value(row), allowed="a JSON object")


def _count(file: LogFile) -> int:
    if file.name.endswith(".parquet"):
        with parquet().ParquetFile(file.path) as table:
            return int(table.metadata.num_rows)
    if file.name.endswith(".json"):
        return sum(1 for _ in _read_document(file, Position()))
    with _open(file) as stream:
        n_ends, last = 0, b"\n"
        while block := stream.read(BLOCK):
            n_ends, last = n_ends + block.count(b"\n"), block[-1:]
        return n_ends + (last != b"\n")


def _refuse(path: Path, got: str, allowed: str) -> InputError:
    shown = show_text(str(path), None)
    message = f"{shown}: got {got}, allowed: {allowed}"
    return InputError(message, field="FILE", got=got, allowed=allowed)
