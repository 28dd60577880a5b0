import json
from collections import Counter
from pathlib import Path

import pytest

from rafs.errors import InputError
from rafs.evaluation.data_files import draw, read_files
from tests.rafs.evaluation.made import trace


def write(path: Path, *ids: str) -> Path:
    rows = [{"id": id, "problem": "2 + 2?", "steps": ["2 + 2 = 4"], "first_error": None} for id in ids]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_an_id_of_two_files_gets_the_name_of_its_file(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.jsonl", "1", "2"), write(tmp_path / "b.jsonl", "2", "3")]
    assert [one.id for one in read_files(files)] == ["1", "a.jsonl:2", "b.jsonl:2", "3"]


def test_files_of_one_name_in_two_folders_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    files = [write(tmp_path / folder / "a.jsonl", "1") for folder in ("x", "y")]
    assert [one.id for one in read_files(files)] == [f"{path}:1" for path in files]


@pytest.mark.parametrize(
    ("ids", "times", "said"),
    [(["1", "1"], 1, "stands there more than once"), (["1"], 2, "is named twice"), ([], 1, "holds no trace")],
    ids=["one id twice", "one file twice", "an empty file"],
)
def test_what_would_count_twice_or_not_at_all_is_refused(tmp_path: Path, ids: list[str], times: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_files([write(tmp_path / "a.jsonl", *ids)] * times)


TRACES = [trace(f"{subset}{n}", subset=subset) for subset in ("plum", "pear") for n in range(20)]


def test_a_limit_takes_evenly_many_of_every_subset_in_the_order_of_the_file() -> None:
    drawn = draw(TRACES, 10, seed=0)
    assert Counter(one.subset for one in drawn) == {"plum": 5, "pear": 5}
    assert drawn == [one for one in TRACES if one in drawn]


def test_a_larger_limit_only_adds_traces() -> None:
    assert all(one in draw(TRACES, 30, seed=0) for one in draw(TRACES, 10, seed=0))


def test_another_seed_draws_others_and_not_the_first_of_the_file() -> None:
    assert draw(TRACES, 10, seed=0) != draw(TRACES, 10, seed=1)
    assert draw(TRACES, 10, seed=0) != [*TRACES[:5], *TRACES[20:25]]


def test_a_small_subset_is_taken_whole() -> None:
    assert len(draw([*TRACES, trace("fig", subset="fig")], 40, seed=0)) == 40
