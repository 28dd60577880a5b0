"""Are the weights on this machine those that were fetched, and do they give exact numbers?"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from rafs.engines.exactness import plan_packing
from rafs.engines.loading import load_model
from rafs.engines.transformers_prm import TransformersRewarder
from rafs.model_entry import ModelEntry, Role
from rafs.types import ModelIdentity
from service.stock import load_trained

MANIFEST_SUFFIX = ".sha256.json"
"""Beside the weights, written right after they were fetched and checked against the registry's hash."""
CAUSAL_ROLES = {Role.JUDGE, Role.GENERATOR, Role.EDITOR}


def record_hashes(weights: Path) -> None:
    """Write down the hash of every file of freshly fetched weights."""
    content = json.dumps(dict(_hashes(weights)), indent=1, sort_keys=True)
    manifest = _manifest(weights)
    partial = manifest.with_suffix(".partial")
    partial.write_text(content, encoding="utf-8")
    partial.replace(manifest)


def changed_files(weights: Path) -> list[str] | None:
    """Return the files that are not as they were fetched; None where no hashes were written down."""
    manifest = _manifest(weights)
    if not manifest.exists():
        return None
    expected: dict[str, str] = json.loads(manifest.read_text(encoding="utf-8"))
    found = dict(_hashes(weights))
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))


def describe_exactness(entry: ModelEntry, weights: Path, threads: int) -> str:
    """Load a model and say how prompts may be packed without changing its numbers.

    Raises:
        BackendError: It does not load.
        ConfigError: Its trained head belongs to another model.
    """
    identity = ModelIdentity(id=entry.id, family=entry.family, revision="")
    if entry.trained is not None:
        load_trained(entry, weights, identity, threads)[0].close()
        return "loads, and is what its head was trained on"
    if entry.prm is not None:
        TransformersRewarder.load(weights, identity, entry.prm.to_layout(), threads=threads).close()
        return "loads, with its score"
    if not CAUSAL_ROLES & set(entry.roles):
        load_model(weights, "AutoModel", threads=threads)
        return "loads"
    plan = plan_packing(load_model(weights, "AutoModelForCausalLM", threads=threads), entry.id)
    measured = ", ".join(f"{strategy} {difference:.1e}" for strategy, difference in plan.differences)
    return f"exact: {plan.exact[0]}; largest logit difference: {measured or 'not measured'}"


def _manifest(weights: Path) -> Path:
    return weights.with_name(weights.name + MANIFEST_SUFFIX)


def _hashes(weights: Path) -> Iterator[tuple[str, str]]:
    files = [weights] if weights.is_file() else sorted(path for path in weights.rglob("*") if path.is_file())
    for path in files:
        with path.open("rb") as stream:
            yield str(path.relative_to(weights.parent)), hashlib.file_digest(stream, "sha256").hexdigest()
