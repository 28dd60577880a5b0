"""`rafs models`: which models there are, fetching their weights, checking them."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rafs.engines.weights import fetch, locate
from rafs.errors import ConfigError, InputError, RafsError
from rafs.model_entry import ModelEntry, SourceKind
from rafs.registry import Registry, load_registry
from service.exits import Exit, complain, explained
from service.faces import faces_of
from service.model_check import changed_files, describe_exactness, record_hashes
from service.server_check import try_server
from service.settings import Settings, load_settings
from service.visible import show_text

ModelsFile = Annotated[
    Path | None, typer.Option("--models-file", help="Your own models.yaml, instead of the one that came with RAFS.")
]
CalibrationFile = Annotated[
    Path | None,
    typer.Option("--calibration", help="Artefact of `rafs calibrate`, used for the preset it was made for."),
]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Models; all when none is named.")]

models_app = typer.Typer(no_args_is_help=True, help="List, fetch and check the models.")


@models_app.command("list")
def list_models(context: typer.Context, models_file: ModelsFile = None) -> None:
    """Say which models there are, and whether their weights are on this machine.

    Example: rafs models list
    """
    with explained():
        settings = load_settings(models_file=models_file)
        statuses = faces_of(context).build_scorer(settings).models()
    table = Table.grid(padding=(0, 2))
    for model in statuses:
        where = Text("ready", "green") if model.ready else Text("not here", "yellow")
        if model.source.startswith(f"{SourceKind.ENDPOINT}:"):
            where = Text("on a server")
        details = f"{', '.join(model.roles)}; family {model.family}; {model.licence}; {model.source}"
        table.add_row(Text(show_text(model.id, 48), "bold"), where, Text(show_text(details, None)))
    console = Console(markup=False, emoji=False, highlight=False)
    console.print(table)
    if any(not model.ready for model in statuses):
        console.print(f"Fetch what is not here: {settings.pull_command}")


@models_app.command()
def pull(ids: Ids = None, models_file: ModelsFile = None) -> None:
    """Fetch the weights of models; what is here already is left alone.

    Example: rafs models pull all-minilm-l6-v2
    """
    progress = Console(stderr=True, markup=False, emoji=False, highlight=False)
    with explained():
        settings = load_settings(models_file=models_file)
        for entry in _chosen(load_registry(settings.models_file), ids or ()):
            source = entry.to_source()
            if source is None:
                print(f"{entry.id}: on a server, nothing to fetch")
                continue
            if locate(source, settings.cache_dir) is None:
                _require_torch(entry)
                weights = fetch(source, settings.cache_dir, progress.status)
                record_hashes(weights)
                print(f"{entry.id}: fetched")
            else:
                print(f"{entry.id}: here already")


@models_app.command()
def check(ids: Ids = None, models_file: ModelsFile = None) -> None:
    """Check that weights are as they were fetched and how exactly prompts can be packed, and that servers answer.

    Example: rafs models check
    """
    with explained():
        settings = load_settings(models_file=models_file)
        codes = [_check(entry, settings) for entry in _chosen(load_registry(settings.models_file), ids or ())]
    raise typer.Exit(max(codes, default=Exit.DONE))


def _chosen(registry: Registry, ids: Sequence[str]) -> list[ModelEntry]:
    known = {entry.id: entry for entry in registry.models}
    for model_id in ids:
        if model_id not in known:
            allowed = ", ".join(known)
            message = f"there is no model {show_text(model_id)!r}; known are {allowed}"
            raise InputError(message, field="ID", got=show_text(model_id), allowed=allowed)
    return [known[model_id] for model_id in ids] if ids else list(known.values())


def _require_torch(entry: ModelEntry) -> None:
    if find_spec("torch") is None:
        raise ConfigError(f"model {entry.id!r} runs on torch, which is not installed: pip install 'rafs[local]'")


def _check(entry: ModelEntry, settings: Settings) -> Exit:
    """Check one model, print what was found, and return its exit code."""
    source = entry.to_source()
    try:
        if source is None:
            is_good, found = try_server(entry)
            print(f"{entry.id}: {found}")
            return Exit.DONE if is_good else Exit.DIFFERENT
        weights = locate(source, settings.cache_dir)
        if weights is None:
            raise ConfigError(f"the weights of {entry.id!r} are not on this machine: run `{settings.pull_command}`")
        changed = changed_files(weights)
        if changed:
            print(f"{entry.id}: CHANGED since they were fetched: {', '.join(changed)}; delete {weights} and pull again")
            return Exit.DIFFERENT
        _require_torch(entry)
        hashes = "hashes as fetched" if changed == [] else "no hashes written down when it was fetched"
        print(f"{entry.id}: {hashes}; {describe_exactness(entry, weights, settings.torch_threads)}")
    except RafsError as error:
        return complain(error, entry.id)
    return Exit.DONE
