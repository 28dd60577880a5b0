"""A client that leaves, on the real embedded engine: no more than the slice that is running is computed."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from rafs.engines.packed import SLICE_TOKENS
from rafs.engines.transformers_lm import TransformersProber
from service.app import create_app
from service.intake import Intake
from service.settings import Settings
from tests.rafs.engines.test_priorities import Turnstile
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.service.stand_in import JSON, body
from tests.service.test_server import is_scored, port_of, serving, wait_for
from tests.test_flow import scorer
from verifiers.judge import JudgeVerifier

LONG = "So it goes on and on. " * 100
"""Several slices of the tiny tokenizer."""


@dataclass
class Held:
    """A service whose judge is held back in its first pass."""

    port: int
    turnstile: Turnstile
    intake: Intake

    def leave(self, path: str) -> None:
        """Ask for a long trace, and hang up while its first slice runs; return when the service has noticed."""
        content = body(trace=LONG, generator={"model": "gpt-4o"})
        head = f"POST {path} HTTP/1.1\r\nhost: rafs\r\ncontent-type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(head.encode() + b"content-length: %d\r\n\r\n" % len(content) + content)
            wait_for(lambda: bool(self.turnstile.passes))
        wait_for(lambda: self.intake.admission.in_flight == 0)


@pytest.fixture
def held() -> Iterator[Held]:
    model = tiny_llama(max_position_embeddings=4096)
    prober = TransformersProber(model, tiny_tokenizer(), TINY, job_tokens=4096)
    app = create_app(scorer(JudgeVerifier(prober)), Settings(max_in_flight=1))
    with serving(app) as server:
        yield Held(port_of(server), Turnstile(model), app.state.intake)
    prober.close()


@pytest.mark.parametrize("path", ["/v1/score", "/v1/score/stream"])
def test_no_slice_is_begun_for_a_client_that_left(held: Held, path: str) -> None:
    held.leave(path)
    held.turnstile.may_go_on.set()
    assert is_scored(held.port)
    assert held.turnstile.passes[0] == SLICE_TOKENS
    assert max(held.turnstile.passes[1:]) < SLICE_TOKENS


def test_a_client_that_stays_has_all_slices_run(held: Held) -> None:
    held.turnstile.may_go_on.set()
    content = body(trace=LONG, generator={"model": "gpt-4o"})
    assert httpx.post(f"http://127.0.0.1:{held.port}/v1/score", content=content, headers=JSON).status_code == 200
    assert held.turnstile.passes.count(SLICE_TOKENS) > 1
