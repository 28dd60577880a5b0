"""A report of `rafs eval` for the terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rafs.evaluation.baselines import RAFS, Comparison
from rafs.evaluation.families import Item
from rafs.evaluation.headlines import count_reasons
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.page import show_figure
from rafs.evaluation.summary import PLANTED, POOLED, Report, Section
from service.visible import show_text

MIN_NAME_CHARS, MAX_NAME_CHARS = 10, 32
NO_NUMBER = "-"
"""The files say why there is none."""
BRIEF = frozenset({"prevalence", "length_auprc"})
"""Figures without their interval here: what others are held against. The files have it."""
COLUMNS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "First errors": (
        ("first_error", "processbench_f1", "F1"),
        ("first_error", "accuracy_erroneous", "erroneous"),
        ("first_error", "accuracy_correct", "correct"),
    ),
    "Silent failures": (
        ("silent_failure", "prevalence", "share"),
        ("silent_failure", "auprc", "AUPRC"),
        ("silent_failure", "length_auprc", "by length"),
        ("silent_failure", "auroc", "AUROC"),
    ),
    "Extraction failures": (
        ("extraction_failure", "prevalence", "share"),
        ("extraction_failure", "precision", "precision"),
        ("extraction_failure", "recall", "recall"),
    ),
    "Gate": (
        ("gate", "accepted", "accepted"),
        ("gate", "accepted_risk", "accepted risk"),
        ("gate", "abstained", "abstained"),
    ),
}
"""Of each table: family, figure and heading. Its items are those of the first family."""


BASELINES: Mapping[str, Mapping[str, str]] = {
    "silent failures": {"AUPRC": "auprc", "gain of RAFS": "auprc_gain", "AUROC": "auroc"},
    "first errors": {"F1": "processbench_f1", "gain of RAFS": "processbench_f1_gain"},
}
MAX_REASONS = 5


def print_report(
    report: Report,
    sections: Mapping[str, Sequence[Item]],
    compared: Mapping[str, Mapping[str, Comparison]],
    console: Console,
) -> None:
    """Print one table a family, then the baselines and the reasons of everything pooled."""
    names = _short_names(report)
    for title, columns in COLUMNS.items():
        table = _table(title, "items", "n", "unscored", *(heading for _, _, heading in columns))
        for name, section in report.sections.items():
            family = section.families[columns[0][0]]
            if family.n:
                figures = (_figure(section.families[of].figures[figure], figure) for of, figure, _ in columns)
                table.add_row(_name(names[name]), str(family.n), str(family.n_unscored), *figures)
        if table.rows:
            console.print(table)
    for name in (POOLED, PLANTED):
        if name in report.sections and report.sections[name].n:
            for table in _baselines(name, compared[name]):
                console.print(table)
            console.print(Text(_decided(name, report.sections[name], count_reasons(sections[name]))))


def _short_names(report: Report) -> dict[str, str]:
    """Return the names of the sections, without their source where the subset alone tells them apart."""
    subsets = {name: name.partition("/")[2] or name for name in report.sections}
    count = Counter(subsets.values())
    return {name: subset if count[subset] == 1 else name for name, subset in subsets.items()}


def _baselines(section: str, compared: Mapping[str, Comparison]) -> Iterator[Table]:
    for title, shown in BASELINES.items():
        table = _table(f"Baselines at {title}, {section}", "scorer", "n", *shown)
        for name, row in compared.items():
            figures = [row.figures.get(figure) for figure in shown.values()]
            n = figures[0].n if isinstance(figures[0], Figure) else 0
            if n:
                style = "bold" if name == RAFS else None
                table.add_row(_name(name), str(n), *map(_figure, figures, shown.values()), style=style)
        if table.rows:
            yield table


def _decided(name: str, section: Section, reasons: Counter[str]) -> str:
    counts = ", ".join(f"{status} {count}" for status, count in section.status_counts.items())
    why = ", ".join(f"{show_text(reason)} {count}" for reason, count in reasons.most_common(MAX_REASONS))
    return f"{name}: {section.n} traces of {section.n_problems} problems: {counts}\n  for {why}"


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, box=SIMPLE, padding=0, title_justify="left", title_style="bold")
    table.add_column(first, overflow="fold", min_width=MIN_NAME_CHARS)
    for heading in others:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _figure(figure: Measurement | None, name: str) -> str:
    if figure is None:
        return ""
    if not isinstance(figure, Figure):
        return NO_NUMBER
    return f"{figure.value:.2f}" if name in BRIEF else show_figure(figure)


def _name(name: str) -> Text:
    return Text(show_text(name, MAX_NAME_CHARS))
