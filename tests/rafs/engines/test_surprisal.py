import numpy as np
import pytest
from numpy.testing import assert_allclose

from rafs.engines.surprisal import SURPRISAL, TokenKinds, read_kinds, step_surprisal, token_surprisal
from tests.rafs.engines.tiny_models import tiny_tokenizer


def test_surprisal_and_entropy_are_those_of_the_softmax() -> None:
    import torch

    logits = torch.randn(40, 11, generator=torch.Generator().manual_seed(0))
    following = torch.arange(40) % 11
    p = logits.softmax(-1)
    log_p, entropy = token_surprisal(logits, following)
    assert_allclose(log_p, p.log()[torch.arange(40), following], rtol=1e-5)
    assert_allclose(entropy, -(p * p.log()).sum(-1), rtol=1e-5)


def test_digits_and_operators_are_told_by_their_text() -> None:
    tokenizer = tiny_tokenizer().tokenizer
    three, letter, plus = (tokenizer.convert_tokens_to_ids(text) for text in "3a+")
    kinds = read_kinds(tokenizer).of([three, letter, plus])
    assert list(kinds.is_digit) == [True, False, False]
    assert list(kinds.is_operator) == [False, False, True]


def column(rows: np.ndarray, name: str) -> list[float]:
    return [float(value) for value in rows[:, SURPRISAL.index(name)]]


KINDS = TokenKinds(
    is_digit=np.array([False, True, True, False, True, False, False, False]),
    is_operator=np.array([True, False, False, False, False, False, False, False]),
)
ROWS = step_surprisal(
    np.array([-1, -2, -3, -1, -6, -9, -4, -8], dtype=np.float32), np.ones(8, dtype=np.float32), KINDS, [5, 7]
)
"""Two steps, `+ 12 a 3` and one of a single token, each with its mark."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mean", [-2.6, -4]),
        ("least", [-6, -4]),
        ("mean_of_digits", [-11 / 3, 0]),
        ("digits", [3, 0]),
        ("tokens", [5, 1]),
        ("least_number", [-6, 0]),
        ("mean_number", [-5.5, 0]),
        ("least_first_digit", [-6, 0]),
        ("mean_first_digit", [-4, 0]),
        ("largest_entropy_of_first_digit", [1, 0]),
        ("mean_operator", [-1, 0]),
        ("least_surplus", [-5, -3]),
        ("below_surplus_4", [1, 0]),
        ("below_5", [1, 0]),
        ("change", [0, -1.4]),
        ("of_mark", [-9, -8]),
    ],
)
def test_a_statistic_is_taken_within_its_step(name: str, expected: list[float]) -> None:
    assert column(ROWS, name) == pytest.approx(expected)


def test_no_step_is_no_row() -> None:
    empty = np.zeros(0, dtype=np.float32)
    none = TokenKinds(is_digit=np.zeros(0, dtype=bool), is_operator=np.zeros(0, dtype=bool))
    assert step_surprisal(empty, empty, none, []).shape == (0, len(SURPRISAL))
