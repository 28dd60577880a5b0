"""What the agreement of samples says of their answer: C, D, and whether D adds to C; and what the prefilter costs.

    python benchmarks/consensus.py FILE... [--preset standard] [--models-file MODELS.yaml]

Each line of a file is a JSON object with `problem`, `samples`, `sample_correct` (one flag a sample) and `group`, by
which the intervals are clustered. Every file is measured by itself, then all together. No sample is the scored trace:
C is of all samples, D of those with the modal answer, with the preset's first validator, once on every pair of claims
and once on those that the prefilter leaves. A problem without a modal answer has no right or wrong one, and is counted.

Whether D adds to C: a logistic regression of "the modal answer is right" on C alone and on C and D, each out of fold
(groups are never split; 10 shuffles into 5 folds), on the problems where both are measured and answers differ in
correctness; the difference of the two in AUROC and in log-loss, with an interval by a bootstrap over groups.
"""

import argparse
import asyncio
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from rafs.answers.equivalence import equivalent
from rafs.canonical import canonical_claims
from rafs.consensus import answer_consensus
from rafs.contracts import Embedder, Nli
from rafs.outcomes import Measured
from rafs.prefilter import MAX_SHARE, most_pairs, nearest_pairs
from rafs.reading import read_text
from rafs.registry import load_registry
from rafs.stability import CanonicalClaim, Stability, pairs_to_classify, reasoning_stability
from rafs.types import Entailment
from rafs.usage import Meter
from service.settings import load_settings
from service.stock import Stock

N_RESAMPLES = 1000
N_SHUFFLES = 10
N_FOLDS = 5
WIDTH = 120

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One problem."""

    file: str
    group: str
    right: bool | None
    """Whether most samples with the modal answer are right; None where no answer is modal."""
    c: float | None
    d: float | None
    """On the pairs that the prefilter leaves, as the product measures it."""
    d_full: float | None
    """On every pair."""
    contradiction: float | None
    method_diversity: float | None
    n_contradictions: int
    n_words: float
    """Mean length of the samples."""
    n_pairs: int
    n_canonical: int
    n_open: int
    """Pairs of distinct texts, in both directions, that no canonical form decides."""
    n_asked: int


class Measurer:
    """Measures problems with one validator and one embedder."""

    def __init__(self, nli: Nli, embedder: Embedder) -> None:
        self._nli = nli
        self._embedder = embedder

    async def measure(self, file: str, line: str) -> Row:
        """Return the row of one line of a file."""
        item = json.loads(line)
        readings = [read_text(item["problem"], sample, None) for sample in item["samples"]]
        vote = answer_consensus(
            [None if one.trace.answer is None else one.trace.answer.text for one in readings],
            None,
            lambda one, other: equivalent(one, other, problem=item["problem"]),
        )
        modal = () if vote.modal is None else vote.modal
        right = [bool(item["sample_correct"][i]) for i in modal]
        claims = [canonical_claims(readings[i]) for i in modal]
        pairs = pairs_to_classify(claims)
        opinions = await self._ask(pairs)
        full = reasoning_stability(claims, opinions)
        asked = await self._nearest(claims, pairs)
        near = reasoning_stability(claims, opinions, frozenset(pairs) - frozenset(asked))
        return Row(
            file=file,
            group=item["group"],
            right=sum(right) * 2 > len(right) if modal else None,
            c=vote.component.value if isinstance(vote.component, Measured) else None,
            d=_value(near),
            d_full=_value(full),
            contradiction=full.contradiction,
            method_diversity=full.method_diversity,
            n_contradictions=full.n_contradictions,
            n_words=float(np.mean([len(sample.split()) for sample in item["samples"]])),
            n_pairs=full.n_pairs,
            n_canonical=full.n_canonical,
            n_open=len(pairs),
            n_asked=len(asked),
        )

    async def _ask(self, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Entailment]:
        said = await self._nli.classify(pairs, Meter()) if pairs else []
        return {pair: one for pair, one in zip(pairs, said, strict=True) if isinstance(one, Entailment)}

    async def _nearest(
        self, claims: Sequence[Sequence[CanonicalClaim]], pairs: Sequence[tuple[str, str]]
    ) -> list[tuple[str, str]]:
        if len(pairs) <= most_pairs(claims):
            return list(pairs)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = await self._embedder.embed(texts, Meter())
        return nearest_pairs(claims, dict(zip(texts, vectors, strict=True)))


def _value(stability: Stability) -> float | None:
    return stability.component.value if isinstance(stability.component, Measured) else None


def auroc(right: Vector, score: Vector) -> float:
    """Return P(a right one scores higher than a wrong one), ties half; NaN where all are right, or all wrong."""
    higher, lower = score[right > 0], np.sort(score[right == 0])
    if not higher.size or not lower.size:
        return float("nan")
    below = np.searchsorted(lower, higher, "left") + np.searchsorted(lower, higher, "right")  # (n_right,)
    return float(below.mean() / 2 / lower.size)


def clustered(groups: Sequence[str], metric: Callable[[NDArray[np.intp]], float]) -> dict[str, float]:
    """Return a metric of rows with its 95 % interval by a bootstrap over groups."""
    members = [np.flatnonzero(np.array(groups) == group) for group in sorted(set(groups))]
    generator = np.random.default_rng(0)
    values = []
    for _ in range(N_RESAMPLES):
        drawn = generator.integers(0, len(members), len(members))
        values.append(metric(np.concatenate([members[i] for i in drawn])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = np.nanpercentile(values, [2.5, 97.5])
    return {"value": metric(np.arange(len(groups))), "low": float(low), "high": float(high), "n": len(groups)}


def out_of_fold(features: Vector, right: Vector, groups: Sequence[str], seed: int) -> Vector:
    """Return P(right) of each row by a logistic regression that has not seen its group."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold

    found = np.zeros(len(right))
    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(features, right, groups):
        found[test] = LogisticRegression().fit(features[train], right[train]).predict_proba(features[test])[:, 1]
    return found


