"""Progress of a batch on standard error: a bar for people, some lines for a log."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

N_LINES = 20
"""Lines of progress in a log, where no bar can be drawn."""
SPEED_S = 60.0


class Watch:
    """Shows how far a batch is."""

    def __init__(self, n_rows: int, n_done: int) -> None:
        """Begin.

        Args:
            n_rows: Rows that there are, about.
            n_done: Those that were done before.
        """
        self._console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[notes]}"),
            console=self._console,
            disable=not self._console.is_terminal,
            speed_estimate_period=SPEED_S,
        )
        self._n_rows = max(n_rows, n_done)
        self._n_shown = n_done
        self._bar = self._progress.add_task("rows", total=self._n_rows, completed=n_done, rate="", notes="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._progress.stop()

    def show(self, n_done: int, n_failed: int, *, rows_per_s: float) -> None:
        """Show how many rows are done and how many items failed."""
        self._n_rows = max(self._n_rows, n_done)
        rate = f"{rows_per_s:.0f} rows/s" if rows_per_s >= 10 else f"{rows_per_s * 60:.1f} rows/min"
        notes = f"{n_failed} failed" if n_failed else ""
        self._progress.update(self._bar, completed=n_done, total=self._n_rows, rate=rate, notes=notes)
        if not self._console.is_terminal and (n_done - self._n_shown) * N_LINES >= self._n_rows:
            self._n_shown = n_done
            left_s = (self._n_rows - n_done) / rows_per_s if rows_per_s > 0 else 0.0
            told = f"{n_done} of {self._n_rows} rows, {rate}, {left_s:.0f} s left"
            self._console.print(f"{told}, {notes}" if notes else told, soft_wrap=True)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(text, soft_wrap=True)
