"""Training a step verifier: read, cross-validate, fit, write."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rafs.engines.step_reader import TransformersStepReader
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.labels import LabelledTrace
from verifiers.trained.artefacts import BaseNeeded, save_head
from verifiers.trained.cross_validation import (
    N_FOLDS,
    HeldOut,
    choose_threshold,
    cross_validate,
    final_head,
    measure_subset,
)
from verifiers.trained.examples import Example, read_examples
from verifiers.trained.fitting import ReadExample, Recipe
from verifiers.trained.reading_cache import read_all

DEPTHS = (0.3, 0.4, 0.5)
"""Layers read, as shares of the base's. Deeper ones say less of a step's being right: at 135 M the AUROC of a probe on
one layer falls from 0.73 at half the depth to 0.68 at the end."""
MIN_FIGURE_TRACES = 40
"""A subset of fewer traces is trained on, and no figure of it is shown."""

Progress = Callable[[str, int], Callable[[], None]]
"""Takes what is done and of how many pieces; returns what is called after each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """Traces for a training."""

    learned: Sequence[Example]
    """To learn from, and to judge by a head that did not see their problem."""
    measured: Sequence[Example] = ()
    """Judged and never learned from."""
    planted: Sequence[Example] = ()
    """Ending in a planted mistake: learned from and never judged."""

    @property
    def n_traces(self) -> int:
        """Traces to read."""
        return len(self.learned) + len(self.measured) + len(self.planted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What training found."""

    figures: Mapping[str, Mapping[str, Measurement]]
    """By subset and name; every one on traces whose problem the head had not seen."""
    n_traces: Mapping[str, int]
    """Traces trained on, by subset."""
    n_steps: int
    threshold: float
    """Of P(correct), best for the first error over all traces that were trained on."""


def layers_of(n_layers: int) -> tuple[int, ...]:
    """Return the layers of a base to read."""
    return tuple(dict.fromkeys(max(1, round(depth * n_layers)) for depth in DEPTHS))


def read_files(
    paths: Iterable[Path],
    leave_out: Collection[str] = (),
    plant: Callable[[LabelledTrace], Sequence[LabelledTrace]] | None = None,
) -> list[Example]:
    """Read the traces of files in any format that RAFS measures on, but those of some subsets.

    Args:
        paths: The files.
        leave_out: Subsets.
        plant: Makes of a trace those to return in its stead.

    Raises:
        InputError: A row is of no known format.
    """
    kept = (trace for path in paths for trace in read_traces(path) if trace.subset not in leave_out)
    return read_examples(kept if plant is None else (made for trace in kept for made in plant(trace)))


async def train(
    material: Material,
    reader: TransformersStepReader,
    base: BaseNeeded,
    recipe: Recipe,
    work: Path,
    out: Path,
    about: Mapping[str, str],
    progress: Progress,
) -> Trained:
    """Train a head, measure it by grouped cross-validation, and write it.

    The same examples, base and recipe give the same file. Beside it stands what was said of each trace by a head that
    did not see its problem.

    Args:
        material: The traces.
        reader: Of the base.
        base: What the head will need.
        recipe: Settings of the fits.
        work: Folder of the readings; a training that was stopped goes on from there.
        out: The head's file.
        about: Notes for that file.
        progress: Shows how far it is.

    Raises:
        BackendError: The base failed.
        ConfigError: Too few labels to learn from.
    """
    key = f"{base.weights_sha256} {reader.fingerprint}"
    done = progress("reading", material.n_traces)
    kinds = (material.learned, material.measured, material.planted)
    read, others, slipped = [await read_all(each, reader, key, work, done) for each in kinds]
    held_out, scaling = cross_validate(read, recipe, others, slipped, progress("cross-validating", N_FOLDS))
    write_words(out.with_suffix(".words.jsonl"), held_out)
    head = final_head([*read, *slipped], recipe, scaling)
    save_head(out, head, base, about)
    return _summary(read, held_out, recipe)


def write_words(path: Path, held_out: Iterable[HeldOut]) -> None:
    """Write what was said of each trace by a head that did not see its problem: what a calibration may be fitted on.

    One JSON object a line, with the trace's id and a probability for each labelled step, null where it was not read.
    """
    with path.open("w", encoding="utf-8") as file:
        for one in held_out:
            said = dict(zip(one.example.places, map(float, one.p_correct), strict=False))
            row = {"id": one.example.id, "p": [said.get(place) for place in range(one.example.n_labelled)]}
            file.write(json.dumps(row) + "\n")


def _summary(read: Sequence[ReadExample], held_out: Sequence[HeldOut], recipe: Recipe) -> Trained:
    learned = {one.example.id for one in read}
    located = [one for one in held_out if one.example.id in learned and one.example.first_error is not None]
    subsets = Counter(one.example.subset for one in held_out)
    return Trained(
        figures={
            subset: measure_subset([one for one in held_out if one.example.subset == subset], recipe.seed)
            for subset, n in sorted(subsets.items())
            if n >= MIN_FIGURE_TRACES
        },
        n_traces=dict(sorted(Counter(one.example.subset for one in read).items())),
        n_steps=sum(int((one.wrong >= 0).sum()) for one in read),
        threshold=choose_threshold(located),
    )


def report_lines(trained: Trained) -> Iterable[str]:
    """Yield the figures as rows of a Markdown table."""
    yield "| subset | figure | value | 95 % interval | traces or steps |"
    yield "|---|---|---|---|---|"
    for subset, figures in trained.figures.items():
        for name, found in figures.items():
            if isinstance(found, Figure):
                interval = "" if found.low is None else f"{found.low:.3f} to {found.high:.3f}"
                yield f"| {subset} | {name} | {found.value:.3f} | {interval} | {found.n} |"


def notes_of(material: Material, licences: str, recipe: Recipe) -> dict[str, str]:
    """Return notes for the head's file: what it was trained on, and how."""
    subsets = sorted(Counter(example.subset for example in (*material.learned, *material.planted)).items())
    return {"data": json.dumps(dict(subsets)), "licences": licences, "recipe": json.dumps(asdict(recipe))}
