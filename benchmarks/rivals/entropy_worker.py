"""uqlm's own semantic entropy and its normalised form; runs in the environment of requirements.txt.

python -m benchmarks.rivals.entropy_worker    then as `replies` says
"""

from importlib.metadata import version
from typing import Any

from benchmarks.rivals.replies import answer_requests, standard_output_for_replies


def main() -> None:
    with standard_output_for_replies() as replies:
        from uqlm.nli.entropy_utils import compute_cluster_probabilities, compute_semantic_entropy, normalize_entropy

        def answer(request: Any) -> Any:
            texts = request["probabilities"]
            shares = compute_cluster_probabilities(response_probabilities=texts, cluster_indices=request["groups"])
            entropy = compute_semantic_entropy(cluster_probabilities=shares)
            # `num_responses` counts the samples beside the response that is scored.
            return {"entropy": entropy, "negentropy": 1 - normalize_entropy([entropy], len(texts) - 1)[0]}

        answer_requests(replies, {"version": version("uqlm")}, answer)


if __name__ == "__main__":
    main()
