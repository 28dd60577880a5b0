"""`rafs train-verifier`: a step verifier of one's own, on any causal model of models.yaml."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from counterfactuals.mistakes import plant_mistakes
from rafs.engines.step_reader import TransformersStepReader
from rafs.engines.weights import locate
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry
from rafs.registry import load_registry
from rafs.types import ModelIdentity
from service.exits import explained
from service.identity import revision_of
from service.models_cli import ModelsFile
from service.settings import Settings, load_settings
from verifiers.trained.artefacts import BaseNeeded
from verifiers.trained.fitting import Recipe
from verifiers.trained.training import Material, Trained, layers_of, notes_of, read_files, report_lines, train


def train_verifier(
    *,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Labelled traces to learn from; those of the first weigh most.")
    ],
    out: Annotated[Path, typer.Option(help="The head's file, ending in .safetensors.")],
    base: Annotated[str, typer.Option(help="Id of a causal model of models.yaml.")] = "smollm2-135m-instruct",
    measure: Annotated[
        list[Path] | None, typer.Option(help="Traces that are judged, never learned from; may be repeated.")
    ] = None,
    work: Annotated[
        Path | None, typer.Option(help="Folder of what was read; beside the head's file by default.")
    ] = None,
    leave_out: Annotated[list[str] | None, typer.Option(help="A subset not to learn from; may be repeated.")] = None,
    planted: Annotated[
        int, typer.Option(min=0, max=8, help="Mistakes planted in each right solution, to learn from as well.")
    ] = 1,
    licences: Annotated[str, typer.Option(help="Licences of the traces, written into the head's file.")] = "",
    seed: Annotated[int, typer.Option(help="Draws folds and trees.")] = 0,
    models_file: ModelsFile = None,
) -> None:
    """Train a step verifier: one pass of the base over a trace gives the probability that each step is right.

    Example: rafs train-verifier processbench.jsonl --out my-head.safetensors

    It goes on where it was stopped. Figures are by cross-validation, no problem on both sides of a split. Use the head
    as `trained: my-head.safetensors` with role prm and dtype bfloat16 in a copy of models.yaml.
    """
    with explained():
        _require_libraries()
        settings = load_settings(models_file=models_file)
        entry = load_registry(settings.models_file).model(base)
        material = Material(
            learned=read_files(files, leave_out or ()),
            measured=read_files(measure or ()),
            planted=read_files(files, leave_out or (), partial(plant_mistakes, n=planted, seed=seed)),
        )
        recipe = Recipe(seed=seed, main_source=material.learned[0].source if material.learned else "")
        folder = out.with_suffix(".readings") if work is None else work
        reader = _load(entry, settings)
        try:
            about = {"base": f"{entry.id} {revision_of(entry)}", **notes_of(material, licences, recipe)}
            trained = _train(material, reader, recipe, folder, out, about)
        finally:
            reader.close()
    _print(trained)


def _require_libraries() -> None:
    for name in ("torch", "sklearn", "scipy"):
        if find_spec(name) is None:
            raise ConfigError(f"training needs {name}, which is not installed: pip install 'rafs[train]'")


def _load(entry: ModelEntry, settings: Settings) -> TransformersStepReader:
    source = entry.to_source()
    folder = None if source is None else locate(source, settings.cache_dir)
    if folder is None:
        raise ConfigError(f"the weights of {entry.id!r} are not on this machine: run `{settings.pull_command}`")
    identity = ModelIdentity(id=entry.id, family=entry.family, revision=revision_of(entry))
    return TransformersStepReader.load(folder, identity, layers_of, threads=settings.torch_threads)


def _train(
    material: Material, reader: TransformersStepReader, recipe: Recipe, work: Path, out: Path, about: Mapping[str, str]
) -> Trained:
    needed = BaseNeeded(weights_sha256=reader.weights_sha256(), dtype="bfloat16", layers=reader.layers)
    with Progress(console=Console(stderr=True)) as bars:

        def show(what: str, total: int) -> Callable[[], None]:
            bar = bars.add_task(what, total=total)
            return lambda: bars.advance(bar)

        return asyncio.run(train(material, reader, needed, recipe, work, out, about, show))


def _print(trained: Trained) -> None:
    for line in report_lines(trained):
        print(line)
    print(f"\nlearned from {sum(trained.n_traces.values())} traces, {trained.n_steps} labelled steps")
    print(f"threshold of P(correct) for the first error: {trained.threshold:.3f}")
