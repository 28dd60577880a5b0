"""The bank of small cases with known answers, area by area: nothing definite that is not so, and hardly a miss."""

from pathlib import Path

import pytest

from benchmarks.cases import read_bank, run_bank

ATTACKS = "attacks"
"""No bank: texts to wrap a step in."""
BANKS = sorted(path for path in Path("tests/cases").glob("*.jsonl") if path.stem != ATTACKS)
MAX_MISSES = 0.02


@pytest.mark.parametrize("path", BANKS, ids=lambda path: path.stem)
async def test_no_case_is_answered_wrong_and_few_are_left_open(path: Path) -> None:
    result = await run_bank(read_bank(path), show=False)
    assert result.failing["hard"] == []
    assert len(result.failing["miss"]) <= MAX_MISSES * result.total, result.failing["miss"]
    assert result.total > 0
