"""From a row of a log to a request: by its shape, and by the paths that the operator names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from rafs.errors import InputError
from rafs.request import ScoreRequest
from service.batch.conversation import read_problem, read_reply
from service.batch.fields import find, unfold
from service.batch.shapes import IDS, SHAPES, Draft, Fields, Lookup, Shape, own_id, to_id
from service.batch.source import Line
from service.request_body import Fault, RequestError, to_request_error
from service.visible import show_text, show_value

Format = Literal["auto", "rafs", "openai", "openai-batch", "langfuse", "labelled"]
MAPPED = (
    "id",
    "problem",
    "trace",
    "answer",
    "generator.model",
    "generator.family",
    "samples",
    "rules",
    "preset",
    "seed",
)
LOOKED_AT = 20
"""Rows that a shape is told by."""
SHOWN_KEYS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A row as a request."""

    id: str | None
    request: ScoreRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the operator says of every row."""

    preset: str
    """Of rows that name none, or of all where it is forced."""
    forced: bool = False
    generator: str | None = None
    """Model that wrote the traces which name none."""


def parse_paths(given: Iterable[str]) -> dict[str, str]:
    """Read `FIELD=PATH` pairs; one argument may hold several, apart by spaces.

    Raises:
        InputError: One is no such pair, or names an unknown field or one twice.
    """
    paths: dict[str, str] = {}
    for pair in (pair for argument in given for pair in argument.split()):
        field, equals, path = pair.partition("=")
        field = "generator.model" if field == "generator" else field
        if not equals or not path or field not in MAPPED:
            raise _wrong("--map", show_value(pair), f"FIELD=PATH with one of the fields {', '.join(MAPPED)}")
        if field in paths:
            raise _wrong("--map", f"{field} twice", "every field once")
        paths[field] = path
    return paths


def choose_shape(wanted: Format, paths: Mapping[str, str], lines: Sequence[Line], named: str) -> Shape | None:
    """Return the shape of the rows; None where the paths say all.

    Args:
        wanted: What the operator says.
        paths: By field.
        lines: The first ones.
        named: Where they are from, for the error; safe to show.

    Raises:
        InputError: No shape fits any of them.
    """
    if wanted != "auto":
        return next(shape for shape in SHAPES if shape.name == wanted)
    if {"problem", "trace"} <= paths.keys():
        return None
    rows = [line.row for line in lines if not isinstance(line.row, Fault)]
    fitting = [(sum(map(shape.fits, rows)), shape) for shape in SHAPES]
    n_rows, shape = max(fitting, key=lambda one: one[0])
    if n_rows == 0:
        keys = ", ".join(show_text(key, 40) for key in list(rows[0])[:SHOWN_KEYS]) if rows else "nothing to read"
        known = "; ".join(f"{shape.name}: {shape.told_by}" for shape in SHAPES)
        raise _wrong(named, f"rows with the keys {keys}", f"{known}; or --map problem=PATH --map trace=PATH")
    return shape


class Mapper:
    """Makes requests of rows; the same row always makes the same request."""

    def __init__(self, shape: Shape | None, paths: Mapping[str, str], choice: Choice, asked: Lookup) -> None:
        self._shape = shape
        self._paths = paths
        self._choice = choice
        self._asked = asked

    def read(self, line: Line) -> Mapped:
        """Return the request of a row.

        Raises:
            InputError: The row cannot be read, or makes no request.
            LeftOut: The row is none of a model's replies.
        """
        if isinstance(line.row, Fault):
            raise RequestError([line.row])
        draft = Draft(id=own_id(line.row)) if self._shape is None else self._shape.read(line.row, line, self._asked)
        self._follow_paths(draft, line.row)
        self._choose(draft.fields)
        try:
            request = ScoreRequest.model_validate(draft.fields)
        except ValidationError as error:
            raise to_request_error(error) from None
        return Mapped(id=to_id(draft.id), request=request)

    def read_id(self, line: Line) -> str | None:
        """Return the id of a row that makes no request, as far as it can be told."""
        if isinstance(line.row, Fault):
            return None
        if "id" in self._paths:
            return to_id(find(line.row, self._paths["id"]))
        return own_id(line.row, IDS if self._shape is None else self._shape.ids)

    def _follow_paths(self, draft: Draft, row: Fields) -> None:
        for name, path in self._paths.items():
            value = find(row, path)
            match name:
                case "id":
                    draft.id = value
                case "problem":
                    draft.fields["problem"] = read_problem(value, path)
                case "trace":
                    trace, samples = read_reply(value, path)
                    draft.fields |= {"trace": trace} | ({"samples": list(samples)} if samples else {})
                case "generator.model" | "generator.family" if value is not None:
                    writer = draft.fields.get("generator")
                    known = writer if isinstance(writer, dict) else {}
                    draft.fields["generator"] = {**known, name.partition(".")[2]: value}
                case "answer" if isinstance(value, int | float) and not isinstance(value, bool):
                    draft.fields["answer"] = str(value)
                case _ if value is not None:
                    draft.fields[name] = unfold(value) if name in ("samples", "rules") else value

    def _choose(self, fields: dict[str, object]) -> None:
        if self._choice.forced or "preset" not in fields:
            fields["preset"] = self._choice.preset
        if self._choice.generator is not None and "generator" not in fields:
            fields["generator"] = {"model": self._choice.generator}


def _wrong(field: str, got: str, allowed: str) -> InputError:
    return InputError(f"{field}: got {got}, allowed: {allowed}", field="FILE", got=got, allowed=allowed)
