"""Whether the stated answer follows from the derivation, by models, where the quantity graph cannot say.

A model is asked only where a calibration measured it for this very question, and found it better than chance; there is
no default for what nobody measured.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rafs.calibration import Calibration
from rafs.contracts import AnswerJudge, Nli
from rafs.errors import BackendError
from rafs.support import AnswerEntailment, EntailmentSource
from rafs.types import Abstained, Entailment, Judged, MemberVerdicts, ModelIdentity, Reading, Verdict, Why
from rafs.usage import Meter

logger = logging.getLogger(__name__)

VALIDATOR = "answer_nli"
JUDGE = "answer_judge"
"""Kinds of the names under which a calibration holds a model's scale for this question: `answer_judge:<model id>`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What models said on whether the answer follows."""

    entailment: AnswerEntailment | None = None
    """None where nobody that is heard gave an opinion."""
    validator: ModelIdentity | None = None
    """None where it was not asked."""
    opinions: Mapping[tuple[str, str], Entailment | Abstained] = field(default_factory=dict)
    """What the validator said of (derivation, statement of the answer)."""
    judges: tuple[MemberVerdicts, ...] = ()
    """One row for each judge that was asked, with one verdict."""


NOT_ASKED = Followed()


async def ask_whether_follows(
    reading: Reading, validator: Nli | None, judges: Sequence[AnswerJudge], calibration: Calibration, meter: Meter
) -> Followed:
    """Ask the validator, and where it has no opinion the judges in order, until one has.

    e = sigmoid(a + b logit p) with the model's scale (a, b) for this question and its probability p: of entailment by
    the derivation without the statement of its answer, or of Yes to whether the answer follows from it.

    Args:
        reading: The trace.
        validator: Of another family than the writer's.
        judges: Likewise.
        calibration: Holds the scales; who has none is not asked.
        meter: Where cost is counted.
    """
    answer, steps = reading.trace.answer, reading.trace.derivation()
    if answer is None or not steps:
        return NOT_ASKED
    said: dict[tuple[str, str], Entailment | Abstained] = {}
    rows: list[MemberVerdicts] = []
    e: AnswerEntailment | None = None
    if validator is not None and calibration.hears_on_answer(name := f"{VALIDATOR}:{validator.identity.id}"):
        pair = ("\n".join(step.blind_text for step in steps), f"The answer is {answer.text}.")
        said[pair] = opinion = await _ask_validator(validator, pair, meter)
        if isinstance(opinion, Entailment):
            e = _entailed(name, opinion.entails, EntailmentSource.VALIDATOR, calibration)
    for judge in judges:
        if e is not None or not calibration.hears_on_answer(name := f"{JUDGE}:{judge.identity.id}"):
            continue
        verdict = await _ask_judge(judge, reading, answer.text, meter)
        rows.append(MemberVerdicts(member=name, identity=judge.identity, verdicts=(verdict,)))
        if isinstance(verdict, Judged):
            e = _entailed(name, verdict.p_correct, EntailmentSource.JUDGE, calibration)
    asked = validator.identity if validator is not None and said else None
    return Followed(entailment=e, validator=asked, opinions=said, judges=tuple(rows))


def _entailed(name: str, p: float, source: EntailmentSource, calibration: Calibration) -> AnswerEntailment:
    scaled = calibration.scaled(name, p)
    return AnswerEntailment(p=scaled, detail=f"{name} says {p:.3f}, which is {scaled:.3f} calibrated", source=source)


async def _ask_validator(validator: Nli, pair: tuple[str, str], meter: Meter) -> Entailment | Abstained:
    try:
        return (await validator.classify([pair], meter))[0]
    except BackendError as error:
        logger.warning("validator %s failed: %s", validator.identity.id, error)
        return Abstained(why=Why.BACKEND_DOWN)


async def _ask_judge(judge: AnswerJudge, reading: Reading, answer: str, meter: Meter) -> Verdict:
    try:
        return await judge.follows(reading.blind(), answer, meter)
    except BackendError as error:
        logger.warning("judge %s failed: %s", judge.identity.id, error)
        return Abstained(why=Why.BACKEND_DOWN)
