"""`rafs train-verifier`, from files of traces to a head that the registry takes."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from service.cli import app
from tests.rafs.engines.tiny_models import tiny_llama, tiny_tokenizer
from tests.rafs.engines.tiny_prms import MODELS_YAML
from tests.verifiers.trained.made_traces import made_trace
from verifiers.trained.artefacts import load_head


@pytest.fixture
def models_file(tmp_path: Path) -> Path:
    folder = tmp_path / "base"
    tiny_llama().save_pretrained(folder)
    tiny_tokenizer().tokenizer.save_pretrained(folder)
    written = yaml.safe_load(MODELS_YAML.read_text("utf-8"))
    entry = {"id": "tiny", "family": "llama", "roles": ["judge"], "source": f"path:{folder}", "licence": "L"}
    written["models"].append(entry)
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    return file


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    made = [made_trace(number, (number // 2) % 3 if number % 2 else None) for number in range(44)]
    file = tmp_path / "made.jsonl"
    file.write_text("".join(json.dumps({**asdict(one), "answer_correct": None}) + "\n" for one in made))
    return file


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["train-verifier", *map(str, arguments)])
    return done.exit_code, done.output


def test_a_head_is_trained_measured_and_written(models_file: Path, traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "head.safetensors"
    code, output = run(traces, "--out", out, "--base", "tiny", "--models-file", models_file)
    assert code == 0
    assert "| made/sums | first_error_f1 |" in output
    assert "learned from 44 traces" in output
    assert load_head(out)[1].layers == (1,)


def test_a_subset_can_be_left_out(models_file: Path, traces: Path, tmp_path: Path) -> None:
    out = tmp_path / "head.safetensors"
    code, output = run(traces, "--out", out, "--base", "tiny", "--models-file", models_file, "--leave-out", "sums")
    assert code == 3
    assert "a verifier learns from right and wrong ones" in output


def test_weights_that_are_not_here_are_named(traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_CACHE", str(tmp_path / "empty"))
    code, output = run(traces, "--out", tmp_path / "head.safetensors")
    assert code == 3
    assert "rafs models pull" in output
