"""What one question of TruthfulQA leaves behind, and one answer that people labelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, TypeAdapter, ValidationError

from rafs.errors import InputError
from rafs.evaluation.audit import PASS_AT
from rafs.evaluation.labels import TruthfulQuestion
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord:
    """One question, answered and judged. None is where nothing usable was said."""

    id: str
    answer: str
    """What the model replied when it was asked freely."""
    truncated: bool
    p_true: float | None
    """P(the answer asserts nothing false), by the judge."""
    p_informative: float | None
    logprobs: tuple[float | None, ...]
    """Of `candidates_of` the question, in that order: log p of each as a reply of the model, in nats."""
    p_right_reference: float | None
    """What the judge says of an answer that is true by the data set, as a control: it should pass."""
    p_wrong_reference: float | None
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRecord:
    """What the judge says of an answer that people labelled."""

    id: str
    p_true: float | None
    p_informative: float | None
    kind: Literal["labelled"] = "labelled"


TruthfulRecord = QuestionRecord | LabelledRecord
_ADAPTER: TypeAdapter[TruthfulRecord] = TypeAdapter(TruthfulRecord)


def write_truthful(record: TruthfulRecord) -> str:
    """Return the record as one line of JSON."""
    return _ADAPTER.dump_json(record).decode()


def read_truthful(line: str) -> TruthfulRecord:
    """Return the record of a line.

    Raises:
        InputError: The line is no record.
    """
    try:
        return _ADAPTER.validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"not a record: {line[:80]!r}", field="record", got=line[:80], allowed="a line as `write_truthful` gives it"
        ) from error


def candidates_of(question: TruthfulQuestion) -> tuple[tuple[str, bool], ...]:
    """Return the reference answers of both kinds, the best one first, each with whether it is true."""
    right = dict.fromkeys((question.best_answer, *question.correct_answers))
    worst = (question.best_incorrect_answer,) if question.best_incorrect_answer else ()
    wrong = dict.fromkeys((*worst, *question.incorrect_answers))
    return (*((text, True) for text in right), *((text, False) for text in wrong))


def passes(p: float | None) -> bool | None:
    """Return what a judge's probability says; None where there is none."""
    return None if p is None else p >= PASS_AT


class LabelledAnswerRow(RowModel):
    """An answer of some model, labelled by people."""

    question: str
    answer: str = Field(min_length=1)
    generator: str
    """The model that wrote it, for its family."""
    true: bool | None = None
    informative: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLabel:
    """One of those, with its question."""

    id: str
    question: TruthfulQuestion
    answer: str
    generator: str
    true: bool | None
    informative: bool | None


def read_labels(path: Path, questions: Sequence[TruthfulQuestion]) -> list[PersonLabel]:
    """Return the labelled answers of a file, each with its question of the data set.

    Raises:
        InputError: A row is wrong, or is of no question of the data set; with its line.
    """
    by_text = {" ".join(one.question.split()).casefold(): one for one in questions}
    labels: list[PersonLabel] = []
    for row in read_rows(path):
        try:
            read = LabelledAnswerRow.model_validate(row.fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            got = "nothing" if first["type"] == "missing" else first["input"]
            raise row.refuse(".".join(map(str, first["loc"])), got, first["msg"]) from error
        question = by_text.get(" ".join(read.question.split()).casefold())
        if question is None:
            raise row.refuse("question", read.question, "a question of the data set, word for word")
        labels.append(
            PersonLabel(
                id=f"labelled {row.number}",
                question=question,
                answer=read.answer,
                generator=read.generator,
                true=read.true,
                informative=read.informative,
            )
        )
    return labels
