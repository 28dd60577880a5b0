"""Stage 5: what the samples say about the answer (C) and about the way to it (D)."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from rafs.ballot import Ballot, SampleReader
from rafs.canonical import canonical_claims
from rafs.consensus import Consensus, consensus_value
from rafs.contracts import Embedder, Nli
from rafs.errors import BackendError
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured
from rafs.prefilter import most_pairs, nearest_pairs
from rafs.sampling import Samples
from rafs.stability import (
    MAX_COMPARISONS,
    CanonicalClaim,
    Pair,
    Stability,
    n_comparisons,
    pairs_to_classify,
    reasoning_stability,
)
from rafs.threads import in_thread
from rafs.types import Abstained, Entailment, ModelIdentity, Reading, Sampled, Why
from rafs.usage import Meter

logger = logging.getLogger(__name__)

SCORED_TRACE = -1
"""Row number of the scored trace among the samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Consensus and stability, with what they were measured on."""

    gathered: Samples
    ballot: Ballot | None
    """Who voted for what; None where nobody was asked."""
    consensus: Consensus
    stability: Stability
    rows: tuple[int, ...]
    """Sample of each row of `stability.distances`; SCORED_TRACE is the scored trace."""
    validator: ModelIdentity | None
    """The model that compared claims in words; None where none was asked."""
    opinions: Mapping[Pair, Entailment | Abstained]
    """What it said of every pair it was asked about."""
    embedder: ModelIdentity | None = None
    """The model that chose those pairs; None where all were asked."""

    @property
    def samples(self) -> tuple[Sampled, ...]:
        """All that were sent or drawn."""
        return self.gathered.texts

    @property
    def drawn(self) -> bool:
        """Whether the samples came from the writer, not from the caller."""
        return self.gathered.drawn

    @property
    def voters(self) -> tuple[int, ...]:
        """Indices of the samples that voted."""
        return () if self.ballot is None else self.ballot.voters


def no_agreement(reason: Unmeasured) -> Agreement:
    """Return the agreement of no samples at all."""
    nobody = Consensus(component=reason, classes=(), missing=(), modal=None, share_of_stated=None, answer_is_modal=None)
    return Agreement(
        gathered=Samples(texts=()),
        ballot=None,
        consensus=nobody,
        stability=Stability(component=reason, distances=None),
        rows=(),
        validator=None,
        opinions={},
    )


async def count_votes(reading: Reading, sent: Sequence[Sampled], settled: Unmeasured) -> Agreement:
    """Count the answers of the samples that came with the request, which takes no model, and leave it at that."""
    if not sent:
        return no_agreement(settled)
    reader, samples = SampleReader(reading), Samples(texts=tuple(sent))
    ballot = await reader.count(samples, await reader.read(samples))
    return replace(no_agreement(settled), gathered=samples, ballot=ballot, consensus=ballot.consensus)


async def measure_agreement(
    reading: Reading,
    samples: Samples,
    nli: Nli | None,
    meter: Meter,
    reader: SampleReader | None = None,
    embedder: Embedder | None = None,
) -> Agreement:
    """Vote on the answers, then compare the traces behind the modal one.

    Args:
        reading: The scored trace.
        samples: What was sent or drawn.
        nli: Compares claims in words; None leaves the traces that have such out.
        meter: Where cost is counted.
        reader: May have read some samples.
        embedder: Chooses what `nli` is asked, where that are many pairs; None asks all of them.
    """
    if samples.missing is not None:
        return no_agreement(samples.missing)
    reader = reader or SampleReader(reading)
    readings = await reader.read(samples)
    ballot = await reader.count(samples, readings)
    rows = modal_rows(ballot.consensus)
    traces = {SCORED_TRACE: reading} | {i: one for i, one in enumerate(readings) if one is not None}
    claims = [await in_thread(canonical_claims, traces[row]) for row in rows]
    asked = await _ask_validator(claims, nli, embedder, meter)
    entailments = {pair: said for pair, said in asked.opinions.items() if isinstance(said, Entailment)}
    return Agreement(
        gathered=samples,
        ballot=ballot,
        consensus=ballot.consensus,
        stability=await in_thread(reasoning_stability, claims, entailments, asked.unasked),
        rows=rows,
        validator=nli.identity if nli is not None and asked.opinions else None,
        opinions=asked.opinions,
        embedder=asked.embedder,
    )


def modal_rows(consensus: Consensus) -> tuple[int, ...]:
    """Return the traces whose answer is the modal one, the scored trace first where its answer is."""
    if consensus.modal is None:
        return ()
    return (SCORED_TRACE, *consensus.modal) if consensus.answer_is_modal else consensus.modal


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a validator said, and what it was not asked since its words are too far apart."""

    opinions: Mapping[Pair, Entailment | Abstained]
    unasked: frozenset[Pair] = frozenset()
    embedder: ModelIdentity | None = None


