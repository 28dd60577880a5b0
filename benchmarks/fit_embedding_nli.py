"""Fits the two logistic curves of `EmbeddingNli` and says how well they separate pairs they have not seen.

Usage: python benchmarks/fit_embedding_nli.py FOLDER_OF_THE_EMBEDDER

Prints the coefficients to put into rafs/engines/nli.py, and leave-one-out AUROC beside that of the cosine alone.
The pairs and the word lists of rafs/engines/text_signs.py were written by the same hand, so these numbers are an
upper bound; nothing here was measured on text by others.
"""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.nli import PairCoefficients, Signs, compare_pairs, entailment_from_signs
from rafs.types import ModelIdentity
from rafs.usage import Meter

PAIRS = Path(__file__).with_name("embedding_nli_pairs.jsonl")
RIDGE = 0.1
"""L2 penalty on the slopes: the curves stay finite where the pairs are separable."""
NEWTON_STEPS = 50

Floats = NDArray[np.float64]


def fit_logistic(features: Floats, targets: Floats) -> Floats:
    """Return (bias, slopes...) minimising the logistic loss + RIDGE/2 |slopes|^2, by Newton's method.

    Args:
        features: Shape (n, k).
        targets: Shape (n,), 0 or 1.
    """
    x = np.hstack([np.ones((len(features), 1)), features])
    ridge = RIDGE * np.diag([0.0] + [1.0] * features.shape[1])
    weights = np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (p - targets) + ridge @ weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge
        weights -= np.linalg.solve(hessian, gradient)
    return weights


def fit_pairs(signs: list[Signs], labels: list[str]) -> PairCoefficients:
    """Fit entailment on the pairs without a new number, contradiction on the pairs that are not entailed."""
    rows = np.array([[s.cosine, s.flipped, s.has_new_number] for s in signs], dtype=float)  # (n, 3)
    names = np.array(labels)
    same_numbers, not_entailed = rows[:, 2] == 0, names != "entails"
    entails = fit_logistic(rows[same_numbers, :2], (names[same_numbers] == "entails").astype(float))
    against = fit_logistic(rows[not_entailed], (names[not_entailed] == "contradicts").astype(float))
    return PairCoefficients(
        entails_bias=round(float(entails[0]), 3),
        entails_cosine=round(float(entails[1]), 3),
        entails_flipped=round(float(entails[2]), 3),
        contradicts_bias=round(float(against[0]), 3),
        contradicts_cosine=round(float(against[1]), 3),
        contradicts_flipped=round(float(against[2]), 3),
        contradicts_new_number=round(float(against[3]), 3),
    )


def auroc(scores: list[float], positive: list[bool]) -> float:
    """Return P(a positive scores above a negative), ties counting half."""
    high = np.array([s for s, is_in in zip(scores, positive, strict=True) if is_in])
    low = np.array([s for s, is_in in zip(scores, positive, strict=True) if not is_in])
    return float(((high[:, None] > low).mean() + (high[:, None] >= low).mean()) / 2)


def main(folder: Path) -> None:
    """Fit, print the coefficients and the leave-one-out report."""
    records = [json.loads(line) for line in PAIRS.read_text().splitlines()]
    labels = [record["label"] for record in records]
    pairs = [(record["premise"], record["hypothesis"]) for record in records]
    embedder = SentenceEmbedder.load(folder, ModelIdentity(id="minilm", family="minilm", revision="local"))
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    signs = compare_pairs(texts, asyncio.run(embedder.embed(texts, Meter())), pairs)
    print(fit_pairs(signs, labels))
    held_out = []
    for index, each in enumerate(signs):
        rest = fit_pairs(signs[:index] + signs[index + 1 :], labels[:index] + labels[index + 1 :])
        held_out.append(entailment_from_signs(each, rest))
    cosines = [each.cosine for each in signs]
    for name in ("entails", "contradicts", "neutral"):
        positive = [label == name for label in labels]
        alone = auroc(cosines, positive)
        found = auroc([getattr(each, name) for each in held_out], positive)
        print(f"{name:12} against the rest, n={len(labels)}: AUROC {found:.3f} leave-one-out; cosine alone {alone:.3f}")
    right = sum(
        max(("entails", "neutral", "contradicts"), key=lambda name: getattr(each, name)) == label
        for each, label in zip(held_out, labels, strict=True)
    )
    print(f"accuracy {right / len(labels):.3f} leave-one-out")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
