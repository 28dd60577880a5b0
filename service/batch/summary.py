"""The summary of a batch on the screen."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.batch.totals import ERRORS, CommonError, Totals
from service.visible import show_text

COLOURS = {"Accept": "green", "Review": "yellow", "Abstain": "yellow"}
MAX_REASON_CHARS = 300


def print_summary(totals: Totals, folder: Path, console: Console) -> None:
    """Print what became of a batch, and where it is written."""
    table = _grid()
    _add(table, "rows read", totals.rows, totals.rows)
    _add_all(table, totals.status, totals.rows, colours=COLOURS)
    _add(table, "failed", totals.failed, totals.rows, "red" if totals.failed else "")
    _add_all(table, totals.errors, totals.rows, indent="    ")
    _add_all(table, totals.left_out, totals.rows, prefix="left out: ")
    _add(table, "duplicates", totals.duplicates, totals.rows)
    if totals.waiting:
        _add(table, "waiting", totals.waiting, totals.rows, "yellow")
    console.print(table)
    if totals.outcome:
        console.print(f"outcomes, as shares of the {totals.scored} scored rows:")
        table = _grid()
        _add_all(table, totals.outcome, totals.scored)
        console.print(table)
    rate = "" if totals.rows_per_second is None else f", {totals.rows_per_second:g} rows a second"
    console.print(f"{totals.tokens} tokens through models, {totals.seconds:.1f} s{rate}")
    if totals.retryable:
        console.print(f"{totals.retryable} failed items may go well again: --retry-errors")
    if (common := totals.most_frequent_error) is not None:
        console.print(_failed(totals, common, folder), soft_wrap=True)
    console.print(f"written: {folder}", soft_wrap=True)


def _failed(totals: Totals, common: CommonError, folder: Path) -> str:
    shown = show_text(common.message, MAX_REASON_CHARS)
    how_many = f"{totals.failed} rows failed" if totals.scored else f"no row was scored, {totals.failed} failed"
    return f"{how_many}, most often ({common.rows}) for: {shown}; each is in {folder / ERRORS}"


def _grid() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    return table


def _add_all(
    table: Table,
    counts: Mapping[str, int],
    n: int,
    *,
    colours: Mapping[str, str] | None = None,
    prefix: str = "",
    indent: str = "  ",
) -> None:
    for name, count in counts.items():
        _add(table, f"{indent}{prefix}{name}", count, n, (colours or {}).get(name, ""))


def _add(table: Table, name: str, count: int, n: int, colour: str = "") -> None:
    share = f"{count / n:.1%}" if n else ""
    table.add_row(Text(name, colour), Text(f"{count}"), Text(share, "dim"))
