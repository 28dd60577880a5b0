"""A service that is told to stop: what it has begun is answered, and nothing more is begun."""

import signal
import threading

import httpx
import pytest

from tests.service.runtime.served import PATIENCE_S, Served, served
from tests.service.stand_in import JSON, body


class Asking(threading.Thread):
    """A client that waits for its answer."""

    def __init__(self, running: Served, path: str = "/v1/score") -> None:
        super().__init__()
        self._url = running.url + path
        self.reply: httpx.Response | None = None

    def run(self) -> None:
        self.reply = httpx.post(self._url, content=body(), headers=JSON, timeout=PATIENCE_S)

    def answer(self) -> httpx.Response:
        self.join(PATIENCE_S)
        assert self.reply is not None
        return self.reply


def wait_until_in_flight(running: Served, n: int) -> None:
    while f"rafs_requests_in_flight {float(n)}" not in ask(running, "/metrics").text:
        pass


def ask(running: Served, path: str) -> httpx.Response:
    return httpx.get(running.url + path, timeout=PATIENCE_S)


def test_what_was_begun_is_answered_and_what_comes_later_is_refused() -> None:
    with served("held") as running:
        clients = [Asking(running) for _ in range(3)]
        for client in clients:
            client.start()
        wait_until_in_flight(running, 3)
        running.stop()
        running.wait_for("draining")
        late = httpx.post(running.url + "/v1/score", content=body(), headers=JSON, timeout=PATIENCE_S)
        ready, alive = ask(running, "/readyz"), ask(running, "/healthz")
        running.release()
        answers = [client.answer() for client in clients]
        stopped = running.wait_for("stopped")
    assert [answer.status_code for answer in answers] == [200] * 3
    assert (late.status_code, late.json()["type"], late.headers["retry-after"]) == (503, "/problems/stopping", "5")
    assert (ready.status_code, ready.json()["detail"]) == (503, "the service is stopping")
    assert alive.status_code == 200
    assert stopped


def test_a_stream_is_told_to_its_end() -> None:
    with served("held") as running:
        client = Asking(running, "/v1/score/stream")
        client.start()
        wait_until_in_flight(running, 1)
        running.stop()
        running.wait_for("draining")
        running.release()
        assert "event: result" in client.answer().text


def test_an_idle_service_stops_at_once_by_the_signal_it_got() -> None:
    with served("stand-in") as running:
        running.stop()
        assert running.returncode() == -signal.SIGTERM


@pytest.mark.parametrize("again", [False, True], ids=["time is over", "a second signal"])
def test_what_does_not_end_in_time_is_told_so(again: bool) -> None:
    with served("stand-in", delay_s=PATIENCE_S, RAFS_DRAIN_S="3600" if again else "0.2") as running:
        client = Asking(running)
        client.start()
        wait_until_in_flight(running, 1)
        running.stop()
        running.wait_for("draining")
        if again:
            running.stop()
        answer = client.answer()
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/stopping")
