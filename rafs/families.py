"""Which model families an id belongs to; independence means that two sets of families are disjoint."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase


def find_families(model_id: str, patterns: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return every family whose pattern occurs in a model id.

    A pattern is a glob over whole words of the lower-cased id: `qwen*` finds `My-Qwen2.5-7B-GGUF`, `yi` does
    not find `tiny`; with a leading `^` it must start the id. The last path segment decides, so that a hub
    prefix counts only where that segment tells nothing.

    Args:
        model_id: Any spelling: `deepseek-ai/DeepSeek-R1-Distill-Qwen-7B`, `gpt-4o-2024-08-06`, `llama3.1:8b`.
        patterns: Globs of each family.

    Returns:
        All families found: a distilled model has two; empty means unknown.
    """
    return _match(model_id.rstrip("/").rpartition("/")[2], patterns) or _match(model_id, patterns)


def _match(name: str, patterns: Mapping[str, Iterable[str]]) -> frozenset[str]:
    words = "-" + "-".join(re.findall(r"[a-z0-9]+", name.lower())) + "-"
    return frozenset(
        family for family, globs in patterns.items() if any(fnmatchcase(words, _widen(glob)) for glob in globs)
    )


def _widen(glob: str) -> str:
    return f"-{glob[1:]}-*" if glob.startswith("^") else f"*-{glob}-*"
