"""Pairs per second of a three-way classifier: RAFS and other packages on the same weights and pairs, in one run.

A small BERT and a small DeBERTa with random weights, since speed does not depend on what they say. Each repeat writes
new claims, asks everyone about every ordered pair of them in turn, and counts the CPU seconds of the process that
answered, tokenizing included; the fastest repeat of each counts. One thread each, fp32. Packages that only compare
everything with everything run the pairs of a claim with itself too, and are counted with them.
"""

import asyncio
import json
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from time import process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.rivals.other_process import OtherProcess
from rafs.engines.batching import cut_batches
from rafs.engines.sequence_nli import BATCH_TOKENS, Pair, SequenceClassifierNli
from rafs.engines.weights import locate
from rafs.registry import load_registry
from rafs.types import Entailment, ModelIdentity
from rafs.usage import Meter
from service.settings import load_settings

N_CLAIMS = 10
"""90 pairs: enough to fill several batches of everyone."""
LABELS = {0: "contradiction", 1: "neutral", 2: "entailment"}
"""The one order that uqlm knows."""
SAME = 1e-5
"""By which opinions in fp32 may differ with the shape of a batch."""
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
OURS = "rafs"

OPENINGS = ("The baker sells", "Every morning Mia packs", "Together the pupils of the old school collect", "He has")
ENDINGS = (
    "",
    " because the shop is closed",
    " in each of the boxes that stand on the lower shelf",
    ", which is what was left after the first two days of the week had been taken away from the whole",
    " and gives half of them to her brother, so that both of them have the same number when they come home again",
)


def write_claims(n: int, seed: int) -> list[str]:
    """Return claims of word problems, of about 8 to 60 tokens, with other numbers for every seed."""
    draw = random.Random(seed)
    claims = []
    for _ in range(n):
        boxes, pens = draw.randint(11, 99), draw.randint(11, 99)
        start, end = draw.choice(OPENINGS), draw.choice(ENDINGS)
        work = draw.choice(("", f", and {boxes} * {pens} = {boxes * pens}", f", that is {boxes * pens} in all"))
        claims.append(f"{start} {boxes} boxes with {pens} pens{end}{work}.")
    return claims


def write_model(kind: str, embedder: Path, into: Path) -> None:
    """Write a classifier of random weights, of the embedder's size and with its tokenizer."""
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
        "id2label": LABELS,
        "label2id": {label: number for number, label in LABELS.items()},
        "initializer_range": 0.05,
    }
    if kind == "BERT":
        config = transformers.BertConfig(vocab_size=30522, **sizes)
        model = transformers.BertForSequenceClassification(config)
    else:
        relative = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 256}
        as_published = {"share_att_key": True, "position_biased_input": False, "type_vocab_size": 0}
        norms = {"norm_rel_ebd": "layer_norm", "layer_norm_eps": 1e-7, "max_relative_positions": -1}
        config = transformers.DebertaV2Config(vocab_size=30522, **sizes, **relative, **as_published, **norms)
        model = transformers.DebertaV2ForSequenceClassification(config)
    model.save_pretrained(into)
    for name in TOKENIZER_FILES:
        shutil.copy(embedder / name, into / name)


Classify = Callable[[Sequence[Pair]], tuple[float, list[list[float]]]]
"""CPU seconds, and [contradicts, neutral, entails] of every pair."""


def classify_here(nli: SequenceClassifierNli) -> Classify:
    """Return the validator of RAFS on these weights."""

    def classify(pairs: Sequence[Pair]) -> tuple[float, list[list[float]]]:
        started = process_time()
        opinions = asyncio.run(nli.classify(pairs, Meter()))
        spent = process_time() - started
        read = [said for said in opinions if isinstance(said, Entailment)]
        return spent, [[said.contradicts, said.neutral, said.entails] for said in read]

    return classify


def measure(ours: Classify, there: OtherProcess, repeats: int) -> tuple[dict[str, float], float]:
    """Return pairs per CPU second of everyone, and the largest difference between two opinions on one pair."""
    best: dict[str, float] = {}
    apart = 0.0
    for repeat in range(repeats):
        claims = write_claims(N_CLAIMS, seed=repeat)
        pairs = list(permutations(claims, 2))
        spent, opinions = ours(pairs)
        best[OURS] = max(best.get(OURS, 0.0), len(opinions) / spent)
        for name in there.greeting["packages"]:
            reply = there.ask(package=name, claims=claims, pairs=pairs)
            best[name] = max(best.get(name, 0.0), reply["pairs"] / reply["cpu_s"])
            for one, other in zip(opinions, reply["opinions"] or opinions, strict=True):
                apart = max(apart, *(abs(a - b) for a, b in zip(one, other, strict=True)))
    return best, apart


def paddings(folder: Path, repeats: int) -> tuple[float, float]:
    """Return run tokens / real tokens of RAFS, and of batches of 32 in the order of asking."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    real, ours, theirs = 0, 0, 0
    for repeat in range(repeats):
        pairs = list(permutations(write_claims(N_CLAIMS, seed=repeat), 2))
        sizes = [len(ids) for ids in tokenizer([a for a, _ in pairs], [b for _, b in pairs])["input_ids"]]
        real += sum(sizes)
        ours += sum(max(sizes[at] for at in batch) * len(batch) for batch in cut_batches(sizes, BATCH_TOKENS))
        theirs += sum(max(part) * len(part) for part in (sizes[at : at + 32] for at in range(0, len(sizes), 32)))
    return ours / real, theirs / real


def main(python: str, repeats: int) -> None:
    """Measure and print a table for each kind of model."""
    settings = load_settings()
    source = load_registry(settings.models_file).model("all-minilm-l6-v2").to_source()
    embedder = None if source is None else locate(source, settings.cache_dir)
    if embedder is None:
        raise SystemExit("the tokenizer is not on this machine: run `rafs models pull`")
    for kind in ("BERT", "DeBERTa"):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_model(kind, embedder, folder)
            nli = SequenceClassifierNli.load(folder, ModelIdentity(id=kind, family=kind.lower(), revision="random"))
            there = OtherProcess(python, "nli_worker", str(folder))
            rates, apart = measure(classify_here(nli), there, repeats)
            there.close()
            nli.close()
            padding = paddings(folder, repeats)
        table = Table(f"{kind}, 6 layers of 384", "pairs/s", "rafs is x faster")
        for name, rate in rates.items():
            table.add_row(name, f"{rate:.1f}", f"{rates[OURS] / rate:.2f}")
        Console().print(table)
        print(json.dumps({"padding": round(padding[0], 3), "batches of 32": round(padding[1], 3), "apart": apart}))
        if apart > SAME:
            raise SystemExit(f"opinions on one pair differ by {apart}, at most {SAME} is rounding")
