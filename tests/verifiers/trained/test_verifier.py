"""A trained head on a tiny base: trained, written, loaded and asked, end to end."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rafs.engines.step_reader import TransformersStepReader
from rafs.reading import read_text
from rafs.step_reading import StepReading
from rafs.types import Abstained, BlindTrace, Judged, ModelIdentity, Why
from rafs.usage import Meter
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from tests.verifiers.trained.made_traces import made_examples, made_trace, with_readings
from verifiers.trained.artefacts import BaseNeeded, load_head
from verifiers.trained.fitting import Recipe, fit_head
from verifiers.trained.training import Material, layers_of, notes_of, read_files, report_lines, train
from verifiers.trained.verifier import TrainedVerifier

RECIPE = Recipe(n_components=3, n_trees=10, least_leaf=3, width=8, epochs=1)


@pytest.fixture(scope="module")
def reader() -> Iterator[TransformersStepReader]:
    local = TransformersStepReader(tiny_llama(), tiny_tokenizer(), TINY, [1, 2])
    yield local
    local.close()


async def train_into(folder: Path, reader: TransformersStepReader, name: str = "head") -> Path:
    out = folder / f"{name}.safetensors"
    base = BaseNeeded(weights_sha256=reader.weights_sha256(), dtype="float32", layers=reader.layers)
    examples = made_examples(44)
    material = Material(learned=examples, measured=examples[:5])
    await train(
        *(material, reader, base, RECIPE, folder / "readings", out),
        about=notes_of(material, "made", RECIPE),
        progress=lambda what, total: lambda: None,
    )
    return out


async def test_a_trained_head_judges_every_step_but_the_answer(reader: TransformersStepReader, tmp_path: Path) -> None:
    head, base = load_head(await train_into(tmp_path, reader))
    trace = read_text(made_trace(1, None).problem, [*made_trace(1, None).steps, "#### 6"], None).blind()
    verdicts = await TrainedVerifier(reader, head).verify(trace, range(3), Meter())
    assert base.weights_sha256 == reader.weights_sha256()
    assert all(isinstance(verdict, Judged) and 0 < verdict.p_correct < 1 for verdict in verdicts)


async def test_training_goes_on_from_what_was_read(reader: TransformersStepReader, tmp_path: Path) -> None:
    first = await train_into(tmp_path, reader)
    files = sorted((tmp_path / "readings").iterdir())
    written = [file.stat().st_mtime_ns for file in files]
    again = await train_into(tmp_path, reader, "again")
    assert again.read_bytes() == first.read_bytes()
    assert [file.stat().st_mtime_ns for file in sorted((tmp_path / "readings").iterdir())] == written


async def test_a_reading_that_was_cut_off_is_read_again(reader: TransformersStepReader, tmp_path: Path) -> None:
    first = await train_into(tmp_path, reader)
    cut = next((tmp_path / "readings").iterdir())
    cut.write_bytes(cut.read_bytes()[:100])
    assert (await train_into(tmp_path, reader, "again")).read_bytes() == first.read_bytes()


async def test_the_report_names_each_subset(reader: TransformersStepReader, tmp_path: Path) -> None:
    base = BaseNeeded(weights_sha256="", dtype="float32", layers=reader.layers)
    material = Material(learned=made_examples(44))
    trained = await train(
        *(material, reader, base, RECIPE, tmp_path / "readings", tmp_path / "head.safetensors"),
        about={},
        progress=lambda what, total: lambda: None,
    )
    assert any("| made/sums | first_error_f1 |" in line for line in report_lines(trained))


def test_files_of_traces_are_read(tmp_path: Path) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text('{"id": "1", "problem": "1 + 1?", "steps": ["1 + 1 = 3."], "first_error": 0}\n')
    (example,) = read_files([file])
    assert list(example.wrong) == [1]


@pytest.mark.parametrize(("n", "expected"), [(30, (9, 12, 15)), (2, (1,)), (28, (8, 11, 14))])
def test_layers_lie_at_the_same_depths(n: int, expected: tuple[int, ...]) -> None:
    assert layers_of(n) == expected


class Reads:
    """A reader that keeps what it was asked, cannot read the second step, and gives drawn readings else."""

    identity = ModelIdentity(id="m", family="f", revision="r")
    fingerprint = "reads"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    async def read(
        self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter
    ) -> Sequence[StepReading | Abstained]:
        self.asked.append((problem, tuple(steps)))
        (one, *_) = with_readings(made_examples(1))
        return [Abstained(why=Why.TOO_LONG) if t == 1 else one.readings[t] for t in ask]


HEAD = fit_head(with_readings(made_examples(40)), RECIPE)
TRACE = made_trace(1, None)


def blind(*more: str) -> BlindTrace:
    return read_text(TRACE.problem, [*TRACE.steps, *more], None).blind()


async def test_what_the_base_cannot_read_is_not_judged() -> None:
    first, second, third = await TrainedVerifier(Reads(), HEAD).verify(blind(), [0, 1, 2], Meter())
    assert second == Abstained(why=Why.TOO_LONG)
    assert isinstance(first, Judged)
    assert isinstance(third, Judged)


async def test_a_step_is_judged_the_same_whatever_else_is_asked() -> None:
    verifier = TrainedVerifier(Reads(), HEAD)
    _, third = await verifier.verify(blind(), [0, 2], Meter())
    assert await verifier.verify(blind(), [2], Meter()) == [third]


@pytest.mark.parametrize("statement", ["The answer is {}.", "#### {}", "The final answer is $\\boxed{{{}}}$."])
async def test_swapping_the_stated_answer_changes_nothing(statement: str) -> None:
    one, other = Reads(), Reads()
    verdicts = [
        await TrainedVerifier(reads, HEAD).verify(blind(statement.format(answer)), [0, 2], Meter())
        for reads, answer in ((one, 50), (other, 51))
    ]
    assert one.asked == other.asked
    assert verdicts[0] == verdicts[1]


def test_it_is_named_after_its_base() -> None:
    verifier = TrainedVerifier(Reads(), HEAD)
    assert (verifier.name, verifier.identity) == ("prm:m", Reads.identity)
