"""`assert_faithful` against the real application, and its fixture in a run of pytest of its own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rafs.client import Client, UnreachableError
from rafs.testing import assert_faithful
from service.app import create_app
from service.settings import Settings
from tests.service.stand_in import StandIn, make_component, make_response
from tests.service.test_server import port_of, serving

PROBLEM, TRACE = "How much is left?", "55 - 40 = 10\x1b[2J"


@pytest.fixture
def scorer() -> StandIn:
    return StandIn()


@pytest.fixture
def url(scorer: StandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with serving(create_app(scorer, Settings())) as server:
        address = f"http://127.0.0.1:{port_of(server)}"
        monkeypatch.setenv("RAFS_URL", address)
        yield address


@pytest.mark.usefixtures("url")
def test_the_message_shows_status_score_reasons_and_the_suspect_step_escaped() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_faithful(PROBLEM, TRACE, min_score=60)
    assert str(caught.value).splitlines() == [
        "the trace is not accepted as faithful: Review, score 42.50, at least 60 is asked for",
        "  outcome: silent_failure",
        "  reasons: refuted_step, score_below_threshold",
        "  suspect step 1 (p_correct 0.02): 55 - 40 = 10\\x1b[2J",
        "    because: 55 - 40 is 15, not 10",
        "  not measured: C (1 sample, at least 2 are needed), D (1 sample, at least 2 are needed)",
    ]


@pytest.mark.usefixtures("url")
def test_the_suspect_step_is_shown_without_the_end_of_its_line() -> None:
    with pytest.raises(AssertionError, match=r"\(p_correct 0.02\): 55 - 40 = 10\n"):
        assert_faithful(PROBLEM, "55 - 40 = 10\n")


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize(
    ("reason", "is_helped"),
    [
        ("unknown_generator", True),
        ("required_component_unmeasured:C", True),
        ("optional_component_unmeasured:C", True),
        ("optional_component_unmeasured:D", False),
    ],
)
def test_what_a_caller_can_send_more_of_is_said(scorer: StandIn, reason: str, is_helped: bool) -> None:
    scorer.response = make_response(reasons=[reason])
    with pytest.raises(AssertionError) as caught:
        assert_faithful(PROBLEM, TRACE)
    assert ("hint: send generator=... and samples=[...]" in str(caught.value)) is is_helped


@pytest.mark.usefixtures("url")
def test_an_accepted_trace_gives_its_response(scorer: StandIn) -> None:
    scorer.response = make_response(status="Accept", score=91.0)
    assert assert_faithful(PROBLEM, TRACE, min_score=91).score == 91.0


@pytest.mark.parametrize(
    ("status", "score", "asked", "passes"),
    [
        pytest.param("Accept", 91.0, {"min_score": 91.5}, False, id="score too low"),
        pytest.param("Review", 60.0, {}, False, id="Review"),
        pytest.param("Review", 60.0, {"allow_review": True}, True, id="Review that is allowed"),
        pytest.param(
            "Review", 60.0, {"allow_review": True, "min_score": 61}, False, id="allowed, with too low a score"
        ),
        pytest.param("Abstain", None, {"allow_review": True}, False, id="Abstain"),
        pytest.param("Abstain", None, {"allow_review": True, "min_score": 0}, False, id="Abstain without a score"),
    ],
)
def test_what_passes_is_said_by_the_caller(
    url: str, scorer: StandIn, status: str, score: float | None, asked: dict[str, float], passes: bool
) -> None:
    scorer.response = make_response(status=status, score=score)
    with Client(url) as client:
        try:
            assert_faithful(PROBLEM, TRACE, client=client, **asked)  # type: ignore[arg-type]  # as the table has them
        except AssertionError:
            assert not passes
        else:
            assert passes


@pytest.mark.usefixtures("url")
def test_a_trace_without_a_suspect_has_no_line_for_it(scorer: StandIn) -> None:
    scorer.response = make_response(
        suspect_step=None,
        reasons=[],
        score=None,
        status="Abstain",
        components=[make_component("P", "step validity", 1)],
    )
    with pytest.raises(AssertionError) as caught:
        assert_faithful(PROBLEM, TRACE)
    assert str(caught.value).splitlines() == [
        "the trace is not accepted as faithful: Abstain, no score",
        "  outcome: silent_failure",
        "  reasons: none",
    ]


def test_a_service_that_is_down_fails_otherwise_than_a_trace() -> None:
    with Client("http://127.0.0.1:1", attempts=1) as client, pytest.raises(UnreachableError):
        assert_faithful(PROBLEM, TRACE, client=client)


USE = """
from rafs.testing import assert_faithful

def test_it(rafs_client):
    assert_faithful("What is 2 + 2?", "2 + 2 = 4", client=rafs_client)
"""


@pytest.mark.usefixtures("url")
def test_the_fixture_is_there_for_who_asks_for_it(
    tmp_path: Path, scorer: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to load, and none is used
    scorer.response = make_response(status="Accept", score=91.0)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["rafs.testing.plugin"]')
    (tmp_path / "test_use.py").write_text(USE)
    options = ["-q", "-W", "error", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "1 passed" in done.stdout, done.stdout
