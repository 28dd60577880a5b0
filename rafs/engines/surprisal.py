"""How surprised a language model is by each step: statistics of its tokens' log-probabilities and entropies."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

Floats = NDArray[np.float64]

SURPRISAL = (
    *("mean", "least", "mean_of_3_least", "percentile_10", "percentile_25"),
    *("mean_of_digits", "least_of_digits", "digits", "tokens"),
    *("mean_entropy", "largest_entropy", "mean_surplus", "least_surplus"),
    *("least_number", "mean_number", "least_first_digit", "mean_first_digit"),
    *("mean_entropy_of_first_digit", "largest_entropy_of_first_digit", "mean_operator", "least_operator"),
    *("below_surplus_2", "below_surplus_4", "below_5"),
    *("change", "of_mark", "entropy_of_mark"),
)
"""Columns of `step_surprisal`, from log p of the tokens. A surplus is log p + entropy: how much less likely a token is
than one drawn there. A number is a run of tokens with digits, and its log p the sum of theirs. `change` is the mean
against that of the steps before, 0 for the first. What a step does not hold is 0."""
ROWS_AT_ONCE = 16
"""Rows of logits taken to fp32 together: a few MB, which a cache holds; all of a slice were measured twice as slow."""
_OPERATORS = frozenset({"+", "-", "*", "/", "×", "÷", "−", "\\times", "times", "divided", "plus", "minus"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TokenKinds:
    """What stands in tokens, shape (n_tokens,) each."""

    is_digit: NDArray[np.bool_]
    """A digit among other letters, too."""
    is_operator: NDArray[np.bool_]

    def of(self, ids: Sequence[int]) -> "TokenKinds":
        """Return the kinds of some tokens, where these are the kinds of the whole vocabulary."""
        return TokenKinds(is_digit=self.is_digit[list(ids)], is_operator=self.is_operator[list(ids)])


def read_kinds(tokenizer: "PreTrainedTokenizerBase") -> TokenKinds:
    """Return the kinds of every token of a vocabulary."""
    texts = [text or "" for text in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))]
    return TokenKinds(
        is_digit=np.array([any("0" <= letter <= "9" for letter in text) for text in texts]),
        is_operator=np.array([text.lstrip("Ġ▁ ") in _OPERATORS for text in texts]),
    )


def token_surprisal(logits: "torch.Tensor", following: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
    """Return log p of the tokens that followed and the entropy of what was expected there, in nats, each (Q,).

    Args:
        logits: (Q, V).
        following: Ids of the tokens that followed, (Q,).
    """
    import torch

    found: list[tuple[torch.Tensor, torch.Tensor]] = []
    for rows, ids in zip(logits.split(ROWS_AT_ONCE), following.split(ROWS_AT_ONCE), strict=True):
        log_p = rows.float()
        log_p -= log_p.logsumexp(-1, keepdim=True)  # (16, V)
        found.append((log_p.gather(1, ids[:, None])[:, 0], -torch.linalg.vecdot(log_p.exp(), log_p)))
    return torch.cat([one for one, _ in found]), torch.cat([entropy for _, entropy in found])


def step_surprisal(
    log_p: NDArray[np.float32], entropy: NDArray[np.float32], kinds: TokenKinds, ends: Sequence[int]
) -> NDArray[np.float32]:
    """Return the statistics of each step, shape (n_steps, len(SURPRISAL)); a row hangs on no later step.

    Args:
        log_p: Of every token of the steps and their marks, in nats, shape (n_tokens,).
        entropy: Of what the model expected in its place, in nats, likewise.
        kinds: Of these tokens.
        ends: Where the mark of each step stands among them.
    """
    rows: list[list[float]] = []
    start, means = 0, list[float]()
    for end in ends:
        tokens = slice(start, max(end, start + 1))
        p, h = log_p[tokens].astype(np.float64), entropy[tokens].astype(np.float64)
        is_digit, is_operator = kinds.is_digit[tokens], kinds.is_operator[tokens]
        mean = float(p.mean())
        change = mean - (sum(means) / len(means)) if means else 0.0
        rows.append(
            [
                *_of_all(p),
                *_of_some(p[is_digit]),
                *(float(is_digit.sum()), float(len(p)), float(h.mean()), float(h.max())),
                *_of_some(p + h),
                *_of_numbers(p, h, is_digit),
                *_of_some(p[is_operator]),
                *(float((p + h < -2).sum()), float((p + h < -4).sum()), float((p < -5).sum())),
                *(change, float(log_p[end]), float(entropy[end])),
            ]
        )
        means.append(mean)
        start = end + 1
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(SURPRISAL))


def _of_all(p: Floats) -> list[float]:
    return [p.mean(), p.min(), np.sort(p)[:3].mean(), np.percentile(p, 10), np.percentile(p, 25)]


def _of_some(values: Floats) -> list[float]:
    return [values.mean(), values.min()] if len(values) else [0.0, 0.0]


def _of_numbers(p: Floats, h: Floats, is_digit: NDArray[np.bool_]) -> list[float]:
    runs = [[place for place, _ in run] for digit, run in groupby(enumerate(is_digit), lambda one: one[1]) if digit]
    if not runs:
        return [0.0] * 6
    whole, first = np.array([p[run].sum() for run in runs]), [run[0] for run in runs]
    return [whole.min(), whole.mean(), p[first].min(), p[first].mean(), h[first].mean(), h[first].max()]
