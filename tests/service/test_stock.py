import threading
from pathlib import Path

import pytest
import yaml

from rafs.engines.model_editor import ModelEditor
from rafs.engines.server_generator import ServerGenerator
from rafs.errors import BackendError, ConfigError
from rafs.registry import find_default, load_registry
from rafs.usage import Meter
from service.stock import Stock
from tests.rafs.engines.scripted_server import Reply, serve
from tests.rafs.engines.served_engines import chatted
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


async def test_a_generator_draws_as_its_entry_says(tmp_path: Path) -> None:
    sampling = {"temperature": 0.3, "top_p": 0.9, "max_new_tokens": 64, "stop": ["Problem:"]}
    with serve(lambda request: chatted("a")) as server:
        written = yaml.safe_load(find_default().read_text("utf-8"))
        written["models"].append(SERVED | {"source": f"endpoint:{server.url}", "sampling": sampling})
        written["presets"]["gate"]["models"]["generator"] = ["House-70B"]
        file = tmp_path / "models.yaml"
        file.write_text(yaml.safe_dump(written))
        stock = Stock(load_registry(file), tmp_path, 1)
        await stock.generators("gate")["house-70b"].sample("p", 1, 1, Meter())
        await stock.closing.aclose()
    (request,) = server.requests
    sent = {key: request.body[key] for key in ("temperature", "top_p", "max_tokens", "stop")}
    assert sent == {"temperature": 0.3, "top_p": 0.9, "max_tokens": 64, "stop": ["Problem:"]}


async def test_a_server_has_the_time_that_its_entry_gives(tmp_path: Path) -> None:
    with serve(lambda request: Reply(wait=threading.Event())) as server:
        written = yaml.safe_load(find_default().read_text("utf-8"))
        written["models"].append(SERVED | {"source": f"endpoint:{server.url}", "timeout_s": 0.2})
        written["presets"]["gate"]["models"]["generator"] = ["House-70B"]
        file = tmp_path / "models.yaml"
        file.write_text(yaml.safe_dump(written))
        stock = Stock(load_registry(file), tmp_path, 1)
        with pytest.raises(BackendError, match=r"no answer within 0\.2 s"):
            await stock.generators("gate")["house-70b"].sample("p", 1, 1, Meter())
        await stock.closing.aclose()


async def test_an_editor_and_a_generator_of_one_model_share_its_engine(tmp_path: Path) -> None:
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["models"].append(SERVED | {"roles": ["editor", "generator"]})
    written["presets"]["deep"]["models"] |= {"editor": ["House-70B"], "generator": ["House-70B"]}
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    stock = Stock(load_registry(file), tmp_path, 1)
    (editor,), generators = stock.editors("deep"), stock.generators("deep")
    assert isinstance(editor, ModelEditor)
    assert {id(generator) for generator in generators.values()} == {id(editor.model)}
    await stock.closing.aclose()


async def test_a_preset_without_an_editor_has_none(tmp_path: Path) -> None:
    assert Stock(load_registry(find_default()), tmp_path, 1).editors("deep") == []


def test_an_editor_that_nobody_checks_is_refused(tmp_path: Path) -> None:
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["models"].append(SERVED | {"roles": ["editor"]})
    written["presets"]["deep"]["models"] = {"editor": ["House-70B"]}
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    with pytest.raises(ConfigError, match=r"presets\.deep\.models\.editor: .* no such role without 'nli'"):
        load_registry(file)
