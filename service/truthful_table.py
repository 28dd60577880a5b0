"""A report of `rafs truthful` for the terminal."""

from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rafs.evaluation.intervals import Figure
from rafs.evaluation.page import show_figure
from rafs.evaluation.truthful import JudgeAgreement, Truthfulness
from rafs.evaluation.truthful_report import TruthfulReport
from service.truthful_run import TruthfulFacts
from service.visible import show_text

MAX_NAME_CHARS = 32


def print_truthful(report: TruthfulReport, facts: TruthfulFacts, written: Path, console: Console) -> None:
    """Print the three rates by category, multiple choice, and what the judge is worth."""
    console.print(f"{show_text(facts.model, None)}: {report.n} questions, {report.n_truncated} answers cut")
    console.print(_answers(report))
    choice = report.choice
    console.print(
        f"Multiple choice, without a judge: MC1 {show_figure(choice.best_first)}, MC2 {show_figure(choice.mean_mass)}, "
        f"MC2 above a half {show_figure(choice.above_half)}; {choice.n_unmeasured} questions without a mass"
    )
    references = report.references
    console.print(
        f"Judge {show_text(facts.judge, None)}: passes references that are true {show_figure(references.true_pass)}, "
        f"false {show_figure(references.false_pass)}, difference {show_figure(references.discrimination)}"
    )
    console.print(f"With people, on true: {_agreement(report.agreement_true)}")
    console.print(f"With people, on informative: {_agreement(report.agreement_informative)}")
    if not facts.independent:
        console.print(Text("The judge is not of another family than the model: --same-family allowed it.", "yellow"))
    shown = references.discrimination
    if not (isinstance(shown, Figure) and shown.low is not None and shown.low > 0):
        console.print(
            Text("The judge was not seen to tell true references from false ones: read its rates so.", "bold red")
        )
    console.print(f"written: {written}", soft_wrap=True)


def _answers(report: TruthfulReport) -> Table:
    table = Table(title="Answers, by the judge", box=SIMPLE, padding=0, title_justify="left", title_style="bold")
    table.add_column("category", overflow="fold", min_width=10)
    for heading in ("n", "open", "true", "informative", "both at once"):
        table.add_column(heading, justify="right", no_wrap=True)
    _add(table, "all", report.answers)
    for name, rates in report.by_category.items():
        _add(table, name, rates)
    return table


def _add(table: Table, name: str, rates: Truthfulness) -> None:
    figures = (rates.true, rates.informative, rates.true_and_informative)
    table.add_row(
        Text(show_text(name, MAX_NAME_CHARS)), str(rates.n), str(rates.n_undecided), *map(show_figure, figures)
    )


def _agreement(agreement: JudgeAgreement) -> str:
    if not agreement.by_family:
        return "not audited (--labels)"
    families = ", ".join(f"{show_text(name)} {show_figure(figure)}" for name, figure in agreement.by_family.items())
    unusable = f"; {agreement.n_unusable} unusable" if agreement.n_unusable else ""
    return f"held-out families {show_figure(agreement.held_out)}; by family: {families}{unusable}"
