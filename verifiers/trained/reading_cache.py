"""Readings of many traces, each kept in a file of its own, so that training goes on where it was stopped."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from rafs.step_reading import StepReader, StepReading
from rafs.usage import Caller, Meter, Priority
from verifiers.trained.examples import Example
from verifiers.trained.fitting import ReadExample


async def read_all(
    examples: Sequence[Example], reader: StepReader, base: str, folder: Path, done: Callable[[], None] = lambda: None
) -> list[ReadExample]:
    """Read every trace as far as it is worth, from the folder where it was read before.

    Args:
        examples: The traces.
        reader: Asked about those that are not in the folder.
        base: What decides a reading beside the text: the hash of the weights and the reader's settings.
        folder: Made where it is missing.
        done: Called after each trace.

    Returns:
        The traces of which at least the first step could be read, with all readings up to the first that could not.

    Raises:
        BackendError: The model failed; what was read by then is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: list[ReadExample] = []
    for example in examples:
        path = folder / f"{_key(base, example)}.npz"
        readings = _load(path)
        if readings is None:
            readings = await _read(example, reader)
            _save(path, readings)
        if readings:
            found.append(ReadExample(example=example, readings=readings))
        done()
    return found


async def _read(example: Example, reader: StepReader) -> list[StepReading]:
    meter = Meter(caller=Caller(priority=Priority.BATCH))
    readings: list[StepReading] = []
    for one in await reader.read(example.problem, example.steps, range(example.n_read), meter):
        if not isinstance(one, StepReading):
            break
        readings.append(one)
    return readings


def _key(base: str, example: Example) -> str:
    parts = (base, example.problem, *example.steps[: example.n_read])
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _save(path: Path, readings: Sequence[StepReading]) -> None:
    partial = path.with_suffix(".partial.npz")
    states = [reading.states.astype(np.float16) for reading in readings]
    surprisal = [reading.surprisal for reading in readings]
    np.savez(partial, states=np.array(states), surprisal=np.array(surprisal))
    partial.replace(path)


def _load(path: Path) -> list[StepReading] | None:
    """Return what was read before; None where that is nothing, or a file that was cut off."""
    try:
        with np.load(path, allow_pickle=False) as file:
            pairs = zip(file["states"], file["surprisal"], strict=True)
            return [StepReading(states=states, surprisal=surprisal) for states, surprisal in pairs]
    except (FileNotFoundError, BadZipFile, ValueError, KeyError, EOFError):
        return None
