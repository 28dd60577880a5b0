import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.engines.pair_windows import MAX_PIECES, cut_premise, join_opinions
from rafs.types import Entailment


def words(n: int) -> tuple[str, list[tuple[int, int]]]:
    """A text of n words of three characters, and where they stand."""
    return " ".join(f"{at:03}" for at in range(n)), [(4 * at, 4 * at + 3) for at in range(n)]


@given(st.integers(1, 400), st.integers(0, 30), st.integers(20, 90))
def test_pieces_hold_every_word_in_order_and_fit(n: int, n_hypothesis: int, window: int) -> None:
    text, spans = words(n)
    pieces = [piece.split() for piece in cut_premise(text, spans, n_hypothesis, 3, window)]
    if pieces:
        assert pieces[0][0] == "000"
        assert pieces[-1][-1] == f"{n - 1:03}"
        assert sorted({word for piece in pieces for word in piece}) == text.split()
        assert max(map(len, pieces)) + n_hypothesis + 3 <= window
        assert len(pieces) <= MAX_PIECES


def test_half_a_piece_stands_whole_in_some_piece() -> None:
    text, spans = words(100)
    pieces = cut_premise(text, spans, 9, 3, 36)  # room for 20
    for start in range(90):
        passage = text[spans[start][0] : spans[start + 9][1]]
        assert any(passage in piece for piece in pieces)


@pytest.mark.parametrize(
    ("n", "n_hypothesis"),
    [
        pytest.param(100, 50, id="a hypothesis that leaves less than a quarter"),
        pytest.param(2000, 10, id="too many pieces"),
        pytest.param(0, 10, id="tokens unknown"),
    ],
)
def test_what_cannot_be_cut_is_not(n: int, n_hypothesis: int) -> None:
    assert cut_premise(*words(n), n_hypothesis, 3, 64) == []


def said(entails: float, contradicts: float) -> Entailment:
    return Entailment(entails=entails, neutral=1 - entails - contradicts, contradicts=contradicts)


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        pytest.param([said(0.1, 0.1), said(0.8, 0.1), said(0.2, 0.05)], (0.8, 0.1, 0.1), id="one piece entails"),
        pytest.param([said(0.1, 0.1), said(0.05, 0.7)], (0.1, 0.2, 0.7), id="one piece contradicts"),
        pytest.param([said(0.9, 0.05), said(0.05, 0.9)], (0.5, 0.0, 0.5), id="they do both"),
        pytest.param([said(0.1, 0.2)], (0.1, 0.7, 0.2), id="one piece"),
    ],
)
def test_the_likeliest_piece_speaks_for_the_premise(
    pieces: list[Entailment], joined: tuple[float, float, float]
) -> None:
    found = join_opinions(pieces)
    assert (found.entails, found.neutral, found.contradicts) == pytest.approx(joined)
    assert found.windowed
