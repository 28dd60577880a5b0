"""Rows of a data file, read one at a time, each with the place to name in an error."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rafs.errors import ConfigError, InputError
from rafs.evaluation.libraries import pyzipper

MAX_ROW_CHARS = 16_000_000
"""No published trace comes near it; a file that is one endless line must not fill the memory."""
MAX_ARRAY_BYTES = 512_000_000
"""A JSON array is read as a whole; larger ones have to be written one object a line."""
SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record of a file."""

    place: str
    """`traces.jsonl:17`, for the error."""
    file: str
    """Name without folder and ending: the subset of formats whose rows do not name one."""
    number: int
    """1-based position in the file."""
    fields: Mapping[str, object]

    def refuse(self, field: str, got: object, allowed: str) -> InputError:
        """Return the error that says what is wrong with a field."""
        shown = json.dumps(got, ensure_ascii=False, default=str)
        shown = shown if len(shown) <= SHOWN_CHARS else shown[:SHOWN_CHARS] + "..."
        return InputError(
            f"{self.place}: {field} is {shown}, allowed: {allowed}", field=field, got=shown, allowed=allowed
        )


def read_rows(path: Path, password: str | None = None) -> Iterator[Row]:
    """Read a `.jsonl`, `.json` or `.csv` file, or every such file inside a `.zip`, row by row.

    Nothing of an archive is written to disk.

    Raises:
        InputError: A row is no object, or the file is of no kind that is read here; with its line.
        ConfigError: The archive is encrypted and the password wrong, or `pyzipper` is not installed.
    """
    try:
        if path.suffix == ".zip":
            yield from _read_archive(path, password)
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from _read_text(file, path.name, path.stat().st_size)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise InputError(message, field="path", got=str(path), allowed="a readable file in UTF-8") from error


def _read_archive(path: Path, password: str | None) -> Iterator[Row]:
    library = pyzipper()
    try:
        archive = library.AESZipFile(path)
    except library.BadZipFile as error:
        raise _broken(path.name, str(error)) from error
    with archive:
        for entry in archive.infolist():
            if Path(entry.filename).suffix not in READERS:
                continue
            try:
                stream = archive.open(entry, pwd=password.encode() if password else None)
            except RuntimeError as error:
                hint = "give its password with --password or RAFS_ARCHIVE_PASSWORD"
                raise ConfigError(f"{path.name} cannot be opened: {error}; {hint}") from error
            with stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as file:
                yield from _read_text(file, Path(entry.filename).name, entry.file_size)


def _read_text(file: IO[str], name: str, n_bytes: int) -> Iterator[Row]:
    suffix = Path(name).suffix
    if suffix not in READERS:
        raise InputError(
            f"{name}: files of this kind are not read",
            field="path",
            got=suffix,
            allowed=", ".join((*READERS, ".zip")),
        )
    if suffix != ".csv" and _starts_with_bracket(file):
        yield from _read_array(file, name, n_bytes)
    else:
        yield from READERS[suffix](file, name)


def _starts_with_bracket(file: IO[str]) -> bool:
    while (char := file.read(1)).isspace():
        pass
    file.seek(0)
    return char == "["


def _read_lines(file: IO[str], name: str) -> Iterator[Row]:
    number = 0
    for line_number, line in enumerate(iter(lambda: file.readline(MAX_ROW_CHARS + 1), ""), 1):
        if not line.strip():
            continue
        number += 1
        place = f"{name}:{line_number}"
        if len(line) > MAX_ROW_CHARS:
            raise _broken(place, f"a line of more than {MAX_ROW_CHARS} characters")
        try:
            fields = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise _broken(place, f"{line[:SHOWN_CHARS]!r} ({error})") from error
        yield _row(fields, place, name, number)


def _read_array(file: IO[str], name: str, n_bytes: int) -> Iterator[Row]:
    if n_bytes > MAX_ARRAY_BYTES:
        raise _broken(name, f"a JSON array of {n_bytes} bytes; at most {MAX_ARRAY_BYTES} are read")
    try:
        items = json.load(file)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _broken(name, str(error)) from error
    for number, fields in enumerate(items, 1):
        yield _row(fields, f"{name}, item {number}", name, number)


def _read_table(file: IO[str], name: str) -> Iterator[Row]:
    csv.field_size_limit(MAX_ROW_CHARS)
    reader = csv.DictReader(file)
    try:
        for number, fields in enumerate(reader, 1):
            place = f"{name}:{reader.line_num}"
            if None in fields or None in fields.values():
                raise _broken(place, "a row with another number of columns than the header")
            yield _row(fields, place, name, number)
    except csv.Error as error:
        raise _broken(f"{name}:{reader.line_num}", str(error)) from error


READERS = {".jsonl": _read_lines, ".json": _read_lines, ".csv": _read_table}


def _row(fields: object, place: str, name: str, number: int) -> Row:
    if not isinstance(fields, dict):
        raise _broken(place, json.dumps(fields)[:SHOWN_CHARS])
    return Row(place=place, file=Path(name).stem, number=number, fields=fields)


def _broken(place: str, got: str) -> InputError:
    allowed = "one JSON object a line, a JSON array of objects, or a CSV table with a header"
    return InputError(f"{place}: got {got}, allowed: {allowed}", field="row", got=got, allowed=allowed)
