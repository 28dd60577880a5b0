"""A scripted text-embeddings-inference: one token a word, limits and refusals as the real one words them."""

import re
from collections.abc import Callable
from typing import Any

from rafs.engines.sequence_nli import Pair
from tests.rafs.engines.scripted_server import Answer, Reply, Request, at, reply_json

LABELS = ("contradiction", "entailment", "neutral")
N_SPECIAL = 3

Scores = Callable[[Pair], dict[str, float]]
"""Score of each label for a pair."""


def by_first_word(pair: Pair) -> dict[str, float]:
    """Give the label that the premise starts with, or else neutral, 0.8; the others 0.1."""
    likeliest = next((label for label in LABELS if pair[0].startswith(label)), "neutral")
    return {label: 0.8 if label == likeliest else 0.1 for label in LABELS}


def tei(
    scores: Scores = by_first_word, *, window: int = 512, batch: int = 32, in_bytes: bool = True, model: str = "served"
) -> Answer:
    """Answer as TEI does; `in_bytes` is how its newer versions count where tokens stand."""
    info = {
        "model_id": model,
        "model_sha": None,
        "model_dtype": "float32",
        "model_type": {"classifier": {"id2label": dict(enumerate(LABELS)), "label2id": {}}},
        "max_concurrent_requests": 512,
        "max_input_length": window,
        "max_batch_tokens": 16384,
        "max_client_batch_size": batch,
        "auto_truncate": True,
        "version": "1.8.0",
    }

    def predict(request: Request) -> Reply:
        inputs = request.body["inputs"]
        if len(inputs) > batch:
            return refused(f"batch size {len(inputs)} > maximum allowed batch size {batch}")
        for pair in inputs:
            n = sum(len(text.split()) for text in pair) + N_SPECIAL
            if n > window and not request.body.get("truncate", True):
                return refused(f"Input validation error: `inputs` must have less than {window} tokens. Given: {n}")
        return reply_json([listed(scores((premise, hypothesis))) for premise, hypothesis in inputs])

    def tokenize(request: Request) -> Reply:
        return reply_json([[_token(text, word, in_bytes) for word in _words(text)] for text in request.body["inputs"]])

    return at({"/info": lambda _: reply_json(info), "/predict": predict, "/tokenize": tokenize})


def listed(scores: dict[str, float]) -> list[dict[str, Any]]:
    """One pair's entry of a reply: the likeliest label first."""
    return [{"score": score, "label": label} for label, score in sorted(scores.items(), key=lambda it: -it[1])]


def refused(said: str, *, status: int = 413, kind: str = "Validation") -> Reply:
    return reply_json({"error": said, "error_type": kind}, status=status)


def _words(text: str) -> list[re.Match[str]]:
    return list(re.finditer(r"\S+", text))


def _token(text: str, word: re.Match[str], in_bytes: bool) -> dict[str, Any]:
    start, stop = (len(text[:end].encode()) if in_bytes else end for end in word.span())
    return {"id": 1, "text": word.group(), "special": False, "start": start, "stop": stop}
