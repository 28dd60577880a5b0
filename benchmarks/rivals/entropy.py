"""Entropy and C of the same groups: ours beside uqlm's own semantic entropy and negentropy, to 1e-9."""

import random

from benchmarks.rivals.other_process import OtherProcess
from rafs.consensus import agreement_of, entropy

N_CASES = 500
MAX_TEXTS = 20
TOLERANCE = 1e-9


def draw_case(seed: int) -> tuple[list[list[int]], list[float]]:
    """Return groups of K texts, and a probability of every text (for odd seeds all the same)."""
    draw = random.Random(seed)
    n_texts = draw.randint(2, MAX_TEXTS)
    n_groups = draw.randint(1, n_texts)
    group_of = [*range(n_groups), *(draw.randrange(n_groups) for _ in range(n_texts - n_groups))]
    groups = [[text for text in range(n_texts) if group_of[text] == group] for group in range(n_groups)]
    return groups, [1 / n_texts if seed % 2 else draw.uniform(1e-6, 1.0) for _ in range(n_texts)]


def main(python: str) -> None:
    """Compare, print the largest difference, and fail where it is not rounding."""
    there = OtherProcess(python, "entropy_worker")
    worst = {"entropy": 0.0, "negentropy": 0.0}
    for seed in range(N_CASES):
        groups, probabilities = draw_case(seed)
        total = sum(probabilities)
        shares = [sum(probabilities[text] for text in group) / total for group in groups]
        ours = {"entropy": entropy(shares), "negentropy": agreement_of(shares, len(probabilities))}
        theirs = there.ask(groups=groups, probabilities=probabilities)
        worst = {name: max(worst[name], abs(ours[name] - theirs[name])) for name in ours}
    there.close()
    for name, difference in worst.items():
        print(f"{name}: {N_CASES} cases, at most {difference:.1e} from uqlm {there.greeting['version']}")
    if max(worst.values()) > TOLERANCE:
        raise SystemExit(f"more than {TOLERANCE}: not the same formula")
