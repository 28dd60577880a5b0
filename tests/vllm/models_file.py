"""A models.yaml as an operator writes it: the one that came with RAFS, with other models."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

SHIPPED = Path(__file__).parents[2] / "models.yaml"
PROBLEM = "A crate holds 14 bottles. A shop buys 6 crates and sells 29 of the bottles. How many bottles are left?"
TRACE = "The shop buys 6 * 14 = 84 bottles.\nAfter the sale 84 - 29 = 55 bottles are left.\nThe answer is 55."


def write_models(file: Path, models: Sequence[Mapping[str, Any]], roles: Mapping[str, Sequence[str]]) -> Path:
    """Write it: `models` beside those shipped, and a standard preset with these `roles` that measures a little."""
    registry = yaml.safe_load(SHIPPED.read_text("utf-8"))
    registry["models"] = [*registry["models"], *models]
    few = {"n_edits": 2, "n_samples": 3, "n_continuations": 2, "deadline_s": 240}
    registry["presets"]["standard"] |= {"models": dict(roles), **few}
    file.write_text(yaml.safe_dump(registry), "utf-8")
    return file


def served(name: str, family: str, role: str, url: str) -> dict[str, Any]:
    """Return the entry of a model behind a server."""
    return {
        "id": name,
        "family": family,
        "roles": [role],
        "source": f"endpoint:{url}/v1",
        "model": name,
        "licence": "Apache-2.0",
    }
