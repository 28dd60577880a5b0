"""Fits the two logistic curves of `EmbeddingNli` and says how well they separate pairs they have not seen.

    python benchmarks/fit_embedding_nli.py

Prints the coefficients to put into rafs/engines/nli.py, and leave-one-out AUROC beside that of the cosine alone.
The pairs and the word lists of rafs/engines/text_signs.py were written by the same hand, so these numbers are an
upper bound; nothing here was measured on text by others.
"""

import asyncio
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rafs.engines.embeddings import SentenceEmbedder
from rafs.engines.nli import PairCoefficients, Signs, compare_pairs, entailment_from_signs
from rafs.engines.weights import locate
from rafs.registry import load_registry
from rafs.types import ModelIdentity
from rafs.usage import Meter
from service.settings import load_settings

PAIRS = Path(__file__).with_name("embedding_nli_pairs.jsonl")
RIDGE = 0.1
"""L2 penalty on the slopes: the curves stay finite where the pairs are separable."""

Floats = NDArray[np.float64]


def fit_logistic(features: Floats, targets: NDArray[np.bool_]) -> list[float]:
    """Return [bias, slopes...] minimising the logistic loss + RIDGE/2 |slopes|^2.

    Args:
        features: Shape (n, k).
        targets: Shape (n,).
    """
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1 / RIDGE, tol=1e-8, max_iter=1000).fit(features, targets)
    return [float(fitted.intercept_[0]), *map(float, fitted.coef_[0])]


def fit_pairs(signs: list[Signs], labels: list[str]) -> PairCoefficients:
    """Fit entailment on the pairs without a new number, contradiction on the pairs that are not entailed."""
    rows = np.array([[s.cosine, s.flipped, s.has_new_number] for s in signs], dtype=float)  # (n, 3)
    names = np.array(labels)
    same_numbers, not_entailed = rows[:, 2] == 0, names != "entails"
    entails = fit_logistic(rows[same_numbers, :2], names[same_numbers] == "entails")
    against = fit_logistic(rows[not_entailed], names[not_entailed] == "contradicts")
    return PairCoefficients(
        entails_bias=round(entails[0], 3),
        entails_cosine=round(entails[1], 3),
        entails_flipped=round(entails[2], 3),
        contradicts_bias=round(against[0], 3),
        contradicts_cosine=round(against[1], 3),
        contradicts_flipped=round(against[2], 3),
        contradicts_new_number=round(against[3], 3),
    )


def main() -> None:
    """Fit, print the coefficients and the leave-one-out report."""
    from sklearn.metrics import roc_auc_score

    source = load_registry().model("all-minilm-l6-v2").to_source()
    folder = None if source is None else locate(source, load_settings().cache_dir)
    if folder is None:
        raise SystemExit("the embedder is not on this machine: run `rafs models pull`")
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
        alone = roc_auc_score(positive, cosines)
        found = roc_auc_score(positive, [getattr(each, name) for each in held_out])
        print(f"{name:12} against the rest, n={len(labels)}: AUROC {found:.3f} leave-one-out; cosine alone {alone:.3f}")
    right = sum(
        max(("entails", "neutral", "contradicts"), key=lambda name: getattr(each, name)) == label
        for each, label in zip(held_out, labels, strict=True)
    )
    print(f"accuracy {right / len(labels):.3f} leave-one-out")


if __name__ == "__main__":
    main()
