"""Stage 5: what the samples say about the answer (C) and about the way to it (D)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from rafs.answers.equivalence import equivalent
from rafs.canonical import canonical_claims
from rafs.consensus import Consensus, answer_consensus, consensus_value
from rafs.contracts import Nli
from rafs.errors import BackendError, InputError
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured
from rafs.policy import NOT_EVALUATED
from rafs.reading import read_text
from rafs.sampling import Samples, sent_samples
from rafs.stability import (
    MAX_COMPARISONS,
    CanonicalClaim,
    Pair,
    Stability,
    n_comparisons,
    pairs_to_classify,
    reasoning_stability,
)
from rafs.types import Abstained, Entailment, ModelIdentity, Reading, Sampled
from rafs.usage import Meter

logger = logging.getLogger(__name__)

SCORED_TRACE = -1
"""Row number of the scored trace among the samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Consensus and stability, with what they were measured on."""

    samples: tuple[Sampled, ...]
    answers: tuple[str | None, ...]
    consensus: Consensus
    stability: Stability
    drawn: bool
    """Whether the samples came from the writer, not from the caller."""
    rows: tuple[int, ...]
    """Sample of each row of `stability.distances`; SCORED_TRACE is the scored trace."""
    validator: ModelIdentity | None
    """The model that compared claims in words; None where none was asked."""
    opinions: Mapping[Pair, Entailment | Abstained]
    """What it said of every pair it was asked about."""


def no_agreement(reason: Unmeasured) -> Agreement:
    """Return the agreement of no samples at all."""
    nobody = Consensus(component=reason, classes=(), missing=(), modal=None, share_of_stated=None, answer_is_modal=None)
    return Agreement(
        samples=(),
        answers=(),
        consensus=nobody,
        stability=Stability(component=reason, distances=None),
        drawn=False,
        rows=(),
        validator=None,
        opinions={},
    )


async def count_votes(reading: Reading, sent: Sequence[str]) -> Agreement:
    """Count the answers of the samples that came with the request, which takes no model, and leave it at that."""
    if not sent:
        return no_agreement(NOT_EVALUATED)
    samples = sent_samples(sent)
    _, answers, consensus = await _read_and_vote(reading, samples)
    return replace(no_agreement(NOT_EVALUATED), samples=samples.texts, answers=answers, consensus=consensus)


async def measure_agreement(reading: Reading, samples: Samples, nli: Nli | None, meter: Meter) -> Agreement:
    """Vote on the answers, then compare the traces behind the modal one."""
    if samples.missing is not None:
        return no_agreement(samples.missing)
    readings, answers, consensus = await _read_and_vote(reading, samples)
    rows = modal_rows(consensus)
    traces = {SCORED_TRACE: reading} | {i: one for i, one in enumerate(readings) if one is not None}
    claims = [await asyncio.to_thread(canonical_claims, traces[row]) for row in rows]
    opinions = await _ask_validator(claims, nli, meter)
    entailments = {pair: said for pair, said in opinions.items() if isinstance(said, Entailment)}
    return Agreement(
        samples=samples.texts,
        answers=answers,
        consensus=consensus,
        stability=await asyncio.to_thread(reasoning_stability, claims, entailments),
        drawn=samples.drawn,
        rows=rows,
        validator=nli.identity if nli is not None and opinions else None,
        opinions=opinions,
    )


async def _read_and_vote(
    reading: Reading, samples: Samples
) -> tuple[Sequence[Reading | None], tuple[str | None, ...], Consensus]:
    readings = [
        await asyncio.to_thread(_read_sample, reading.trace.problem, i, samples) for i in range(len(samples.texts))
    ]
    answers = tuple(None if one is None or one.trace.answer is None else one.trace.answer.text for one in readings)
    return readings, answers, await asyncio.to_thread(_vote, reading, answers)


def _vote(reading: Reading, answers: Sequence[str | None]) -> Consensus:
    stated = None if reading.trace.answer is None else reading.trace.answer.text
    return answer_consensus(answers, stated, partial(equivalent, problem=reading.trace.problem))


def _read_sample(problem: str, i: int, samples: Samples) -> Reading | None:
    """Read one sample; a truncated one, or one that was drawn and is no sensible trace, has no vote.

    Raises:
        InputError: The caller sent a sample with too many steps.
    """
    if samples.texts[i].truncated:
        return None
    try:
        return read_text(problem, samples.texts[i].text, None, f"samples.{i}")
    except InputError:
        if samples.drawn:
            return None
        raise


def modal_rows(consensus: Consensus) -> tuple[int, ...]:
    """Return the traces whose answer is the modal one, the scored trace first where its answer is."""
    if consensus.modal is None:
        return ()
    return (SCORED_TRACE, *consensus.modal) if consensus.answer_is_modal else consensus.modal


async def _ask_validator(
    traces: Sequence[Sequence[CanonicalClaim]], nli: Nli | None, meter: Meter
) -> dict[Pair, Entailment | Abstained]:
    if nli is None or n_comparisons(traces) > MAX_COMPARISONS:
        return {}
    pairs = await asyncio.to_thread(pairs_to_classify, traces)
    if not pairs:
        return {}
    try:
        return dict(zip(pairs, await nli.classify(pairs, meter), strict=True))
    except BackendError as error:
        logger.warning("validator %s failed: %s", nli.identity.id, error)
        return {}


def resampled_agreement(agreement: Agreement, samples: Sequence[int]) -> dict[ComponentName, Component]:
    """C and D of a resample (with repetition) of the samples; pairs of one and the same trace are left out of D.

    Distances are known among the traces of the modal class alone, so a resample with another modal class measures
    no D.
    """
    consensus, stability = agreement.consensus, agreement.stability
    class_of = {sample: number for number, members in enumerate(consensus.classes) for sample in members}
    sizes = Counter(class_of[sample] for sample in samples)
    votes = consensus.component
    if isinstance(votes, Measured):
        votes = replace(votes, value=consensus_value(list(sizes.values())))
    return {
        ComponentName.CONSENSUS: votes,
        ComponentName.STABILITY: _resampled_stability(stability, agreement.rows, samples, sizes),
    }


def _resampled_stability(
    stability: Stability, rows: Sequence[int], samples: Sequence[int], sizes: Mapping[int, int]
) -> Component:
    if not isinstance(stability.component, Measured) or stability.distances is None:
        return stability.component
    if sizes[0] < max(sizes.values()):
        return Unmeasured(reason="another_modal_class")
    position = {row: i for i, row in enumerate(rows)}
    own = [position[SCORED_TRACE]] if SCORED_TRACE in position else []
    drawn = own + [position[sample] for sample in samples if sample in position]
    pairs = [(i, j) for i, j in combinations(drawn, 2) if i != j and not np.isnan(stability.distances[i, j])]
    if not pairs:
        return Unmeasured(reason="too_few_modal_traces")
    distance = sum(float(stability.distances[i, j]) for i, j in pairs) / len(pairs)
    return replace(stability.component, value=1 - distance)
