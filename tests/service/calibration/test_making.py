"""`rafs calibrate` on a run."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path

from rafs.algebra import AlgebraWorker
from rafs.calibration import AT_CHANCE, DEFAULT_CALIBRATION
from rafs.calibration_file import Artefact, load_artefact
from rafs.evaluation.calibrate import TEST
from rafs.evaluation.data_files import sha256_of
from rafs.evaluation.datasets import read_traces
from rafs.evaluation.families import Item
from rafs.evaluation.records import ItemRecord, read_record
from rafs.outcomes import Status
from rafs.policy import Reason
from service.rescoring import Rescorer
from tests.rafs.evaluation.made import record
from tests.service.calibration.made_run import MODEL, N_PROBLEMS, PRESET, REGISTRY, command, rescored


def test_the_verifier_that_tells_right_from_wrong_is_heard(artefact: Artefact) -> None:
    assert artefact.scales[MODEL].slope > 0


def test_a_threshold_is_learned_and_its_guarantee_printed(folder: Path, artefact: Artefact) -> None:
    assert artefact.tau_accept.value is not None
    assert f"guarantee: {artefact.tau_accept.guarantee}" in (folder / "printed.txt").read_text()


def test_the_artefact_names_its_data_and_their_licences(folder: Path, artefact: Artefact) -> None:
    (data,) = artefact.data
    assert (data.name, data.sha256, data.n_traces) == ("pens.jsonl", sha256_of(folder / "pens.jsonl"), N_PROBLEMS)
    assert (artefact.licences, artefact.preset) == ("CC0", PRESET)


def test_scoring_again_with_the_numbers_of_a_run_gives_its_records(folder: Path) -> None:
    policy = REGISTRY.policy.to_policy()
    traces = list(read_traces(folder / "pens.jsonl"))[:12]
    once = rescored(traces, DEFAULT_CALIBRATION, policy)
    rescorer = Rescorer(REGISTRY, PRESET, seed=0, generator=None, secret="")

    async def again() -> list[ItemRecord]:
        algebra = AlgebraWorker()
        try:
            pairs = zip(traces, once, strict=True)
            return [
                await rescorer.rescore(Item(trace=trace, record=made), DEFAULT_CALIBRATION, policy, algebra)
                for trace, made in pairs
            ]
        finally:
            await algebra.close()

    assert asyncio.run(again()) == once


def test_what_ran_out_of_time_loses_its_score(folder: Path) -> None:
    (trace, *_) = read_traces(folder / "pens.jsonl")
    late = replace(record(trace.id, q=(0.9, 0.9, None)), reasons=(Reason.DEADLINE,))
    rescorer = Rescorer(REGISTRY, PRESET, seed=0, generator=None, secret="")

    async def run() -> ItemRecord:
        algebra = AlgebraWorker()
        try:
            return await rescorer.rescore(
                Item(trace=trace, record=late), DEFAULT_CALIBRATION, REGISTRY.policy.to_policy(), algebra
            )
        finally:
            await algebra.close()

    assert asyncio.run(run()).score is None


def test_a_run_without_its_labelled_file_is_refused(folder: Path, tmp_path: Path) -> None:
    done = command(folder / "run", "--out", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "without pens.jsonl" in done.stderr


def test_a_run_that_is_not_there_is_made_first(tmp_path: Path) -> None:
    done = command(tmp_path / "run", "--out", tmp_path / "out.json")
    assert done.exit_code == 2
    assert f"`rafs eval FILE --out {tmp_path / 'run'}` first" in done.stderr


def test_a_run_of_another_preset_is_refused(folder: Path, tmp_path: Path) -> None:
    done = command(folder / "run", folder / "pens.jsonl", "--preset", "deep", "--out", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "with preset gate" in done.stderr or "with models" in done.stderr


def test_a_source_that_no_trace_is_from_is_refused(folder: Path, tmp_path: Path) -> None:
    done = command(folder / "run", folder / "pens.jsonl", "--fit-only", "nowhere", "--out", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "--fit-only: got nowhere" in done.stderr


def test_words_of_unseen_problems_go_before_those_of_the_run(folder: Path, tmp_path: Path) -> None:
    model = "m"
    rows = [{"id": trace.id, "p": [0.5, 0.5, None]} for trace in read_traces(folder / "pens.jsonl")]
    (tmp_path / "words.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = f"{model}={tmp_path / 'words.jsonl'}"
    done = command(folder / "run", folder / "pens.jsonl", "--words", words, "--out", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    made = load_artefact(tmp_path / "out.json")
    assert made.scales[f"prm:{model}"] == AT_CHANCE
    assert any(f"prm:{model}: its words on {N_PROBLEMS} of {N_PROBLEMS} traces" in note for note in made.notes)


def test_the_records_of_the_test_split_may_be_kept(folder: Path, artefact: Artefact, tmp_path: Path) -> None:
    kept = tmp_path / "tested.jsonl"
    done = command(folder / "run", folder / "pens.jsonl", "--test-records", kept, "--out", tmp_path / "out.json")
    assert done.exit_code == 0, done.output
    records = [read_record(line) for line in kept.read_text().splitlines()]
    assert len(records) == artefact.splits[TEST].n_traces
    accepted = [record for record in records if record.status is Status.ACCEPT]
    assert len(accepted) == round((artefact.metrics["gate"]["accepted"].value or 0) * len(records)) > 0


def test_records_that_cannot_be_kept_are_no_crash(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "nowhere" / "tested.jsonl"
    done = command(folder / "run", folder / "pens.jsonl", "--test-records", kept, "--out", tmp_path / "out.json")
    assert done.exit_code == 3, done.output
    assert f"{kept}: cannot be written" in done.stderr.replace("\n", "")


def test_records_do_not_replace_the_artefact(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = command(folder / "run", folder / "pens.jsonl", "--test-records", tmp_path / "." / "out.json", "--out", out)
    assert (done.exit_code, out.exists()) == (2, False)
    assert "another file than --out" in done.stderr.replace("\n", " ")


def test_a_check_has_no_records_to_keep(folder: Path, tmp_path: Path) -> None:
    done = command(
        "--check", folder / "run", "--calibration", folder / "made.json", "--test-records", tmp_path / "t.jsonl"
    )
    assert done.exit_code == 2
    assert "--check: got it with other arguments" in done.stderr


def test_a_subset_may_be_left_out(folder: Path, tmp_path: Path) -> None:
    done = command(folder / "run", folder / "pens.jsonl", "--leave-out", "pens", "--out", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "nothing can be fitted: too_few_steps" in done.stderr
    assert "at least 50 labelled steps" in done.stderr


def test_a_run_of_another_preset_that_asked_the_same_models_serves(
    folder: Path, artefact: Artefact, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(folder / "run", run)
    written = json.loads((run / "run.json").read_text())
    written["provenance"]["preset"] = "standard"
    (run / "run.json").write_text(json.dumps(written))
    done = command(run, folder / "pens.jsonl", "--preset", PRESET, "--out", tmp_path / "made.json")
    assert done.exit_code == 0
    assert load_artefact(tmp_path / "made.json").tau_accept == artefact.tau_accept


def test_a_run_that_asks_no_more_once_a_step_is_refuted_serves_no_other_preset(folder: Path, tmp_path: Path) -> None:
    done = command(folder / "run", folder / "pens.jsonl", "--preset", "standard", "--out", tmp_path / "made.json")
    assert done.exit_code == 2
    assert "with preset gate, where standard runs here" in done.stderr
