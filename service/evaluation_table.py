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
from rafs.evaluation.summary import PLANTED, POOLED, Report, Section, short_names
from service.visible import show_text

MIN_NAME_CHARS, MAX_NAME_CHARS = 10, 32
NO_NUMBER = "-"
"""The files say why there is none."""
BRIEF = frozenset({"prevalence", "length_auprc"})
"""Figures without their interval here: what others are held against. The files have it."""
NAMED = (("f1", "F1"), ("recall", "recall"), ("specificity", "specificity"))
GRADED = (("accuracy", "named"), ("control_itself", "itself"), ("control_other", "another's"))
"""How often the flaw was named; how often the grader calls a note the same as itself, and as one on another problem."""
GRADINGS = {"error_grading": "solutions", "grade_all": "steps"}
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
    "Verdicts on the reasoning (right is positive)": tuple(("match", *column) for column in NAMED),
    "Verdicts on single steps (right is positive)": tuple(("match_all", *column) for column in NAMED),
    "Flaws named as experts did, by the grader": tuple(("error_grading", *column) for column in GRADED),
    "The same, flawed step by flawed step": tuple(("grade_all", *column) for column in GRADED),
}
"""Of each table: family, figure and heading. Its items are those of the first family, where the run measured it."""


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
    names = short_names(report)
    for title, columns in COLUMNS.items():
        table = _table(title, "items", "n", "unscored", *(heading for _, _, heading in columns))
        for name, section in report.sections.items():
            family = section.families.get(columns[0][0])
            if family is not None and family.n:
                figures = (_figure(section.families[of].figures[figure], figure) for of, figure, _ in columns)
                table.add_row(_name(names[name]), str(family.n), str(family.n_unscored), *figures)
        if table.rows:
            console.print(table)
    for name in (POOLED, PLANTED):
        if name in report.sections and report.sections[name].n:
            for table in _baselines(name, compared[name]):
                console.print(table)
            console.print(Text(_decided(name, report.sections[name], count_reasons(sections[name]))))
            for line in _grader_lines(name, report.sections[name]):
                console.print(Text(line))


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


def _grader_lines(name: str, section: Section) -> Iterator[str]:
    """Yield how far the judge of equivalence can be believed."""
    for of, what in GRADINGS.items():
        family = section.families.get(of)
        if family is None or not family.n:
            continue
        figures = family.figures
        people, kappa, shown = (show_figure(figures[one]) for one in ("agreement", "kappa", "control_difference"))
        is_audited = isinstance(figures["agreement"], Figure)
        audit = (
            f"as people {people}, kappa {kappa}" if is_audited else "not audited: fill in `equivalent` in flaws.jsonl"
        )
        yield f"{name}, grader of {what}: passes a note itself more often than another's by {shown}; {audit}"
        difference = figures["control_difference"]
        if not (isinstance(difference, Figure) and difference.low is not None and difference.low > 0):
            yield "  it was not seen to tell the same error from another: its grades say nothing"


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
