"""Stage 5: what the samples say about the answer (C) and about the way to it (D)."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from rafs.canonical import canonical_claims
from rafs.consensus import Consensus, answer_consensus, consensus_value
from rafs.contracts import Nli
from rafs.equivalence import equivalent
from rafs.errors import BackendError
from rafs.outcomes import Component, ComponentName, Measured, Unmeasured
from rafs.reading import read_text
from rafs.sampling import Samples
from rafs.stability import CanonicalClaim, Pair, Stability, pairs_to_classify, reasoning_stability
from rafs.types import Entailment, ModelIdentity, Reading, Sampled
from rafs.usage import Meter

STAGE = "agreement"
SCORED_TRACE = -1
"""Row number of the scored trace among the samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Consensus and stability, with what they were measured on."""

    samples: tuple[Sampled, ...]
    answers: tuple[str | None, ...]
    consensus: Consensus
    stability: Stability
    rows: tuple[int, ...]
    """Sample of each row of `stability.distances`; SCORED_TRACE is the scored trace."""
    validator: ModelIdentity | None
    """The model that compared claims in words; None where none was asked."""
    opinions: Mapping[Pair, Entailment]


def no_agreement(reason: Unmeasured) -> Agreement:
    """Return the agreement of no samples at all."""
    nobody = Consensus(component=reason, classes=(), missing=(), modal=None, share_of_stated=None, answer_is_modal=None)
    return Agreement(
        samples=(),
        answers=(),
        consensus=nobody,
        stability=Stability(component=reason, distances=None),
        rows=(),
        validator=None,
        opinions={},
    )


async def measure_agreement(reading: Reading, samples: Samples, nli: Nli | None, meter: Meter) -> Agreement:
    """Vote on the answers, then compare the traces behind the modal one."""
    if samples.missing is not None:
        return no_agreement(samples.missing)
    problem = reading.trace.problem
    readings = []
    for i, sample in enumerate(samples.texts):
        readings.append(await asyncio.to_thread(read_text, problem, sample.text, None, f"samples.{i}"))
    answers = tuple(
        None if sample.truncated or one.trace.answer is None else one.trace.answer.text
        for sample, one in zip(samples.texts, readings, strict=True)
    )
    stated = None if reading.trace.answer is None else reading.trace.answer.text
    consensus = answer_consensus(answers, stated, partial(equivalent, problem=problem))
    rows = modal_rows(consensus)
    claims = [canonical_claims(reading if row == SCORED_TRACE else readings[row]) for row in rows]
    opinions = await _opinions(claims, nli, meter)
    return Agreement(
        samples=samples.texts,
        answers=answers,
        consensus=consensus,
        stability=reasoning_stability(claims, opinions),
        rows=rows,
        validator=nli.identity if nli is not None and opinions else None,
        opinions=opinions,
    )


def modal_rows(consensus: Consensus) -> tuple[int, ...]:
    """Return the traces whose answer is the modal one, the scored trace first where its answer is."""
    if consensus.modal is None:
        return ()
    return (SCORED_TRACE, *consensus.modal) if consensus.answer_is_modal else consensus.modal


async def _opinions(
    traces: Sequence[Sequence[CanonicalClaim]], nli: Nli | None, meter: Meter
) -> dict[Pair, Entailment]:
    pairs = pairs_to_classify(traces)
    if nli is None or not pairs:
        return {}
    try:
        verdicts = await nli.classify(pairs, meter)
    except BackendError:
        return {}
    return {pair: verdict for pair, verdict in zip(pairs, verdicts, strict=True) if isinstance(verdict, Entailment)}


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
