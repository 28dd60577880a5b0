"""An audit for the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rafs.evaluation.audit import AuditVerdict, PassRates
from rafs.evaluation.audit_biases import PairRates, SelfPreference
from rafs.evaluation.audit_file import AuditEntry
from rafs.evaluation.page import show_figure
from service.visible import show_text

MAX_NAME_CHARS = 32
HEADINGS = ("", "n", "true-pass", "false-pass", "difference")


def print_audit(entry: AuditEntry, console: Console) -> None:
    """Print the rates by domain, what else sways the judge, and the verdict."""
    console.print(f"{show_text(entry.model)}, oracle of {entry.oracle}")
    for origin, rates in entry.rates.items():
        title = {"natural": "Errors that models made", "synthetic": "Errors that were planted"}[origin]
        console.print(_rates(title, rates))
        console.print(f"A right one gets more than a wrong one (AUROC): {show_figure(entry.rankings[origin])}\n")
    if entry.pairs is not None:
        console.print(_pairs(entry.pairs))
    if entry.self_preference is not None:
        console.print(_preference(entry.self_preference))
    if entry.left_out:
        reasons = ", ".join(f"{show_text(reason)} {n}" for reason, n in entry.left_out.items())
        console.print(f"Left out of the files: {reasons}")
    style = "green" if entry.verdict is AuditVerdict.ADMITTED else "bold red"
    console.print(Text(f"Verdict, by {entry.decided_on} items: {entry.verdict}", style))


def _rates(title: str, rates: Sequence[PassRates]) -> Table:
    unusable = rates[-1].n_unusable
    note = f" ({unusable} outputs were unusable, and are in no rate)" if unusable else ""
    table = Table(title=title + note, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if number else "left", no_wrap=number > 0)
    for rate in rates:
        figures = map(show_figure, (rate.true_pass, rate.false_pass, rate.discrimination))
        table.add_row(show_text(rate.domain, MAX_NAME_CHARS), f"{rate.n_right}+{rate.n_wrong}", *figures)
    return table


def _pairs(pairs: PairRates) -> str:
    return (
        f"Of {pairs.n} pairs in both orders ({pairs.n_unusable} unusable): the right one {show_figure(pairs.right)}, "
        f"the wrong one {show_figure(pairs.wrong)}, whichever stood first {show_figure(pairs.always_first)}, second "
        f"{show_figure(pairs.always_second)}"
    )


def _preference(preference: SelfPreference) -> str:
    return (
        f"Errors it passed on the {preference.n_questions} questions that both got wrong: of its own family "
        f"{show_figure(preference.own)}, of others {show_figure(preference.other)}, difference "
        f"{show_figure(preference.difference)}"
    )
