import re
from pathlib import Path

import pytest

from rafs.errors import ConfigError
from service.settings import PREFIX, VARIABLES, Settings, load_settings

GUIDE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_an_option_wins_over_its_variable_and_none_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_PORT", "9000")
    assert load_settings().port == 9000
    assert load_settings(port=None).port == 9000
    assert load_settings(port=9001).port == 9001


def test_the_cache_has_the_short_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_CACHE", "/somewhere")
    assert load_settings().cache_dir == Path("/somewhere")


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_PORT", "")
    assert load_settings().port == 8000


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("RAFS_PORT", "65536"),
        ("RAFS_MAX_IN_FLIGHT", "0"),
        ("RAFS_BODY_TIMEOUT_S", "nan"),
        ("RAFS_LOG_LEVEL", "loud"),
        ("RAFS_ALLOW_REMOTE", "perhaps"),
    ],
)
def test_a_wrong_value_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=f"^{variable}: got '{value}', allowed "):
        load_settings()


def test_the_secret_is_not_shown() -> None:
    assert "hush" not in repr(Settings.model_validate({"edit_secret": "hush"}))


def test_the_guide_names_every_setting_and_no_other() -> None:
    variables = {VARIABLES.get(name, PREFIX + name.upper()) for name in Settings.model_fields}
    assert set(re.findall(r"^\| `(RAFS_[A-Z_]+)`", GUIDE.read_text("utf-8"), re.MULTILINE)) == variables
