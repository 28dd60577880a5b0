import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from rafs.errors import InputError
from service.batch import source
from service.batch.libraries import arrow, parquet
from service.batch.source import Line, Position, count_rows, find_files, read_lines
from service.request_body import Fault

ROWS = [{"n": n, "text": "é" * n} for n in range(200)]


def write(folder: Path, ending: str) -> Path:
    path = folder / f"log{ending}"
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()
    match ending:
        case ".parquet":
            parquet().write_table(arrow().Table.from_pylist(ROWS), path, row_group_size=30)
        case ".json":
            path.write_text(json.dumps(ROWS), "utf-8")
        case ".jsonl.gz":
            path.write_bytes(gzip.compress(lines))
        case _:
            path.write_bytes(lines)
    return path


def read(path: Path, since: Position | None = None) -> list[Line]:
    return list(read_lines(find_files(path), since or Position()))


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
def test_every_kind_of_file_gives_its_rows_in_order(tmp_path: Path, ending: str) -> None:
    assert [line.row for line in read(write(tmp_path, ending))] == ROWS


@pytest.mark.parametrize("n", [0, 1, 29, 30, 64, 65, 199, 200])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
def test_reading_goes_on_behind_any_row(tmp_path: Path, ending: str, n: int) -> None:
    path = write(tmp_path, ending)
    read_before = list(islice(read_lines(find_files(path), Position()), n))
    since = read_before[-1].after if read_before else Position()
    assert [line.row for line in read(path, since)] == ROWS[n:]


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
def test_rows_are_counted_without_reading_them(tmp_path: Path, ending: str) -> None:
    assert count_rows(find_files(write(tmp_path, ending))) == 200


def test_a_folder_stands_for_its_logs_by_name_without_the_results(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "out").mkdir()
    for name in ("z.jsonl", "a.jsonl", "b/c.jsonl", "out/part.parquet", "notes.txt"):
        (tmp_path / name).write_text('{"n": 1}\n')
    names = [file.name for file in find_files(tmp_path, without=tmp_path / "out")]
    assert names == ["a.jsonl", "b/c.jsonl", "z.jsonl"]


def test_rows_of_several_files_name_theirs(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('\n{"n": 1}\n')
    assert [(line.name, line.number) for line in read(tmp_path)] == [("a.jsonl", 2), ("b.jsonl", 2)]


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LINE_BYTES", 40)
    path = tmp_path / "log.jsonl"
    path.write_text('{"n": 1}\n{"n": "' + "x" * 100 + '"}\n{"n": 3}\n')
    rows = [line.row for line in read(path)]
    assert isinstance(rows[1], Fault)
    assert [rows[0], rows[2]] == [{"n": 1}, {"n": 3}]


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"n": 1}\n')
    assert [line.row for line in read(path)] == [{"n": 1}]


def test_a_last_line_without_its_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}')
    assert [line.row for line in read(path)] == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        pytest.param("log.csv", b"a,b", "a file of another kind", id="another kind"),
        pytest.param("log.parquet", b"PAR1", "no Parquet file", id="no Parquet file"),
        pytest.param("log.jsonl.gz", b"\x1f\x8bxx", "can be read to its end", id="a broken archive"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=why):
        read(tmp_path / name)


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without any"):
        find_files(tmp_path)
