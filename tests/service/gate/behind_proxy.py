"""RAFS on a real socket, with a real client of the OpenAI protocol before it and a scripted model behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml

from rafs.registry import find_default
from service.app import create_app
from service.routes import ScoringService
from service.settings import Settings
from tests.service.gate.scripted_upstream import PATIENCE_S, ScriptedUpstream, served
from tests.test_flow import PROBLEM, STEPS, LengthJudge, scorer

MODEL = "gpt-4o"
GOOD = f"{STEPS}The answer is 50."
BAD = "She has 4 * 15 = 70 nuts.\nAfter eating 10 she has 70 - 10 = 60 nuts.\nThe answer is 60."
QUESTION: Any = [{"role": "user", "content": PROBLEM}]
KEY_VARIABLE = "UPSTREAM_TEST_KEY"


def models_file(folder: Path, port: int, **changes: object) -> Path:
    """Write a models.yaml whose model `gpt-4o` is served on a port of this machine."""
    registry = yaml.safe_load(find_default().read_text("utf-8"))
    entry = {
        "id": MODEL,
        "family": "gpt",
        "roles": ["generator"],
        "source": f"endpoint:http://127.0.0.1:{port}/v1",
        "model": "served-name",
        "licence": "none",
    }
    registry["models"].append(entry | changes)
    path = folder / "models.yaml"
    path.write_text(yaml.safe_dump(registry), "utf-8")
    return path


@contextmanager
def proxied(
    upstream: ScriptedUpstream,
    folder: Path,
    *,
    scores: ScoringService | None = None,
    entry: dict[str, object] | None = None,
    prefix: str = "/openai/v1",
    **settings: object,
) -> Iterator[openai.OpenAI]:
    """Run model and proxy, and yield a client."""
    with served(upstream.app) as port:
        path = models_file(folder, port, **(entry or {}))
        fields = {"models_file": path, "proxy_models": MODEL, "database": f"sqlite:///{folder / 'rafs.db'}"} | settings
        app = create_app(scores or scorer(LengthJudge()), Settings.model_validate(fields))
        with (
            served(app) as own,
            openai.OpenAI(
                base_url=f"http://127.0.0.1:{own}{prefix}", api_key="the-callers-own", max_retries=0, timeout=PATIENCE_S
            ) as client,
        ):
            yield client


def ask(client: openai.OpenAI, **fields: Any) -> Any:
    """Ask the question; the reply has the field `rafs`."""
    return client.chat.completions.create(**{"model": MODEL, "messages": QUESTION} | fields)


def refusal_of(client: openai.OpenAI, kind: type[openai.APIStatusError], **fields: Any) -> openai.APIStatusError:
    """Ask, and return the error of that kind which comes."""
    with pytest.raises(kind) as caught:
        ask(client, **fields)
    return caught.value


def text_of(completion: Any) -> str:
    return str(completion.choices[0].message.content)
