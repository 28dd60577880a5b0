"""A trained head of models.yaml: refused where it does not belong to its base, a verifier where it does."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from rafs.engines.step_reader import TransformersStepReader
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry
from rafs.reading import read_text
from rafs.registry import Registry, load_registry
from rafs.types import Judged
from rafs.usage import Meter
from service.model_check import describe_exactness
from service.stock import Stock
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.rafs.engines.tiny_prms import MODELS_YAML
from tests.verifiers.trained.made_traces import made_examples
from verifiers.trained.artefacts import BaseNeeded, save_head
from verifiers.trained.fitting import Recipe, fit_head
from verifiers.trained.reading_cache import read_all

ENTRY = {"id": "mine", "family": "llama", "roles": ["prm"], "licence": "L", "trained": "head.safetensors"}


@pytest.fixture
async def registry(tmp_path: Path) -> Registry:
    folder = tmp_path / "base"
    tiny_llama().save_pretrained(folder)
    tiny_tokenizer().tokenizer.save_pretrained(folder)
    reader = TransformersStepReader.load(folder, TINY, [1, 2], dtype="float32")
    read = await read_all(made_examples(20), reader, "", tmp_path / "readings")
    base = BaseNeeded(weights_sha256=reader.weights_sha256(), dtype="float32", layers=reader.layers)
    reader.close()
    path = tmp_path / "head.safetensors"
    save_head(path, fit_head(read, Recipe(n_components=2, n_trees=5, least_leaf=3, width=8, epochs=1)), base, {})
    written = yaml.safe_load(MODELS_YAML.read_text("utf-8"))
    written["models"].append({**ENTRY, "source": f"path:{folder}", "trained": str(path)})
    written["presets"]["gate"]["models"]["prm"] = ["mine"]
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    return load_registry(file)


async def test_a_preset_with_a_trained_head_scores_steps_with_it(registry: Registry, tmp_path: Path) -> None:
    stock = Stock(registry, tmp_path, 1)
    (verifier,) = stock.prms("gate")
    trace = read_text("Tom has 3 apples and buys 4 more.", "So 3 + 4 = 7.\nHalf of 12 is 6.\n", None).blind()
    verdicts = await verifier.verify(trace, [0, 1], Meter())
    await stock.closing.aclose()
    assert verifier.name == "prm:mine"
    assert all(isinstance(verdict, Judged) for verdict in verdicts)


def test_a_base_and_its_head_are_checked_together(registry: Registry) -> None:
    entry = registry.model("mine")
    assert describe_exactness(entry, Path(entry.location), 1) == "loads, and is what its head was trained on"


def test_another_base_is_refused(registry: Registry) -> None:
    entry = registry.model("mine")
    tiny_llama(initializer_range=0.2).save_pretrained(entry.location)
    with pytest.raises(ConfigError, match="belongs to a base with weights"):
        describe_exactness(entry, Path(entry.location), 1)


def test_another_precision_is_refused(registry: Registry) -> None:
    entry = registry.model("mine").model_copy(update={"dtype": "bfloat16"})
    with pytest.raises(ConfigError, match="as its head was trained"):
        describe_exactness(entry, Path(entry.location), 1)


@pytest.mark.parametrize(
    "change",
    [
        {"roles": ["judge"]},
        {"source": "endpoint:http://127.0.0.1:8000/v1", "model": "m"},
        {"engine": "vllm"},
        {"prm": {"framing": "plain", "separator": "\n", "tokens": {"good": "+", "bad": "-"}}},
    ],
    ids=["without the role", "behind an endpoint", "on vllm", "beside a layout"],
)
def test_a_head_stands_only_where_it_can_be_used(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="a head"):
        ModelEntry.model_validate({**ENTRY, "source": "path:/srv/base", **change})
