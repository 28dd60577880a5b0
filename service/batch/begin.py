"""Beginning a batch, or going on with one: what it is made from must be what it was made from."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import from_json

from rafs.errors import InputError
from rafs.record import ProvenanceOut
from service.batch.index import BatchIndex, Cursor
from service.batch.mapping import LOOKED_AT, Choice, Format, Mapper, choose_shape
from service.batch.parts import PART_ROWS
from service.batch.shapes import IDS, PLAIN, SHAPES, Fields, Shape
from service.batch.source import Line, LogFile, Position, count_rows, find_files, read_lines
from service.request_body import Fault
from service.visible import show_text

BEGUN = "begun"
N_ROWS = "n_rows"
QUESTIONS = "questions"
BATCH_OUTPUT = "openai-batch"
MAPPED_BY_HAND = "by --map alone"
QUESTIONS_AT_ONCE = 500
SHOWN_KEYS = 12
CHANGEABLE = ("--workers", "--concurrency", "--engine", "--limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the operator asks for."""

    path: Path
    out: Path
    format: Format
    paths: Mapping[str, str]
    requests: Path | None
    choice: Choice
    full: bool
    provenance: ProvenanceOut
    """Of the models that score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A batch that can be run."""

    index: BatchIndex
    files: Sequence[LogFile]
    mapper: Mapper
    n_rows: int
    """That there are, about."""
    facts: Mapping[str, JsonValue]

    @property
    def names(self) -> list[str]:
        """Names of the files, as results repeat them."""
        return [file.name for file in self.files]

    def read(self, cursor: Cursor) -> Iterator[Line]:
        """Read on from a place."""
        return iter(()) if cursor.ended else read_lines(self.files, cursor.position)


def begin(order: Order, index: BatchIndex, say: Callable[[str], None]) -> Begun:
    """Begin a batch in an index, or go on with the one in it.

    Args:
        order: What is asked for.
        index: Of the folder.
        say: Tells the operator how the rows are read.

    Raises:
        InputError: The input cannot be read, or is of no known shape, or the index holds a batch of something else.
        ConfigError: pyarrow is not installed.
    """
    files = find_files(order.path, without=order.out)
    earlier = index.read_fact(BEGUN)
    if isinstance(earlier, dict):
        shape = next((one for one in SHAPES if one.name == earlier["format"]), None)
        facts = _facts(order, files, shape)
        _check(order, facts, earlier)
    else:
        first = list(islice(read_lines(files, Position()), LOOKED_AT))
        source = files[first[0].file if first else 0].path
        shape = choose_shape(order.format, order.paths, first, show_text(str(source), None))
        _say_shape(shape, first, say)
        facts = _facts(order, files, shape)
        index.write_fact(N_ROWS, count_rows(files))
        index.write_fact(BEGUN, facts)
    if shape is not None and shape.name == BATCH_OUTPUT:
        _read_questions(order, index)
    n_rows = index.read_fact(N_ROWS)
    return Begun(
        index=index,
        files=files,
        mapper=Mapper(shape, order.paths, order.choice, _lookup(index)),
        n_rows=n_rows if isinstance(n_rows, int) else 0,
        facts=facts,
    )


def _facts(order: Order, files: Sequence[LogFile], shape: Shape | None) -> dict[str, JsonValue]:
    requests = None if order.requests is None else order.requests.name
    return {
        "files": [[file.name, file.size] for file in files],
        "format": MAPPED_BY_HAND if shape is None else shape.name,
        "map": dict(order.paths),
        "requests": requests,
        "preset": order.choice.preset,
        "preset_forced": order.choice.forced,
        "generator": order.choice.generator,
        "full": order.full,
        "part_rows": PART_ROWS,
        "provenance": order.provenance.model_dump(mode="json"),
    }


def _check(order: Order, facts: Mapping[str, JsonValue], earlier: Mapping[str, JsonValue]) -> None:
    wanted = {"format": order.format} if order.format != "auto" else {}
    for name, here in _flat({**facts, **wanted}).items():
        there = _flat(earlier).get(name)
        if here != there:
            got = f"a batch with {name} {_short(there)}, and now it is {_short(here)}"
            allowed = f"a new folder, or one whose batch differs in nothing but {', '.join(CHANGEABLE)}"
            shown = show_text(str(order.out), None)
            raise InputError(f"--out {shown}: got {got}, allowed: {allowed}", field="FILE", got=got, allowed=allowed)


def _flat(facts: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    provenance = facts.get("provenance")
    return {**(provenance if isinstance(provenance, dict) else {}), **facts, "provenance": None}


def _short(value: JsonValue) -> str:
    return show_text(json.dumps(value), 120)


def _say_shape(shape: Shape | None, first: Sequence[Line], say: Callable[[str], None]) -> None:
    if shape is None:
        return
    rows: list[Fields] = [line.row for line in first if not isinstance(line.row, Fault)]
    n_fitting = sum(map(shape.fits, rows))
    say(f"format {shape.name}: {n_fitting} of the first {len(first)} rows have {shape.told_by}")
    if shape.name == "rafs":
        read = {*PLAIN, *IDS, "steps", "model"}
        unread = list(dict.fromkeys(key for row in rows for key in row if key not in read))
        if unread:
            say(f"keys that are not read: {', '.join(show_text(key, 40) for key in unread[:SHOWN_KEYS])}")


def _read_questions(order: Order, index: BatchIndex) -> None:
    """Keep the request side of an OpenAI batch in the index, where each is found by its id."""
    if order.requests is None:
        allowed = "the file of requests that was sent, whose lines have the same `custom_id`"
        raise InputError(f"--requests: got nothing, allowed: {allowed}", field="FILE", got="nothing", allowed=allowed)
    if index.read_fact(QUESTIONS):
        return
    lines = read_lines(find_files(order.requests), Position())
    while some := list(islice(lines, QUESTIONS_AT_ONCE)):
        rows = [line.row for line in some if not isinstance(line.row, Fault)]
        kept = {row["custom_id"]: {"body": row.get("body")} for row in rows if isinstance(row.get("custom_id"), str)}
        if kept:
            index.add_questions({str(name): json.dumps(body).encode() for name, body in kept.items()})
    index.write_fact(QUESTIONS, True)


def _lookup(index: BatchIndex) -> Callable[[str], Fields | None]:
    def asked(custom_id: str) -> Fields | None:
        found = index.find_question(custom_id)
        return None if found is None else from_json(found)

    return asked
