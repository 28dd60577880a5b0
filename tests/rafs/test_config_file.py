import re
from pathlib import Path

import pytest

from rafs.errors import ConfigError
from rafs.registry import find_default, load_registry


def complaint_of(path: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load_registry(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("policy: {}\nmodels: []\npolicy: {}\n", "line 3: got key 'policy' twice", id="key twice"),
        pytest.param("models:\n- id: a\n  id: b\n", "line 3: got key 'id' twice", id="nested key twice"),
        pytest.param("models: [", "is no valid YAML", id="broken YAML"),
        pytest.param("models: !!python/object/apply:os.getcwd []", "is no valid YAML", id="YAML that would run code"),
        pytest.param("[" * 5000, "is no valid YAML", id="nesting without end"),
        pytest.param("{[a]: 1}", "is no valid YAML", id="key that is a list"),
        pytest.param("", "is empty, a mapping with families, models, presets and policy is needed", id="empty file"),
        pytest.param("# a comment\n", "is empty, a mapping with families", id="comments alone"),
        pytest.param("[]", "the whole file: got []", id="list"),
        pytest.param("#" * (1 << 20) + "\n", "bytes, at most", id="file too large"),
    ],
)
def test_a_file_that_is_no_registry_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    message = complaint_of(path)
    assert message.startswith(f"{path}: ")
    assert words in message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert complaint_of(tmp_path / "none.yaml").endswith("none.yaml: cannot be read: No such file or directory")


@pytest.mark.parametrize(
    ("key", "misspelt", "where"),
    [
        ("policy", "polcy", "polcy"),
        ("tau_step", "tau_stp", "policy.tau_stp"),
        ("n_edits", "n_edit", "presets.gate.n_edit"),
    ],
)
def test_a_misspelt_key_is_named_before_the_one_that_is_missing_for_it(
    tmp_path: Path, key: str, misspelt: str, where: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(re.sub(rf"^( *){key}:", rf"\1{misspelt}:", find_default().read_text("utf-8"), count=1, flags=re.M))
    wanted = f"{path}: {where}: got unknown key {misspelt!r}, allowed only known keys; missing beside it: {key!r}"
    assert complaint_of(path) == wanted
