"""Readings of many traces, each kept in a file of its own, so that training goes on where it was stopped."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from rafs.engines.step_reader import TransformersStepReader
from rafs.engines.token_pooler import TokenStates
from rafs.step_reading import StepReading
from rafs.usage import Caller, Meter, Priority
from verifiers.trained.examples import Example
from verifiers.trained.fitting import ReadExample


async def read_all(
    examples: Sequence[Example],
    reader: TransformersStepReader,
    base: str,
    folder: Path,
    done: Callable[[], None] = lambda: None,
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
        read = _load(path, example)
        if read is None:
            meter = Meter(caller=Caller(priority=Priority.BATCH))
            fresh = await reader.read_tokens(example.problem, example.steps[: example.n_read], meter)
            if fresh is not None:
                _save(path, *fresh)
                read = _load(path, example)  # as it will be read again, in half precision
        found += [read] if read else []
        done()
    return found


def _key(base: str, example: Example) -> str:
    parts = (base, example.problem, *example.steps[: example.n_read])
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _save(path: Path, readings: Sequence[StepReading], tokens: TokenStates) -> None:
    partial = path.with_suffix(".partial.npz")
    np.savez(
        partial,
        states=np.array([reading.states.astype(np.float16) for reading in readings]),
        surprisal=np.array([reading.surprisal for reading in readings]),
        token_states=tokens.states,
        token_signs=tokens.signs.astype(np.float16),
        body=tokens.body,
        ends=tokens.ends,
    )
    partial.replace(path)


def _load(path: Path, example: Example) -> ReadExample | None:
    """Return what was read before; None where that is nothing, or a file that was cut off."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            pairs = zip(file["states"], file["surprisal"], strict=True)
            tokens = TokenStates(
                states=file["token_states"],
                signs=file["token_signs"].astype(np.float32),
                body=int(file["body"]),
                ends=file["ends"],
            )
            readings = [StepReading(states=states, surprisal=surprisal) for states, surprisal in pairs]
            return ReadExample(example=example, readings=readings, tokens=tokens)
    except (FileNotFoundError, BadZipFile, ValueError, KeyError, EOFError):
        return None