def log_loss(right: Vector, p: Vector) -> float:
    """Return the mean negative log-likelihood, in nats."""
    return float(-np.mean(np.log(np.where(right > 0, p, 1 - p).clip(1e-9))))


def does_it_add(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Compare C alone with C and D, out of fold."""
    right = np.array([float(bool(row.right)) for row in rows])
    groups = [row.group for row in rows]
    c, both = np.array([[row.c] for row in rows], dtype=float), np.array([[row.c, row.d] for row in rows], dtype=float)
    alone = [out_of_fold(c, right, groups, seed) for seed in range(N_SHUFFLES)]
    joined = [out_of_fold(both, right, groups, seed) for seed in range(N_SHUFFLES)]

    def gain(metric: Callable[[Vector, Vector], float]) -> Callable[[NDArray[np.intp]], float]:
        return lambda at: float(
            np.mean([metric(right[at], b[at]) - metric(right[at], a[at]) for a, b in zip(alone, joined, strict=True)])
        )

    return {
        "auroc_c_oof": clustered(groups, lambda at: float(np.mean([auroc(right[at], p[at]) for p in alone]))),
        "auroc_c_and_d_oof": clustered(groups, lambda at: float(np.mean([auroc(right[at], p[at]) for p in joined]))),
        "auroc_gain_of_d": clustered(groups, gain(auroc)),
        "log_loss_gain_of_d": clustered(groups, gain(log_loss)),
    }


def summarise(rows: Sequence[Row]) -> dict[str, object]:
    """Return every figure of some problems."""
    voted = [row for row in rows if row.right is not None and row.c is not None]
    compared = [row for row in voted if row.d is not None and row.d_full is not None]
    figures: dict[str, object] = {
        "problems": len(rows),
        "no_modal_answer": sum(row.right is None for row in rows),
        "modal_right": sum(row.right is True for row in voted),
        "modal_wrong": sum(row.right is False for row in voted),
        "auroc_c": _auroc(voted, lambda row: row.c),
        "auroc_length": _auroc(voted, lambda row: -row.n_words),
        "d_measured": len(compared),
        "auroc_d": _auroc(compared, lambda row: row.d),
        "auroc_less_contradiction": _auroc(compared, lambda row: -(row.contradiction or 0.0)),
        "auroc_less_diversity": _auroc(
            [row for row in compared if row.method_diversity is not None], lambda row: -(row.method_diversity or 0.0)
        ),
        "d_at_zero": sum(row.d == 0 for row in compared),
    }
    for name, is_right in (("right", True), ("wrong", False)):
        some = [row for row in compared if row.right is is_right]
        figures[f"d_{name}"] = _mean(some, lambda row: row.d)
        figures[f"contradiction_{name}"] = _mean(some, lambda row: row.contradiction)
        diverse = [row for row in some if row.method_diversity is not None]
        figures[f"method_diversity_{name}"] = _mean(diverse, lambda row: row.method_diversity)
    if min(sum(row.right is True for row in compared), sum(row.right is False for row in compared)) >= N_FOLDS:
        figures |= does_it_add(compared)
    n_full = sum(row.n_pairs for row in compared)
    figures |= {
        "pairs_full": n_full,
        "share_canonical": sum(row.n_canonical for row in compared) / n_full if n_full else None,
        "share_open": sum(row.n_open for row in compared) / n_full if n_full else None,
        "share_asked": sum(row.n_asked for row in compared) / n_full if n_full else None,
        "largest_share_asked": max((row.n_asked / row.n_pairs for row in compared if row.n_pairs), default=None),
        "prefilter_cost": _mean(compared, lambda row: abs((row.d or 0.0) - (row.d_full or 0.0))),
        "prefilter_largest_cost": max((abs((row.d or 0) - (row.d_full or 0)) for row in compared), default=None),
    }
    return figures


def _auroc(rows: Sequence[Row], score: Callable[[Row], float | None]) -> dict[str, float] | None:
    if not rows:
        return None
    right = np.array([float(bool(row.right)) for row in rows])
    scores = np.array([score(row) for row in rows], dtype=float)
    return clustered([row.group for row in rows], lambda at: auroc(right[at], scores[at]))


def _mean(rows: Sequence[Row], value: Callable[[Row], float | None]) -> dict[str, float] | None:
    if not rows:
        return None
    values = np.array([value(row) for row in rows], dtype=float)
    return clustered([row.group for row in rows], lambda at: float(values[at].mean()))


def show(figure: object) -> str:
    """Return the cell of a figure."""
    if isinstance(figure, dict):
        return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}] n={figure['n']}"
    return f"{figure:.3f}" if isinstance(figure, float) else "-" if figure is None else str(figure)


async def run(options: argparse.Namespace) -> dict[str, dict[str, object]]:
    """Measure every file, and all together."""
    settings = load_settings()
    registry = load_registry(options.models_file or settings.models_file)
    stock = Stock(registry, settings.cache_dir, settings.torch_threads)
    async with stock.closing:
        measurer = Measurer(stock.validators(options.preset)[0], stock.embedders(options.preset)[0])
        rows: list[Row] = []
        for path in options.files:
            for line in track(path.read_text("utf-8").splitlines(), path.stem, console=Console(stderr=True)):
                rows.append(await measurer.measure(path.stem, line))
    if options.rows:
        options.rows.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    parts = {path.stem: [row for row in rows if row.file == path.stem] for path in options.files}
    if len(parts) > 1:
        parts["all"] = rows
    return {name: summarise(some) for name, some in parts.items()}


def main() -> None:
    """Print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    parser.add_argument("--preset", default="standard")
    parser.add_argument("--models-file", type=Path)
    parser.add_argument("--rows", type=Path, help="where to write what was measured of each problem")
    options = parser.parse_args()
    if not options.files:
        print("skipped: it measures files of samples; name them")
        return
    figures = asyncio.run(run(options))
    table = Table("figure", *figures, title=f"samples and their answers (at most {MAX_SHARE:.0%} of the pairs asked)")
    for name in dict.fromkeys(name for some in figures.values() for name in some):
        table.add_row(name, *(show(some.get(name)) for some in figures.values()))
    Console(width=WIDTH).print(table)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
