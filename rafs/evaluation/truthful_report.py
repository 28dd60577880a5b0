"""From the records of a TruthfulQA run to its figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass

from rafs.evaluation.audit import AuditRecord, PassRates, pass_rates
from rafs.evaluation.intervals import Figure
from rafs.evaluation.labels import TruthfulQuestion
from rafs.evaluation.summary import Json, figure_json
from rafs.evaluation.truthful import (
    Candidate,
    ChoiceRates,
    JudgeAgreement,
    JudgedAnswer,
    LabelledAnswer,
    Truthfulness,
    by_category,
    choice_rates,
    judge_agreement,
    truthfulness,
)
from rafs.evaluation.truthful_records import (
    LabelledRecord,
    PersonLabel,
    QuestionRecord,
    TruthfulRecord,
    candidates_of,
    passes,
)
from rafs.outcomes import Unmeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthfulReport:
    """How truthful a model is, and how far the judge who says so can be believed."""

    n: int
    """Questions asked."""
    n_truncated: int
    """Answers that a limit of length cut; they are judged as they stand."""
    answers: Truthfulness
    """Of what the model replies freely, by the judge."""
    by_category: Mapping[str, Truthfulness]
    choice: ChoiceRates
    """What the model holds likely among the references: no judge is in it."""
    references: PassRates
    """What the judge passes of references, which are known to be true or false; each was hidden from it."""
    agreement_true: JudgeAgreement
    """With people, on answers that they labelled."""
    agreement_informative: JudgeAgreement


def report_truthful(
    questions: Sequence[TruthfulQuestion],
    labels: Sequence[PersonLabel],
    records: Sequence[TruthfulRecord],
    family_of: Callable[[str], str],
    fitted_on: frozenset[str],
    *,
    seed: int,
) -> TruthfulReport:
    """Return the figures of a run.

    Args:
        questions: That were asked.
        labels: Answers that people labelled; none where nobody did.
        records: Of both.
        family_of: Names the family of a model that wrote a labelled answer.
        fitted_on: Families that the judge was fitted on, or is of: its agreement on others is what says something.
        seed: Of the resamples.
    """
    asked = {record.id: record for record in records if isinstance(record, QuestionRecord)}
    judged = {record.id: record for record in records if isinstance(record, LabelledRecord)}
    pairs = [(question, asked[question.id]) for question in questions if question.id in asked]
    heard = [(label, judged[label.id]) for label in labels if label.id in judged]
    answers = [
        LabelledAnswer(
            question=question.id,
            category=question.category,
            true=passes(record.p_true),
            informative=passes(record.p_informative),
        )
        for question, record in pairs
    ]
    return TruthfulReport(
        n=len(pairs),
        n_truncated=sum(record.truncated for _, record in pairs),
        answers=truthfulness(answers, seed=seed),
        by_category=by_category(answers, seed=seed),
        choice=choice_rates([(question.id, _candidates(question, record)) for question, record in pairs], seed=seed),
        references=_references(pairs, seed),
        agreement_true=_agreement([(one, one.true, said.p_true) for one, said in heard], family_of, fitted_on, seed),
        agreement_informative=_agreement(
            [(one, one.informative, said.p_informative) for one, said in heard], family_of, fitted_on, seed
        ),
    )


def _agreement(
    rows: Sequence[tuple[PersonLabel, bool | None, float | None]],
    family_of: Callable[[str], str],
    fitted_on: frozenset[str],
    seed: int,
) -> JudgeAgreement:
    """Return how far people and judge agree on one of the two labels, where people gave it."""
    answers = [
        JudgedAnswer(
            question=label.question.id,
            family=family_of(label.generator),
            by_people=by_people,
            by_judge=passes(p),
        )
        for label, by_people, p in rows
        if by_people is not None
    ]
    return judge_agreement(answers, fitted_on, seed=seed)


def _candidates(question: TruthfulQuestion, record: QuestionRecord) -> list[Candidate]:
    named = zip(candidates_of(question), record.logprobs, strict=True)
    return [Candidate(text=text, true=true, logprob=logprob) for (text, true), logprob in named]


def _references(pairs: Sequence[tuple[TruthfulQuestion, QuestionRecord]], seed: int) -> PassRates:
    records = [
        AuditRecord(
            id=f"{question.id} {right}",
            domain="references",
            question=question.id,
            natural=False,
            right=right,
            p_correct=p,
        )
        for question, record in pairs
        for right, p in ((True, record.p_right_reference), (False, record.p_wrong_reference))
    ]
    return pass_rates(records, seed=seed)[0]


def truthful_json(value: object) -> Json:
    """Return a report, or a part of one, as JSON: an unmeasured figure is null with its reason."""
    if isinstance(value, Figure | Unmeasured):
        return figure_json(value)
    if isinstance(value, Mapping):
        return {str(name): truthful_json(part) for name, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: truthful_json(getattr(value, field.name)) for field in fields(value)}
    assert isinstance(value, bool | int | float | str | None)
    return value
