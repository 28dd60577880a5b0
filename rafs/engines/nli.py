"""The embedded validator: quantities compared exactly, words by an embedder's cosine."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rafs.contracts import Embedder
from rafs.engines.text_signs import Polarity, is_flipped, read_polarity, read_quantities
from rafs.types import Abstained, Entailment, ModelIdentity
from rafs.usage import Meter

STAGE = "nli"
VERSION = "1"
"""Raised with the coefficients or the word lists, so that a record names what judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """All that the validator sees of a pair."""

    cosine: float
    """Of the two embeddings, in [-1, 1]."""
    flipped: bool
    """One side is negated, or uses the opposite word, and the other is not."""
    has_new_number: bool
    """The hypothesis has a number that the premise lacks."""
    same_text: bool = False
    """Equal but for case and white space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCoefficients:
    """Two logistic curves; fitted by benchmarks/fit_embedding_nli.py, which prints them."""

    entails_bias: float
    entails_cosine: float
    entails_flipped: float
    contradicts_bias: float
    contradicts_cosine: float
    contradicts_flipped: float
    contradicts_new_number: float


FITTED = PairCoefficients(
    entails_bias=-4.455,
    entails_cosine=6.36,
    entails_flipped=-3.403,
    contradicts_bias=-7.427,
    contradicts_cosine=8.199,
    contradicts_flipped=3.227,
    contradicts_new_number=1.727,
)


def entailment_from_signs(signs: Signs, fitted: PairCoefficients = FITTED) -> Entailment:
    """Map the signs of a pair to probabilities.

    entails = 0 when the hypothesis has a number that the premise lacks, else
    sigmoid(b + c * cosine + f * flipped); contradicts = (1 - entails) * sigmoid(b' + c' * cosine + f' * flipped +
    n' * has_new_number); neutral is the rest. Two texts that are the same entail each other with 1.
    """
    if signs.same_text:
        return Entailment(entails=1.0, neutral=0.0, contradicts=0.0)
    entails = 0.0
    if not signs.has_new_number:
        entails = sigmoid(
            fitted.entails_bias + fitted.entails_cosine * signs.cosine + fitted.entails_flipped * signs.flipped
        )
    against = sigmoid(
        fitted.contradicts_bias
        + fitted.contradicts_cosine * signs.cosine
        + fitted.contradicts_flipped * signs.flipped
        + fitted.contradicts_new_number * signs.has_new_number
    )
    contradicts = (1 - entails) * against
    return Entailment(entails=entails, neutral=1 - entails - contradicts, contradicts=contradicts)


def sigmoid(x: float) -> float:
    """Return 1 / (1 + exp(-x)), without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


class EmbeddingNli:
    """An `Nli` on an embedder, for platforms where no three-way model may be shipped.

    What it cannot tell, because a cosine does not see it:
        - who does what to whom: "Ben is older than Kim" against "Kim is older than Ben" looks like entailment;
        - a contradiction by words that are not in its lists of negations and opposites (rafs/engines/text_signs.py);
        - any inference that needs arithmetic or a unit: "3 apples and 4 pears" never entails "7 fruits", and
          "2 hours" never entails "120 minutes". Quantities are the business of the claims' own checker;
        - direction between sentences with the same numbers: "some" against "all".
    Its probabilities were fitted on 108 short English sentence pairs about word problems, written together with
    the word lists, so their leave-one-out quality (printed by the fit script) flatters it.
    """

    def __init__(self, embedder: Embedder, fitted: PairCoefficients = FITTED) -> None:
        """Stand on an embedder; the family is the embedder's.

        Args:
            embedder: Gives the cosine.
            fitted: Belong to this embedder; those shipped were fitted on all-MiniLM-L6-v2.
        """
        self._embedder = embedder
        self._fitted = fitted
        base = embedder.identity
        self._identity = replace(base, id=f"embedding-nli:{base.id}", revision=f"{base.revision}+nli-{VERSION}")

    @property
    def identity(self) -> ModelIdentity:
        """The embedder, and the version of what is built on it."""
        return self._identity

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        """See `Nli.classify`. Each distinct text is embedded once; never abstains."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = await self._embedder.embed(texts, meter)
        meter.add(STAGE, calls=len(pairs))
        # Tens of thousands of pairs take a good part of a second of plain Python, too long for the event loop.
        return await asyncio.to_thread(self._opinions, texts, vectors, pairs)

    def _opinions(
        self, texts: Sequence[str], vectors: NDArray[np.float32], pairs: Sequence[tuple[str, str]]
    ) -> list[Entailment]:
        return [entailment_from_signs(each, self._fitted) for each in compare_pairs(texts, vectors, pairs)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    vector: NDArray[np.float32]  # (d,)
    numbers: frozenset[Fraction]
    polarity: Polarity
    words: tuple[str, ...]


def compare_pairs(texts: Sequence[str], vectors: NDArray[np.float32], pairs: Sequence[tuple[str, str]]) -> list[Signs]:
    """Return the signs of every pair, in order; each text is read once.

    Args:
        texts: Distinct; hold both sides of every pair.
        vectors: Their unit rows, shape (n_texts, d).
        pairs: (premise, hypothesis).
    """
    read = {
        text: _Read(
            vector=vector,
            numbers=frozenset(read_quantities(text)),
            polarity=read_polarity(text),
            words=tuple(text.casefold().split()),
        )
        for text, vector in zip(texts, vectors, strict=True)
    }
    return [_signs(read[premise], read[hypothesis]) for premise, hypothesis in pairs]


def _signs(premise: _Read, hypothesis: _Read) -> Signs:
    return Signs(
        cosine=float(premise.vector @ hypothesis.vector),
        flipped=is_flipped(premise.polarity, hypothesis.polarity),
        has_new_number=not hypothesis.numbers <= premise.numbers,
        same_text=premise.words == hypothesis.words,
    )
