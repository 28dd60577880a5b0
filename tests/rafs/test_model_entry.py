import pytest
from pydantic import ValidationError

from rafs.engines.weights import ModelSource
from rafs.model_entry import ModelEntry


@pytest.mark.parametrize(
    ("keys", "source"),
    [
        pytest.param(
            {"source": "package:some-dist==1.2", "file": "a/b.gguf", "sha256": "a" * 64, "file_sha256": "b" * 64},
            ModelSource(
                kind="package", name="some-dist", version="1.2", file="a/b.gguf", sha256="a" * 64, file_sha256="b" * 64
            ),
            id="package",
        ),
        pytest.param(
            {"source": "hub:Org/Name-7B", "revision": "c0ffee" * 6 + "cafe", "file": "x.gguf"},
            ModelSource(kind="hub", name="Org/Name-7B", revision="c0ffee" * 6 + "cafe", file="x.gguf"),
            id="hub",
        ),
        pytest.param(
            {"source": "path:/srv/llama/my model"}, ModelSource(kind="path", name="/srv/llama/my model"), id="path"
        ),
        pytest.param({"source": "endpoint:http://127.0.0.1:8001/v1", "model": "served"}, None, id="endpoint"),
    ],
)
def test_a_source_becomes_what_the_engines_fetch(keys: dict[str, str], source: ModelSource | None) -> None:
    entry = {"id": "mine", "family": "qwen", "roles": ["judge"], "licence": "MIT", **keys}
    assert ModelEntry.model_validate(entry).to_source() == source


@pytest.mark.parametrize(
    ("roles", "is_taken"), [(["judge"], True), (["judge", "generator"], True), (["generator"], False), (["nli"], False)]
)
def test_only_a_judge_is_asked_in_a_chat(roles: list[str], is_taken: bool) -> None:
    entry = {"id": "m", "family": "qwen", "roles": roles, "licence": "MIT", "source": "path:/srv/m", "chat": True}
    if is_taken:
        assert ModelEntry.model_validate(entry).chat
    else:
        with pytest.raises(ValidationError, match="chat"):
            ModelEntry.model_validate(entry)


@pytest.mark.parametrize(
    ("source", "timeout_s", "key"),
    [
        pytest.param({"source": "path:/srv/m"}, 5, "timeout_s", id="a model in this process"),
        pytest.param({"source": "endpoint:http://h/v1", "model": "m"}, 0, "timeout_s", id="no time"),
    ],
)
def test_only_a_server_has_a_time_limit_and_it_is_above_zero(
    source: dict[str, str], timeout_s: float, key: str
) -> None:
    entry = {"id": "m", "family": "qwen", "roles": ["judge"], "licence": "MIT", **source, "timeout_s": timeout_s}
    with pytest.raises(ValidationError, match=key):
        ModelEntry.model_validate(entry)


def generator(**sampling: object) -> dict[str, object]:
    return {
        "id": "m",
        "family": "qwen",
        "roles": ["generator"],
        "licence": "MIT",
        "source": "path:/srv/m",
        "sampling": sampling,
    }


def test_a_generator_says_how_it_draws() -> None:
    sampling = {"temperature": 0.3, "top_p": 0.9, "max_new_tokens": 64, "stop": ["\n\n"]}
    entry = ModelEntry.model_validate(generator(**sampling))
    assert entry.sampling is not None
    assert entry.sampling.model_dump(exclude_none=True) == sampling | {"stop": ("\n\n",)}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        pytest.param(generator(temperature=-1), "temperature", id="below zero"),
        pytest.param(generator(top_p=0), "top_p", id="no token is left"),
        pytest.param(generator(max_new_tokens=0), "max_new_tokens", id="no text"),
        pytest.param(generator(stop=[""]), "stop", id="an empty stop"),
        pytest.param(generator(stop=["a"] * 5), "stop", id="more than servers take"),
        pytest.param(generator(seed=1), "seed", id="a seed, which is the request's"),
        pytest.param(generator() | {"roles": ["judge"]}, "sampling", id="a judge draws nothing"),
    ],
)
def test_a_way_to_draw_that_is_none_is_refused(entry: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        ModelEntry.model_validate(entry)
