"""Verdicts per second on every step of a trace: RAFS and other packages on the same weights and traces, in one run.

The packages want other versions of transformers than RAFS, so they run in a process of their own. Each repeat writes
a new trace, asks everyone about it in turn, and counts the CPU seconds of the process that answered; the fastest repeat
of each counts. One thread each, fp32.
"""

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from rich.console import Console
from rich.table import Table

from benchmarks.rivals.other_process import OtherProcess
from rafs.engines.scripted import probe_key
from rafs.engines.transformers_lm import TransformersProber
from rafs.engines.weights import locate
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.types import Judged, ModelIdentity
from rafs.usage import Meter
from service.settings import load_settings
from verifiers.judge import JudgeVerifier
from verifiers.judge_prompt import render_prompt

N_STEPS = (8, 16)
GOALS = {8: 3.5, 16: 6.0}
OURS = "rafs"
Spent = tuple[float, int]
"""CPU seconds, verdicts."""


def write_trace(n_steps: int, seed: int) -> tuple[str, list[str]]:
    """Return a problem of about 80 tokens and steps of about 40, with other numbers for every seed."""
    draw = random.Random(seed)
    problem = (
        f"Mia packs pens into boxes for {draw.randint(11, 99)} shops. Every morning she counts what is left on the "
        "shelves of the warehouse, writes it into her book, and packs as many boxes as her cart can hold. How many "
        f"pens has she packed when the week is over, if the cart holds {draw.randint(11, 99)} boxes and she rests on "
        "Sunday?"
    )
    steps = []
    for _ in range(n_steps):
        boxes, pens = draw.randint(11, 99), draw.randint(11, 99)
        steps.append(
            f"Then she packs {boxes} more boxes with {pens} pens in each of them, which makes "
            f"{boxes} * {pens} = {boxes * pens} pens for the next shop."
        )
    return problem, steps


def judge_here(folder: Path, threads: int) -> Callable[[str, list[str]], Spent]:
    """Return the judge of RAFS on these weights."""
    identity = ModelIdentity(id="smollm2", family="smollm", revision="")
    verifier = JudgeVerifier(TransformersProber.load(folder, identity, threads=threads, job_tokens=8192))

    def judge(problem: str, steps: list[str]) -> Spent:
        trace = read_text(problem, steps, None).blind()
        started = process_time()
        verdicts = asyncio.run(verifier.verify(trace, range(len(steps)), Meter()))
        return process_time() - started, sum(isinstance(verdict, Judged) for verdict in verdicts)

    return judge


def prompts_of(problem: str, steps: list[str]) -> list[str]:
    """Return the prompt of every step as RAFS asks it."""
    prompt = render_prompt(read_text(problem, steps, None).blind())
    return ["".join(probe_key(prompt.head, prompt.steps, prompt.tail, t)) for t in range(len(steps))]


def for_older_transformers(folder: Path, into: Path) -> None:
    """Write the same model with the configuration that transformers 4 reads; the weights are the same file."""
    shutil.copytree(folder, into, ignore=shutil.ignore_patterns("*.safetensors"))
    for weights in folder.glob("*.safetensors"):
        (into / weights.name).symlink_to(weights)
    config = json.loads((folder / "config.json").read_text())
    config["rope_theta"] = config.get("rope_parameters", {}).get("rope_theta", config.get("rope_theta"))
    (into / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_input_names": ["input_ids", "attention_mask"]}
    (into / "tokenizer_config.json").write_text(json.dumps(tokenizer))


def judge_there(worker: OtherProcess, judge: str, problem: str, steps: list[str]) -> Spent:
    """Let another package judge."""
    reply = worker.ask(judge=judge, problem=problem, steps=steps, prompts=prompts_of(problem, steps))
    return reply["cpu_s"], reply["verdicts"]


def measure(
    n_steps: int, repeats: int, worker: OtherProcess, ours: Callable[[str, list[str]], Spent]
) -> dict[str, float]:
    """Return verdicts per CPU second of everyone."""
    best: dict[str, float] = {}
    for repeat in range(repeats):
        problem, steps = write_trace(n_steps, seed=100 * n_steps + repeat)
        for name in (OURS, *worker.greeting["judges"]):
            cpu_s, n = ours(problem, steps) if name == OURS else judge_there(worker, name, problem, steps)
            if n != n_steps:
                raise SystemExit(f"{name} gave {n} verdicts on {n_steps} steps")
            best[name] = max(best.get(name, 0.0), n / cpu_s)
    return best


def main(python: str, repeats: int) -> None:
    """Measure and print a table."""
    settings = load_settings()
    source = load_registry(settings.models_file).model("smollm2-135m-instruct").to_source()
    folder = None if source is None else locate(source, settings.cache_dir)
    if folder is None:
        raise SystemExit("the judge is not on this machine: run `rafs models pull`")
    table = Table("judge", *(f"verdicts/s, T = {n}" for n in N_STEPS), *(f"rafs is x faster, T = {n}" for n in N_STEPS))
    with tempfile.TemporaryDirectory() as scratch:
        older = Path(scratch) / "model"
        for_older_transformers(folder, older)
        worker = OtherProcess(python, "judge_worker", str(older))
        ours = judge_here(folder, threads=1)
        rates = {n: measure(n, repeats, worker, ours) for n in N_STEPS}
        worker.close()
    for name in (OURS, *worker.greeting["judges"]):
        ratios = [rates[n][OURS] / rates[n][name] for n in N_STEPS]
        table.add_row(name, *(f"{rates[n][name]:.1f}" for n in N_STEPS), *(f"{ratio:.1f}" for ratio in ratios))
    Console().print(table)
    for n in N_STEPS:
        ratio = rates[n][OURS] / max(rates[n][name] for name in worker.greeting["judges"])
        print(f"T = {n}: {ratio:.1f} x the best of the others; goal {GOALS[n]} x")
