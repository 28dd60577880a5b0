"""Data in: labelled traces, sampled problems and questions out of our own files and the published ones.

    read_traces(path)      plain JSONL, ProcessBench, PRM800K, MR-GSM8K, MR-Ben, BIG-Bench-Mistake, ReasonEval,
                           FindTheFlaws
    read_samples(path)     plain JSONL with `samples`
    read_questions(path)   TruthfulQA

The format is told from the fields of each row. Rows stream: memory does not grow with the file, save for a `.json` that
is one array.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, ValidationError

from rafs.evaluation.find_the_flaws import ExplainedProgram, FlawedPair, JudgedSolution, TruthfulQa
from rafs.evaluation.labels import LabelledTrace, SampledProblem, TruthfulQuestion
from rafs.evaluation.plain_format import PLAIN_LABELS, PlainSamples, PlainTrace
from rafs.evaluation.prm800k import Prm800k
from rafs.evaluation.published_formats import (
    BigBenchMistake,
    MrBen,
    MrGsm8k,
    ProcessBench,
    ReasonEvalInvalid,
    ReasonEvalPerturbed,
    ReasonEvalRedundant,
)
from rafs.evaluation.rows import Row, read_rows

TraceRow = (
    PlainTrace
    | ProcessBench
    | Prm800k
    | MrGsm8k
    | MrBen
    | BigBenchMistake
    | ReasonEvalInvalid
    | ReasonEvalRedundant
    | ReasonEvalPerturbed
    | FlawedPair
    | JudgedSolution
    | ExplainedProgram
)
TRACE_FORMATS: tuple[type[TraceRow], ...] = get_args(TraceRow)
OTHER_FORMATS: dict[type[TruthfulQa | PlainSamples], str] = {
    TruthfulQa: "such files with `rafs truthful`, which asks a model its questions",
    PlainSamples: "labelled traces; samples are measured where they stand beside one, as its `samples`",
}
"""Formats that are read, but hold no labelled trace, and what they are for."""
Parsed = TypeVar("Parsed", bound=BaseModel)


def read_traces(path: Path, password: str | None = None) -> Iterator[LabelledTrace]:
    """Read the labelled traces of a file, in its order.

    Args:
        path: A `.jsonl`, `.json` or `.csv` file, or a `.zip` of such files.
        password: Of the archive, where it is encrypted.

    Raises:
        InputError: A row is of no known format or breaks its own; with file, line, field, what was got and allowed.
        ConfigError: The archive cannot be opened.
    """
    for row in read_rows(path, password):
        yield from traces_of(row)


def traces_of(row: Row) -> Iterator[LabelledTrace]:
    """Read the labelled traces of one row, of whatever format it is; the errors are those of `read_traces`."""
    yield from _parse(row, _format_of(row)).traces(row)


def is_labelled(fields: Mapping[str, object]) -> bool:
    """Whether a row has the fields of one of the formats."""
    return any(_required(model) <= fields.keys() for model in TRACE_FORMATS)


def read_samples(path: Path, password: str | None = None) -> Iterator[SampledProblem]:
    """Read problems with several samples each; the errors are those of `read_traces`."""
    for row in read_rows(path, password):
        yield _parse(row, PlainSamples).sampled(row)


def read_questions(path: Path, password: str | None = None) -> Iterator[TruthfulQuestion]:
    """Read the questions of TruthfulQA; the errors are those of `read_traces`."""
    for row in read_rows(path, password):
        if not _required(TruthfulQa) <= row.fields.keys():
            allowed = f"a row of TruthfulQA: {', '.join(sorted(_required(TruthfulQa)))}"
            raise row.refuse("row", sorted(row.fields), f"{allowed}; labelled traces are for `rafs eval`")
        yield _parse(row, TruthfulQa).asked(row)


def _required(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items() if field.is_required()}


def _format_of(row: Row) -> type[TraceRow]:
    """Return the format whose required fields the row has."""
    for model in TRACE_FORMATS:
        if _required(model) <= row.fields.keys():
            return model
    for other, use in OTHER_FORMATS.items():
        if _required(other) <= row.fields.keys():
            raise row.refuse("row", f"of {other.FORMAT}, which has no labelled trace", use)
    known = "; ".join(f"{model.FORMAT}: {', '.join(sorted(_required(model)))}" for model in TRACE_FORMATS)
    raise row.refuse("row", sorted(row.fields), f"the fields of one format; in plain rows {PLAIN_LABELS} ({known})")


def _parse(row: Row, model: type[Parsed]) -> Parsed:
    try:
        return model.model_validate(row.fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        got = "nothing" if first["type"] == "missing" else first["input"]
        raise row.refuse(field, got, first["msg"]) from error
