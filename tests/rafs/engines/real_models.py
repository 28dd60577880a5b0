"""The two models that every installation has, fetched on demand into the cache."""

import os
from functools import cache
from pathlib import Path

from platformdirs import user_cache_dir

from rafs.engines.weights import fetch
from rafs.registry import load_registry

MODELS_YAML = Path(__file__).parents[3] / "models.yaml"


@cache
def real_model_folder(model_id: str) -> Path:
    source = load_registry(MODELS_YAML).model(model_id).to_source()
    assert source is not None
    return fetch(source, Path(os.environ.get("RAFS_CACHE") or user_cache_dir("rafs")))
