"""Reading what the command line is given: files, folders, standard input."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rafs.errors import InputError
from rafs.request import ScoreRequest
from service.request_body import parse_request, to_request_error
from service.visible import show_text

STDIN = "-"
MAX_FILE_BYTES = 64 << 20
"""A record holds every text that a model wrote; a request is limited by its own fields."""


def expand(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the files to read: a folder stands for its `*.json`, by name.

    Raises:
        InputError: A folder has none, or standard input is named twice.
    """
    if arguments.count(STDIN) > 1:
        raise InputError("standard input can be read once", field="FILE", got="- twice", allowed="- once")
    for argument in arguments:
        folder = Path(argument)
        if argument == STDIN or not folder.is_dir():
            yield argument
            continue
        found = sorted(folder.glob("*.json"))
        if not found:
            message = f"{show_text(argument)} has no *.json file; name a file, or a folder with requests"
            raise InputError(message, field="FILE", got="an empty folder", allowed="a folder with *.json files")
        yield from map(str, found)


def read_bytes(name: str) -> bytes:
    """Return the content of a file, or of standard input for `-`.

    Raises:
        InputError: It cannot be read, or is too large.
    """
    try:
        if name == STDIN:
            content = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with Path(name).open("rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = error.strerror if isinstance(error, OSError) else str(error)
        message = f"{show_text(name)} cannot be read: {why}"
        raise InputError(message, field="FILE", got=show_text(name), allowed="a readable file") from error
    if len(content) > MAX_FILE_BYTES:
        message = f"{show_text(name)} has more than {MAX_FILE_BYTES} bytes, at most that many are read"
        raise InputError(message, field="FILE", got="a larger file", allowed=f"{MAX_FILE_BYTES} bytes", too_large=True)
    return content


def read_text(name: str) -> str:
    """Return the content of a UTF-8 file, without a byte order mark and otherwise unchanged.

    Raises:
        InputError: It cannot be read, is too large, or is no UTF-8.
    """
    try:
        return read_bytes(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{show_text(name)} is no UTF-8 text: byte {error.start} cannot be read; save it as UTF-8"
        raise InputError(message, field="FILE", got="other bytes", allowed="UTF-8 text") from error


def read_trace(name: str, instead: str) -> str:
    """Return the content of a file with a plain trace.

    Args:
        name: The file.
        instead: What to do where it is a JSON request, whose keys and quotes are no reasoning.

    Raises:
        InputError: It cannot be read as text, or is a JSON request.
    """
    text = read_text(name)
    try:
        is_request = "trace" in text and isinstance(found := json.loads(text), dict) and "trace" in found
    except (ValueError, RecursionError):
        is_request = False
    if is_request:
        message = f"{show_text(name)} is a JSON request with its own `trace`, not a plain trace: {instead}"
        raise InputError(message, field="FILE", got="a JSON request", allowed="a plain trace")
    return text


def text_or_file(value: str) -> str:
    """Return `value` itself, or the content of FILE for `@FILE`.

    Raises:
        InputError: The file cannot be read.
    """
    return read_text(value[1:]) if value.startswith("@") else value


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """What the command line says of a request; it wins over what a file says."""

    problem: str | None = None
    """Given: the files are plain traces, not requests. TEXT or @FILE."""
    answer: str | None = None
    generator: str | None = None
    family: str | None = None
    samples: Sequence[str] = ()
    """Files of plain traces."""
    preset: str | None = None
    seed: int | None = None
    record: bool = False
    """The response must hold its record."""


def read_request(name: str, options: ScoreOptions) -> ScoreRequest:
    """Return the request in a file, or the one that a plain trace and the options make.

    Raises:
        InputError: A file cannot be read, or it is no request, or it is one where a plain trace belongs.
    """
    fields: dict[str, object]
    if options.problem is not None:
        fields = {"problem": text_or_file(options.problem), "trace": read_trace(name, "leave out --problem")}
    else:
        fields = parse_request(read_bytes(name)).model_dump(exclude_unset=True)
    writer = {"model": options.generator, "family": options.family}
    changes: dict[str, object] = {"answer": options.answer, "preset": options.preset, "seed": options.seed}
    changes["generator"] = {key: value for key, value in writer.items() if value is not None} or None
    changes["samples"] = [read_trace(each, "give --sample plain text") for each in options.samples] or None
    fields |= {key: value for key, value in changes.items() if value is not None}
    try:
        request = ScoreRequest.model_validate(fields)
    except ValidationError as error:
        raise to_request_error(error) from None
    if options.record and "record" not in request.include:
        return request.model_copy(update={"include": [*request.include, "record"]})
    return request
