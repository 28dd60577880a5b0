"""What `continuations.py` keeps of each problem, and the table of all of them."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict
from rich.console import Console
from rich.table import Table

from rafs.interventions import Response

WIDTH = 100
"""Columns of the table, also where the output is no terminal."""
N_RESAMPLES = 2000
LEVEL = 0.95
SHOWN = (Response.FOLLOWED, Response.MOVED, Response.STAYED, Response.RECOVERED, Response.UNPARSED)


class Kind(StrEnum):
    """Whose trace it is."""

    OWN = "its own"
    PLANTED = "with a planted error"


class Row(BaseModel):
    """Part of a line of `--out`."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class EffectRow(Row):
    """What one edit did; `continuations` are the texts behind `responses`."""

    step: int
    family: str
    old: str
    new: str
    predicted: str | None
    prefix: str
    responses: tuple[Response, ...]
    continuations: tuple[str, ...]
    delta: float | None


class TraceRow(Row):
    """One trace, and what was found."""

    kind: Kind
    text: str
    answer: str
    effects: tuple[EffectRow, ...]
    discarded: tuple[tuple[int, str], ...]
    probes: dict[str, float]
    tokens: int
    """That ran for the edits and probes; those found in a prefix cache did not, where the server counts them."""
    seconds: float

    @property
    def deltas(self) -> list[float]:
        """Of its edits that have one."""
        return [effect.delta for effect in self.effects if effect.delta is not None]

    @property
    def responses(self) -> list[Response]:
        """Of all its edits."""
        return [response for effect in self.effects for response in effect.responses]


class ProblemRow(Row):
    """A line of `--out`."""

    problem: str
    setting: str
    """Which generator was asked, and by which preset; rows of two settings are not counted together."""
    at_once: int
    """Problems that were asked at the same time, among which a trace had to wait."""
    said: str
    """The generator's own text; there are no traces where no answer can be read in it."""
    traces: tuple[TraceRow, ...]


def read_rows(out: Path) -> list[ProblemRow]:
    """Return the rows of a file, and cut off a last one that is not whole; none where there is no file yet."""
    if not out.exists():
        return []
    text = out.read_text("utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        out.write_text(whole, "utf-8")
    return [ProblemRow.model_validate_json(line) for line in whole.split("\n")[:-1]]


def ratio(parts: Sequence[tuple[float, float]], form: str) -> str:
    """Return sum(a) / sum(b) with its 95 % percentile interval over parts drawn again; a part is a problem's."""
    a, b = (np.array([part[place] for part in parts], float) for place in (0, 1))
    if not b.sum():
        return "-"
    drawn = np.random.default_rng(0).integers(0, len(parts), (N_RESAMPLES, len(parts)))
    above, below = a[drawn].sum(axis=1), b[drawn].sum(axis=1)
    low, high = np.quantile(above[below > 0] / below[below > 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return f"{a.sum() / b.sum():{form}} [{low:{form}}, {high:{form}}]"


def print_rows(rows: Sequence[ProblemRow], m_min: int) -> None:
    """Print a column for each kind of trace."""
    table = Table("", *Kind)
    columns = [_cells([trace for row in rows for trace in row.traces if trace.kind is kind], m_min) for kind in Kind]
    for name in dict.fromkeys(name for column in columns for name in column):
        table.add_row(name, *(column.get(name, "-") for column in columns))
    at_once = ", ".join(str(number) for number in sorted({row.at_once for row in rows}))
    console = Console(width=WIDTH)
    console.print(f"{len(rows)} problems, of which {sum(not row.traces for row in rows)} without a readable answer")
    console.print(table)
    console.print(f"seconds: of a trace's edits and probes, while so many problems were asked at once: {at_once}")


def _cells(traces: Sequence[TraceRow], m_min: int) -> dict[str, str]:
    """Return what is said of the traces of one kind."""
    shares = {
        f"{one.value}, of continuations": ratio(
            [(trace.responses.count(one), len(trace.responses)) for trace in traces], ".0%"
        )
        for one in SHOWN
    }
    probes = sorted({name for trace in traces for name in trace.probes})
    return {
        "traces": str(len(traces)),
        f"with {m_min} valid edits or more": str(sum(len(trace.deltas) >= m_min for trace in traces)),
        **shares,
        "Delta, of edits": ratio([(sum(trace.deltas), len(trace.deltas)) for trace in traces], ".2f"),
        **{
            name: ratio([(trace.probes[name], 1) for trace in traces if name in trace.probes], ".2f") for name in probes
        },
        "tokens, of traces": ratio([(trace.tokens, 1) for trace in traces], ".0f"),
        "seconds, of traces": ratio([(trace.seconds, 1) for trace in traces], ".1f"),
    }
