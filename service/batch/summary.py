"""The summary of a batch on the screen."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.batch.totals import Totals

COLOURS = {"Accept": "green", "Review": "yellow", "Abstain": "yellow"}


def print_summary(totals: Totals, folder: Path, console: Console) -> None:
    """Print what became of a batch, and where it is written."""
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    _add(table, "rows read", totals.rows, totals.rows)
    _add_all(table, totals.status, totals.rows, colours=COLOURS)
    _add(table, "failed", totals.failed, totals.rows, "red" if totals.failed else "")
    _add_all(table, totals.errors, totals.rows, indent="    ")
    _add_all(table, totals.left_out, totals.rows, prefix="left out: ")
    _add(table, "duplicates", totals.duplicates, totals.rows)
    if totals.waiting:
        _add(table, "waiting", totals.waiting, totals.rows, "yellow")
    console.print(table)
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    _add_all(table, totals.outcome, totals.scored)
    console.print(table)
    rate = "" if totals.rows_per_second is None else f", {totals.rows_per_second:g} rows a second"
    console.print(f"{totals.tokens} tokens through models, {totals.seconds:.1f} s{rate}")
    if totals.retryable:
        console.print(f"{totals.retryable} failed items may go well again: --retry-errors")
    console.print(f"written: {folder}", soft_wrap=True)


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
