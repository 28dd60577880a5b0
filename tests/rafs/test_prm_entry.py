"""The `prm:` block of a model: whoever scores steps says how it reads them, and nobody else does."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rafs.config_file import load_config
from rafs.engines.prm_layouts import HeadSpec, PrmLayout, TokenPair
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry

PAIR: dict[str, Any] = {"framing": "turns", "separator": "+", "tokens": {"good": "+", "bad": "-"}}
HEAD: dict[str, Any] = {
    "framing": "chat",
    "separator": "<extra_0>",
    "head": {"layers": ["score.0", "score.2"], "output": "softmax", "classes": [1]},
}


def load(path: Path, prm: object, roles: list[str]) -> ModelEntry:
    entry = {"id": "mine", "family": "qwen", "roles": roles, "source": "path:/srv/m", "licence": "MIT"}
    path.write_text(yaml.safe_dump(entry if prm is None else {**entry, "prm": prm}))
    return load_config(path, ModelEntry)


@pytest.mark.parametrize(
    ("block", "layout"),
    [
        pytest.param(
            {**PAIR, "read": "before", "first": " {step}"},
            PrmLayout(
                framing="turns", separator="+", read="before", first=" {step}", score=TokenPair(good="+", bad="-")
            ),
            id="token pair",
        ),
        pytest.param(
            {**HEAD, "system": "s", "step": "{n} {step}"},
            PrmLayout(
                framing="chat",
                separator="<extra_0>",
                system="s",
                first="{n} {step}",
                step="{n} {step}",
                score=HeadSpec(layers=("score.0", "score.2"), output="softmax", classes=(1,)),
            ),
            id="head; the first step is written like the others",
        ),
    ],
)
def test_a_block_becomes_what_the_engines_take(tmp_path: Path, block: dict[str, Any], layout: PrmLayout) -> None:
    prm = load(tmp_path / "m.yaml", block, ["prm"]).prm
    assert prm is not None
    assert prm.to_layout() == layout


@pytest.mark.parametrize(
    ("roles", "block", "said"),
    [
        pytest.param(["prm"], None, r"prm: got nothing, allowed no omission: role 'prm'", id="no layout"),
        pytest.param(["judge"], PAIR, r"prm: got a layout, allowed no such key without role 'prm'", id="no such role"),
        pytest.param(["prm"], {**PAIR, **HEAD}, r"prm\.tokens: got both, allowed one of", id="two scores"),
        pytest.param(["prm"], {"framing": "plain", "separator": "a"}, r"prm\.tokens: got neither", id="no score"),
        pytest.param(["prm"], {**PAIR, "tokens": {"good": "+", "bad": "+"}}, r"tokens\.bad: got '\+' twice", id="odds"),
        pytest.param(["prm"], {**HEAD, "bos": True}, r"prm\.bos: got true, allowed false", id="bos in a chat"),
        pytest.param(["prm"], {**PAIR, "system": "s"}, r"prm\.system: got 's', allowed no such key", id="system"),
        pytest.param(["prm"], {**PAIR, "framing": "fancy"}, r"prm\.framing: got 'fancy'", id="framing"),
        pytest.param(
            ["prm"], {**PAIR, "step": "Step {n}"}, r"prm\.step: got 'Step {n}', allowed text with {step}", id="s"
        ),
        pytest.param(["prm"], {**PAIR, "first": "{problem}{step}"}, r"prm\.first: got", id="the problem in a step"),
        pytest.param(["prm"], {**PAIR, "opening": "Q:"}, r"prm\.opening: got 'Q:'", id="no problem"),
        pytest.param(["prm"], {**PAIR, "separator": ""}, r"prm\.separator", id="no separator"),
        pytest.param(["prm"], {**PAIR, "offset": 1}, r"unknown key 'offset'", id="unknown key"),
        pytest.param(
            ["prm"],
            {**HEAD, "head": {"layers": ["v"], "output": "sigmoid", "classes": [1]}},
            r"head\.classes: got \[1\] with sigmoid",
            id="a class of a sigmoid",
        ),
        pytest.param(
            ["prm"],
            {**HEAD, "head": {"layers": ["v"], "output": "softmax"}},
            r"head\.classes: got \[\] with softmax",
            id="a softmax without its good class",
        ),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, roles: list[str], block: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(tmp_path / "m.yaml", block, roles)
