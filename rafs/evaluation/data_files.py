"""Labelled traces of several files as one set, and a part of them drawn by a seed."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TypeVar

from rafs.errors import InputError
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.labels import LabelledTrace, TruthfulQuestion

Drawn = TypeVar("Drawn", LabelledTrace, TruthfulQuestion)


def read_files(paths: Sequence[Path], password: str | None = None) -> list[LabelledTrace]:
    """Read all files, in order; an id that stands in more than one gets the name of its file before it.

    Raises:
        InputError: A file cannot be read, holds no trace or one id twice, or is named twice.
        ConfigError: An archive cannot be opened.
    """
    if twice := [str(path) for path, count in Counter(paths).items() if count > 1]:
        raise _wrong(f"{twice[0]} is named twice", twice[0], "every file once")
    in_file = {path: list(read_traces(path, password)) for path in paths}
    for path, traces in in_file.items():
        if not traces:
            raise _wrong(f"{path} holds no trace", str(path), "at least one labelled trace")
        if repeated := [name for name, count in Counter(trace.id for trace in traces).items() if count > 1]:
            raise _wrong(f"{path}: the id {repeated[0]!r} stands there more than once", repeated[0], "every id once")
    n_files = Counter(trace.id for traces in in_file.values() for trace in traces)
    names = Counter(path.name for path in paths)
    return [
        trace if n_files[trace.id] == 1 else replace(trace, id=f"{_name_of(path, names)}:{trace.id}")
        for path, traces in in_file.items()
        for trace in traces
    ]


def draw(traces: Sequence[LabelledTrace], limit: int | None, seed: int) -> list[LabelledTrace]:
    """Return `limit` traces, evenly many of every subset as far as there are; see `draw_evenly`."""
    return draw_evenly(traces, limit, seed, lambda trace: f"{trace.source}\n{trace.subset}")


def draw_evenly(items: Sequence[Drawn], limit: int | None, seed: int, part_of: Callable[[Drawn], str]) -> list[Drawn]:
    """Return `limit` items, evenly many of every part as far as there are, in the order given.

    Within a part a hash of seed and id decides, so that a file sorted by its labels is no trap, and a larger limit
    only adds items.
    """
    if limit is None or limit >= len(items):
        return list(items)
    parts: dict[str, list[Drawn]] = defaultdict(list)
    for item in sorted(items, key=lambda one: hashlib.sha256(f"{seed}:{one.id}".encode()).digest()):
        parts[part_of(item)].append(item)
    in_turn = (item for turn in zip_longest(*(parts[name] for name in sorted(parts))) for item in turn if item)
    chosen = {item.id for item, _ in zip(in_turn, range(limit), strict=False)}
    return [item for item in items if item.id in chosen]


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _wrong(f"{path} cannot be read: {error.strerror}", str(path), "a readable file") from error


def _name_of(path: Path, names: Counter[str]) -> str:
    return path.name if names[path.name] == 1 else str(path)


def _wrong(message: str, got: str, allowed: str) -> InputError:
    return InputError(message, field="FILE", got=got, allowed=allowed)
