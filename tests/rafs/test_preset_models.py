from pathlib import Path

from tests.rafs.test_registry import complaint_of, setting, write


def test_a_preset_lists_a_model_once_for_a_role(tmp_path: Path) -> None:
    message = complaint_of(write(tmp_path, setting(["x", "x"], "presets", "deep", "models", "nli")))
    assert "presets.deep.models.nli: got 'x' twice" in message
