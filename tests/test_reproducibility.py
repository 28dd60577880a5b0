"""The same input gives the same bytes, and a record gives the same response without a model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rafs.record import Record
from service.scorer import replay
from service.wiring import build_replay
from tests.test_flow import IN_WORDS, SAMPLES, LengthJudge, WordNli, content, request, scorer


async def test_the_same_input_and_seed_give_the_same_bytes() -> None:
    body = request(samples=SAMPLES, include=["interventions", "record"], seed=5)
    first, second = [content(await scorer().score(body)) for _ in range(2)]
    assert json.dumps(first) == json.dumps(second)


def test_the_bytes_do_not_depend_on_the_order_of_hashes() -> None:
    program = (
        "import asyncio, json; from tests.test_flow import *;"
        "body = request(samples=SAMPLES, include=['interventions', 'record'], preset='deep');"
        "print(json.dumps(content(asyncio.run(scorer().score(body)))))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "6")
    }
    assert len(outputs) == 1


async def test_the_order_of_samples_does_not_matter() -> None:
    one, other = [await scorer().score(request(samples=order)) for order in (SAMPLES, SAMPLES[::-1])]
    assert one.score == pytest.approx(other.score)


@pytest.mark.parametrize("samples", [[], SAMPLES], ids=["alone", "with samples"])
async def test_a_record_replays_to_the_same_response(samples: list[str]) -> None:
    body = request(samples=samples, include=["record", "interventions"], seed=11)
    response = await scorer().score(body)
    assert response.record is not None
    record = Record.model_validate_json(response.record.model_dump_json())
    again = await replay(record, build_replay)
    assert content(again)["steps"] == content(response)["steps"]
    for part in ("score", "interval", "status", "reasons", "components", "ledger", "interventions", "provenance"):
        assert content(again)[part] == content(response)[part]


@pytest.mark.parametrize(
    ("judge", "nli", "reason"),
    [
        pytest.param(LengthJudge(), WordNli(delay_s=30), "deadline", id="a stage is cut off"),
        pytest.param(LengthJudge(delay_s=30), WordNli(), "verifier_down", id="the judge is given up"),
    ],
)
async def test_a_record_of_what_took_too_long_replays_to_the_same_response(
    judge: LengthJudge, nli: WordNli, reason: str
) -> None:
    response = await scorer(judge, nli=nli, deadline_s=0.5).score(request(samples=IN_WORDS, include=["record"]))
    assert reason in response.reasons
    assert response.record is not None
    again = await replay(Record.model_validate_json(response.record.model_dump_json()), build_replay)
    for part in ("score", "status", "reasons", "outcome", "components", "independence", "ledger"):
        assert content(again)[part] == content(response)[part]
