"""A reward model of models.yaml, from its folder to a verdict."""

from pathlib import Path

import pytest
import yaml

from rafs.reading import read_text
from rafs.registry import Registry, load_registry
from rafs.types import Judged
from rafs.usage import Meter
from service.model_check import describe_exactness
from service.stock import Stock
from tests.rafs.engines.tiny_prms import MODELS_YAML, SKYWORK, examples, save_tiny


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    folder = tmp_path / "Skywork-o1-Open-PRM-Qwen-2.5-7B"
    save_tiny(SKYWORK, folder)
    written = yaml.safe_load(MODELS_YAML.read_text("utf-8"))
    shown = examples()[SKYWORK].model_dump(mode="json", exclude_none=True)
    written["models"].append({**shown, "source": f"path:{folder}", "dtype": "float32"})
    written["presets"]["gate"]["models"]["prm"] = [SKYWORK]
    del written["presets"]["deep"]["models"]["prm"]
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    return load_registry(file)


async def test_a_preset_with_a_reward_model_scores_steps_with_it(registry: Registry, tmp_path: Path) -> None:
    stock = Stock(registry, tmp_path, 1)
    (verifier,) = stock.prms("gate")
    trace = read_text("Tom has 3 apples and buys 4 more.", "So 3 + 4 = 7.\nHalf of 12 is 6.\n", None).blind()
    verdicts = await verifier.verify(trace, [0, 1], Meter())
    await stock.closing.aclose()
    assert verifier.name == f"prm:{SKYWORK}"
    assert all(isinstance(verdict, Judged) for verdict in verdicts)
    assert stock.prms("deep") == []


def test_its_weights_are_checked_with_its_score(registry: Registry) -> None:
    entry = registry.model(SKYWORK)
    assert describe_exactness(entry, Path(entry.location), 1) == "loads, with its score"