async def _ask_validator(
    traces: Sequence[Sequence[CanonicalClaim]], nli: Nli | None, embedder: Embedder | None, meter: Meter
) -> _Asked:
    if nli is None or n_comparisons(traces) > MAX_COMPARISONS:
        return _Asked(opinions={})
    pairs = await in_thread(pairs_to_classify, traces)
    chosen = None if embedder is None else await _choose(traces, pairs, embedder, meter)
    asked = pairs if chosen is None else chosen
    try:
        said = dict(zip(asked, await nli.classify(asked, meter), strict=True)) if asked else {}
    except BackendError as error:
        logger.warning("validator %s failed: %s", nli.identity.id, error)
        return _Asked(opinions={})
    # A record does not hold what was not asked; a replay asks for it, and hears that it was not needed.
    answered = {pair: one for pair, one in said.items() if not _was_not_needed(one)}
    return _Asked(
        opinions=answered,
        unasked=frozenset(pairs) - answered.keys(),
        embedder=None if chosen is None or embedder is None else embedder.identity,
    )


async def _choose(
    traces: Sequence[Sequence[CanonicalClaim]], pairs: Sequence[Pair], embedder: Embedder, meter: Meter
) -> list[Pair] | None:
    """Return the pairs whose words are near; None where there are few enough, or the embedder failed."""
    if len(pairs) <= most_pairs(traces):
        return None
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    try:
        vectors = await embedder.embed(texts, meter)
    except BackendError as error:
        logger.warning("embedder %s failed, so every pair of claims is compared: %s", embedder.identity.id, error)
        return None
    return await in_thread(nearest_pairs, traces, dict(zip(texts, vectors, strict=True)))


def _was_not_needed(opinion: Entailment | Abstained) -> bool:
    return isinstance(opinion, Abstained) and opinion.why is Why.NOT_NEEDED


def resampled_agreement(agreement: Agreement, chosen: Sequence[int]) -> dict[ComponentName, Component]:
    """C and D of a resample (with repetition) of the voters; pairs of one and the same trace are left out of D.

    Distances are known among the traces of the modal class alone, so a resample with another modal class measures
    no D.

    Args:
        agreement: Of all samples.
        chosen: Positions among the voters, in the order of their texts, so that the order of samples does not matter.
    """
    consensus = agreement.consensus
    voters = sorted(agreement.voters, key=lambda sample: agreement.samples[sample].text)
    samples = [voters[position] for position in chosen]
    class_of = {sample: number for number, members in enumerate(consensus.classes) for sample in members}
    sizes = Counter(class_of[sample] for sample in samples)
    votes = consensus.component
    if isinstance(votes, Measured):
        votes = replace(votes, value=consensus_value(list(sizes.values())))
    return {
        ComponentName.CONSENSUS: votes,
        ComponentName.STABILITY: _resampled_stability(agreement, samples, sizes),
    }


def _resampled_stability(agreement: Agreement, samples: Sequence[int], sizes: Mapping[int, int]) -> Component:
    stability, missing = agreement.stability, agreement.consensus.missing
    if not isinstance(stability.component, Measured) or stability.distances is None:
        return stability.component
    answered = [size for number, size in sizes.items() if agreement.consensus.classes[number] != missing]
    if sizes[0] < max(answered, default=0):
        return Unmeasured(reason="another_modal_class")
    position = {row: i for i, row in enumerate(agreement.rows)}
    own = [position[SCORED_TRACE]] if SCORED_TRACE in position else []
    drawn = own + [position[sample] for sample in samples if sample in position]
    pairs = [(i, j) for i, j in combinations(drawn, 2) if i != j and not np.isnan(stability.distances[i, j])]
    if not pairs:
        return Unmeasured(reason="too_few_modal_traces")
    distance = sum(float(stability.distances[i, j]) for i, j in pairs) / len(pairs)
    return replace(stability.component, value=1 - distance)
