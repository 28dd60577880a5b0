from pathlib import Path

import yaml

from rafs.engines.server_generator import ServerGenerator
from rafs.registry import find_default, load_registry
from service.stock import Stock
from verifiers.judge import JudgeVerifier

SERVED = {
    "id": "House-70B",
    "family": "llama",
    "roles": ["judge", "generator"],
    "source": "endpoint:http://127.0.0.1:9/v1",
    "model": "meta-llama/Llama-3.3-70B",
    "licence": "L",
}


async def test_a_model_with_two_roles_is_built_once_for_each_and_found_by_all_its_names(tmp_path: Path) -> None:
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["models"].append(SERVED)
    written["presets"]["gate"]["models"] |= {"judge": ["House-70B"], "generator": ["House-70B"]}
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    stock = Stock(load_registry(file), tmp_path, 1)
    (judge,), generators = stock.judges("gate"), stock.generators("gate")
    assert isinstance(judge, JudgeVerifier)
    assert set(generators) == {"house-70b", "meta-llama/llama-3.3-70b"}
    assert all(isinstance(generator, ServerGenerator) for generator in generators.values())
    assert stock.judges("gate") == [judge]
    await stock.closing.aclose()
