"""A validator behind text-embeddings-inference: its entry in models.yaml, how it is built, how it is checked."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from rafs.errors import ConfigError
from rafs.registry import find_default, load_registry
from rafs.types import Entailment
from rafs.usage import Meter
from service.cli import app
from service.stock import Stock
from tests.rafs.engines.scripted_server import serve
from tests.rafs.engines.served_tei import tei


def models_file(folder: Path, **keys: Any) -> Path:
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["models"].append({"id": "mine", "family": "deberta", "roles": ["nli"], "licence": "L", **keys})
    if "nli" in written["models"][-1]["roles"]:
        written["presets"]["gate"]["models"]["nli"] = ["mine"]
    file = folder / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    return file


async def test_a_served_validator_is_asked_once_for_a_pair(tmp_path: Path) -> None:
    with serve(tei()) as server:
        file = models_file(tmp_path, source=f"endpoint:{server.url}", model="served", engine="tei")
        stock = Stock(load_registry(file), tmp_path, 1)
        (nli,) = stock.validators("gate")
        opinions = [*await nli.classify([("entailment", "x")], Meter())] * 2
        opinions += await nli.classify([("entailment", "x")], Meter())
        await stock.closing.aclose()
    assert all(isinstance(said, Entailment) and said.entails > 0.7 for said in opinions)
    assert len(server.bodies("/predict")) == 1
    assert nli.identity.family == "deberta"


SERVED = {"source": "endpoint:http://127.0.0.1:9", "model": "served"}


@pytest.mark.parametrize(
    ("keys", "key", "allowed"),
    [
        pytest.param(SERVED, "engine", "got nothing, allowed 'tei'", id="of the OpenAI protocol"),
        pytest.param({**SERVED, "engine": "vllm"}, "engine", "got 'vllm', allowed 'tei'", id="of another engine"),
        pytest.param({"source": "path:/srv/m", "engine": "tei"}, "engine", "got 'tei', allowed 'transf", id="a folder"),
        pytest.param({**SERVED, "engine": "tei", "roles": ["judge"]}, "roles", "allowed 'nli' alone", id="a judge"),
    ],
)
def test_an_entry_that_no_engine_fits_is_refused(tmp_path: Path, keys: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(ConfigError, match=allowed) as caught:
        load_registry(models_file(tmp_path, **keys))
    assert f"models[3].{key}" in str(caught.value)


@pytest.mark.parametrize(
    ("serves", "code", "line"),
    [
        pytest.param("served", 0, "mine: reachable; serves 'served'", id="the model"),
        pytest.param("other", 1, "mine: reachable, but it does not list 'served'; it lists 'other'", id="another"),
    ],
)
def test_the_check_of_a_served_validator_asks_what_it_serves(tmp_path: Path, serves: str, code: int, line: str) -> None:
    with serve(tei(model=serves)) as server:
        file = models_file(tmp_path, source=f"endpoint:{server.url}", model="served", engine="tei")
        done = CliRunner().invoke(app, ["models", "check", "mine", "--models-file", str(file)])
    assert (done.exit_code, line in done.stdout) == (code, True), done.output
