"""The other packages' three-way classifiers on every pair of claims; runs in the environment of requirements.txt.

    python -m benchmarks.rivals.nli_worker FOLDER    then as `replies` says

Every package's own code runs the model: uqlm's `NLI.predict_batch`, sentence-transformers' `CrossEncoder.predict`,
lm-polygraph's `SemanticMatrixCalculator` and selfcheckgpt's `SelfCheckNLI.predict`. The last two insist on the
tokenizer of one published model, so they are handed a loaded one instead. And a plain loop, pair by pair.
"""

import sys
from collections.abc import Callable, Sequence
from time import process_time
from types import SimpleNamespace
from typing import Any

from benchmarks.rivals.replies import answer_requests, standard_output_for_replies

Ran = tuple[int, Any]
"""Pairs run, and [contradicts, neutral, entails] of every pair asked for; None where the package says less."""
Package = Callable[[Sequence[str], Sequence[Sequence[str]]], Ran]
"""Runs (claims, ordered pairs of them)."""


def uqlm(folder: str) -> Package:
    from uqlm.nli import NLI

    nli = NLI(device="cpu", nli_model_name=folder)

    def run(claims: Sequence[str], pairs: Sequence[Sequence[str]]) -> Ran:
        return len(pairs), nli.predict_batch([(one, other) for one, other in pairs]).tolist()

    return run


def cross_encoder(folder: str) -> Package:
    from sentence_transformers import CrossEncoder

    encoder = CrossEncoder(folder, device="cpu")

    def run(claims: Sequence[str], pairs: Sequence[Sequence[str]]) -> Ran:
        return len(pairs), encoder.predict(pairs, apply_softmax=True, show_progress_bar=False).tolist()

    return run


def lm_polygraph(model: Any, tokenizer: Any) -> Package:
    from lm_polygraph.stat_calculators.semantic_matrix import SemanticMatrixCalculator

    model.config.label2id = {label.upper(): number for label, number in model.config.label2id.items()}
    loaded = SimpleNamespace(deberta=model, deberta_tokenizer=tokenizer, device="cpu", batch_size=10)  # as by default
    calculator = SemanticMatrixCalculator(loaded)

    def run(claims: Sequence[str], pairs: Sequence[Sequence[str]]) -> Ran:
        matrix = calculator({"sample_texts": [list(claims)]}, [""], None)["semantic_matrix_entail"]
        return matrix.size, None

    return run


def selfcheckgpt(model: Any, tokenizer: Any) -> Package:
    from selfcheckgpt.modeling_selfcheck import SelfCheckNLI

    checker = SelfCheckNLI.__new__(SelfCheckNLI)
    checker.model, checker.tokenizer, checker.device = model, tokenizer, "cpu"

    def run(claims: Sequence[str], pairs: Sequence[Sequence[str]]) -> Ran:
        return len(checker.predict(list(claims), list(claims))) * len(claims), None

    return run


def plain_loop(model: Any, tokenizer: Any) -> Package:
    import torch

    def run(claims: Sequence[str], pairs: Sequence[Sequence[str]]) -> Ran:
        with torch.inference_mode():
            logits = [model(**tokenizer(*pair, return_tensors="pt")).logits[0] for pair in pairs]
        return len(pairs), [row.softmax(dim=-1).tolist() for row in logits]

    return run


def main() -> None:
    folder = sys.argv[1]
    with standard_output_for_replies() as replies:
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        torch.set_num_threads(1)
        model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
        packages = {
            "CrossEncoder": cross_encoder(folder),
            "uqlm": uqlm(folder),
            "lm-polygraph": lm_polygraph(model, tokenizer),
            "selfcheckgpt": selfcheckgpt(model, tokenizer),
            "plain loop": plain_loop(model, tokenizer),
        }

        def answer(request: Any) -> Any:
            started = process_time()
            n, opinions = packages[request["package"]](request["claims"], request["pairs"])
            return {"pairs": n, "cpu_s": process_time() - started, "opinions": opinions}

        answer_requests(replies, {"packages": list(packages)}, answer)


if __name__ == "__main__":
    main()
