"""`rafs audit`: does a judge tell right from wrong where an oracle knows?"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from rafs.errors import InputError
from rafs.evaluation.audit import AuditVerdict
from rafs.evaluation.audit_file import OracleName, path_beside, write_audits
from rafs.evaluation.libraries import scipy_stats
from rafs.model_entry import ModelEntry, Role
from rafs.registry import Registry, find_default, load_registry
from service.audit_run import Audit, Sheet, Sources, prepare, run_audits, to_report
from service.audit_table import print_audit
from service.exits import Exit, explained
from service.models_cli import ModelsFile
from service.one_model import entry_named
from service.settings import Settings, load_settings
from service.visible import show_text
from verifiers.oracles.citations import Style

MAX_PROBLEMS = 10_000


def audit(
    *,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Id of a judge of models.yaml.")],
    oracle: Annotated[
        list[OracleName] | None, typer.Option(help="What is known to be right; arithmetic unless given. Repeatable.")
    ] = None,
    n: Annotated[int, typer.Option(min=1, max=MAX_PROBLEMS, help="Problems that each oracle makes up.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Draws problems and resamples.")] = 0,
    natural: Annotated[
        list[Path] | None, typer.Option(help="Labelled traces; for the other oracles, replies. Repeatable.")
    ] = None,
    registry: Annotated[Path | None, typer.Option(help="Valid citations, one id a line.")] = None,
    style: Annotated[Style, typer.Option(help="How citations are written.")] = Style.BRACKETED,
    out: Annotated[Path | None, typer.Option(help="Also write the report, with every item, as JSON.")] = None,
    password: Annotated[str | None, typer.Option(envvar="RAFS_ARCHIVE_PASSWORD", help="Of encrypted archives.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON document.")] = False,
    models_file: ModelsFile = None,
) -> None:
    """Audit a judge: what it passes of what is wrong and of what is right, by an oracle that knows.

    The verdict goes into models.audits.json, beside models.yaml. A judge that does not tell right from wrong is not
    used from then on, unless its entry in models.yaml says why: `despite_audit: REASON`. Exit code 1 says it failed.

    Example: rafs audit smollm2-135m-instruct --n 60
    """
    with explained():
        scipy_stats()  # a long run must not end in a missing library
        settings = load_settings(models_file=models_file)
        models = load_registry(settings.models_file)
        judge = entry_named(model, Role.JUDGE, models)
        sources = Sources(n=n, seed=seed, natural=natural or (), registry=registry, style=style, password=password)
        sheets = [prepare(name, sources) for name in dict.fromkeys(oracle or [OracleName.ARITHMETIC])]
        audits = _show_and_run(judge, models, settings, sheets, seed)
        beside = path_beside(settings.models_file or find_default())
        write_audits(beside, [one.entry for one in audits])
        if out is not None:
            _write(out, to_report(audits))
    if as_json:
        print(to_report(audits))
    else:
        console = Console(markup=False, emoji=False, highlight=False)
        for one in audits:
            print_audit(one.entry, console)
        console.print(f"Written to {show_text(str(beside), None)}")
    if any(one.entry.verdict is AuditVerdict.NO_DISCRIMINATION for one in audits):
        raise typer.Exit(Exit.DIFFERENT)


def _show_and_run(
    judge: ModelEntry, models: Registry, settings: Settings, sheets: list[Sheet], seed: int
) -> list[Audit]:
    with Progress(console=Console(stderr=True)) as bars:

        def show(what: str, total: int) -> Callable[[], None]:
            bar = bars.add_task(what, total=total)
            return lambda: bars.advance(bar)

        return asyncio.run(run_audits(judge, models, settings, sheets, seed, show))


def _write(out: Path, report: str) -> None:
    try:
        out.write_text(report + "\n", encoding="utf-8")
    except OSError as error:
        message = f"the report cannot be written to {out}: {error.strerror}"
        raise InputError(message, field="--out", got=str(out), allowed="a file that can be written") from error
