"""The command line: `rafs score | explain | serve | keys | models | replay | train-verifier | eval | audit | ...`."""

import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rafs import __version__
from rafs.errors import InputError, RafsError
from rafs.wire import ScoreResponse
from service.auditing import audit
from service.batch.command import batch
from service.calibrating import calibrate_preset
from service.evaluating import evaluate
from service.exits import Exit, complain, explained
from service.explaining import explain
from service.faces import faces_of
from service.input_files import ScoreOptions, expand, read_request
from service.keys_cli import keys_app
from service.models_cli import CalibrationFile, ModelsFile, models_app
from service.replaying import compare, read_record
from service.report import render_report
from service.routes import ScoringService
from service.server import check_address, check_port
from service.server import serve as run_server
from service.settings import load_settings
from service.train_cli import train_verifier
from service.truthful import measure_truthfulness
from service.visible import show_text

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(models_app, name="models")
app.add_typer(keys_app, name="keys")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"rafs {__version__}")
        raise typer.Exit


@app.callback()
def rafs(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Say, without a reference answer, whether a chain of thought really carries its answer.

    Start with: rafs models pull, then rafs score examples

    Exit codes: 0 done, 1 replay, check or audit found a fault, 2 wrong input, 3 wrong configuration, 4 a model failed.
    """


@app.command()
def score(
    context: typer.Context,
    *,
    files: Annotated[list[str], typer.Argument(metavar="FILE|DIR|-", help="JSON requests, or traces with --problem.")],
    problem: Annotated[
        str | None, typer.Option(help="The files are plain traces of this problem: TEXT or @FILE.")
    ] = None,
    answer: Annotated[str | None, typer.Option(help="The stated answer, where the trace does not hold it.")] = None,
    generator: Annotated[str | None, typer.Option(help="Model that wrote the trace, such as gpt-4o-mini.")] = None,
    family: Annotated[str | None, typer.Option(help="Its family, where the name does not tell.")] = None,
    sample: Annotated[
        list[str] | None, typer.Option(help="File with one more trace of the same model; may be repeated.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="How much is measured: gate, standard or deep.")] = None,
    seed: Annotated[int | None, typer.Option(help="Draws the counterfactual edits.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON response a line, and nothing else.")] = False,
    record: Annotated[Path | None, typer.Option(help="Write what `rafs replay` needs; for one FILE.")] = None,
    models_file: ModelsFile = None,
    calibration: CalibrationFile = None,
) -> None:
    """Score traces: a report for people, or JSON.

    A FILE is a JSON request: {"problem": ..., "trace": ...}. A DIR stands for its *.json, - for standard input.

    Example: rafs score examples --json

    Example: rafs score trace.txt --problem "What is 12 * 5 - 3?" --generator gpt-4o-mini
    """
    options = ScoreOptions(
        problem=problem,
        answer=answer,
        generator=generator,
        family=family,
        samples=sample or (),
        preset=preset,
        seed=seed,
        record=record is not None,
    )
    _make_output_safe()
    with explained():
        names = list(expand(files))
        if record is not None and len(names) != 1:
            raise InputError(
                f"--record takes one FILE, got {len(names)}", field="FILE", got=str(len(names)), allowed="1"
            )
        scorer = faces_of(context).build_scorer(load_settings(models_file=models_file, calibration=calibration))
        code = asyncio.run(_score_all(scorer, names, options, as_json=as_json, record=record))
    raise typer.Exit(code)


app.command()(explain)
app.command()(train_verifier)
app.command("eval")(evaluate)
app.command()(batch)
app.command("truthful")(measure_truthfulness)
app.command()(audit)
app.command("calibrate")(calibrate_preset)


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on, 127.0.0.1 unless given.")] = None,
    port: Annotated[int | None, typer.Option(help="Port, 8000 unless given; 0 takes a free one.")] = None,
    allow_remote: Annotated[
        bool | None,
        typer.Option(
            "--allow-remote", help="Other machines may reach it without a key: a proxy in front asks for one."
        ),
    ] = None,
    models_file: ModelsFile = None,
    calibration: CalibrationFile = None,
) -> None:
    """Serve HTTP: scores, decisions of the gate, batches, keys, and a proxy in front of a model.

    POST /v1/score, /v1/score/stream, /v1/gate, /v1/batches, /v1/keys and, for OpenAI clients, /v1/chat/completions;
    GET /v1/models, /metrics, /healthz, /readyz, /docs.

    Other machines need a key of `rafs keys create`; with RAFS_AUTH=required everybody does.

    Example: rafs serve --port 8000

    Settings come from RAFS_... variables: docs/configuration.md lists them.
    """
    with explained():
        settings = load_settings(
            host=host, port=port, allow_remote=allow_remote, models_file=models_file, calibration=calibration
        )
        check_address(settings)
        check_port(settings)
        run_server(faces_of(context).build_scorer(settings), settings)


@app.command()
def replay(
    context: typer.Context,
    record: Annotated[str, typer.Argument(metavar="RECORD", help="From --record, or a JSON response that has one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as one JSON object.")] = False,
) -> None:
    """Score a record again without any model, and say whether the score is the recorded one.

    Example: rafs score request.json --record record.json, then rafs replay record.json
    """
    _make_output_safe()
    with explained():
        tape, recorded = read_record(record)
        response = asyncio.run(faces_of(context).replay(tape))
    compared = compare(tape, recorded, response)
    print(compared.model_dump_json() if as_json else compared.to_text())
    if compared.equal is False:
        raise typer.Exit(Exit.DIFFERENT)


def main() -> None:
    """Run the command line."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="rafs: %(message)s")
    app(prog_name="rafs")


async def _score_all(
    scorer: ScoringService, names: Sequence[str], options: ScoreOptions, *, as_json: bool, record: Path | None
) -> int:
    """Score one file after the other; a file that fails leaves the others alone. Returns the highest exit code."""
    code = Exit.DONE
    console = Console(markup=False, emoji=False, highlight=False)
    progress = Console(stderr=True, markup=False, emoji=False, highlight=False)
    try:
        for name in names:
            try:
                request = read_request(name, options)
                with progress.status(f"scoring {show_text(name)} (the first one loads the models)"):
                    response = await scorer.score(request)
                if record is not None:
                    _write_record(response, record)
            except RafsError as error:
                code = max(code, complain(error, name))
                continue
            if as_json:
                print(response.model_dump_json(), flush=True)
            else:
                render_report(name, response, console)
    finally:
        await scorer.close()
    return code


def _write_record(response: ScoreResponse, path: Path) -> None:
    try:
        path.write_text(response.model_dump_json(), encoding="utf-8")
    except OSError as error:
        message = f"the record cannot be written to {path}: {error.strerror}"
        raise InputError(message, field="--record", got=str(path), allowed="a file that can be written") from error


def _make_output_safe() -> None:
    """Let a terminal that knows few characters show escapes instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
