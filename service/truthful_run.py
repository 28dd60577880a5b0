"""One run of `rafs truthful`: the models, what they are asked, and the folder of what they said."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from rafs.engines.likelihood import Likelihood
from rafs.engines.model_editor import Instructed
from rafs.engines.question_prompt import MAX_NEW_TOKENS, question_parts
from rafs.errors import BackendError, OverloadedError
from rafs.evaluation.labels import TruthfulQuestion
from rafs.evaluation.run_folder import DataFile, RunFolder, RunKind
from rafs.evaluation.truthful_records import (
    LabelledRecord,
    PersonLabel,
    QuestionRecord,
    TruthfulRecord,
    candidates_of,
    read_truthful,
    write_truthful,
)
from rafs.types import Judged, Verdict
from rafs.usage import Caller, Meter, Priority
from service.labelled_scoring import advance, progress
from verifiers.truth_judge import TruthJudge


class TruthfulFacts(BaseModel):
    """What two runs must share for their records to stand in one report."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    """Id and revision of the model whose answers are measured."""
    judge: str
    independent: bool
    """Whether the judge is of another family than the model."""
    prompts: dict[str, str]
    seed: int
    files: list[DataFile]
    rafs_version: str


TRUTHFUL = RunKind(command="rafs truthful", facts=TruthfulFacts, write=write_truthful, read=read_truthful)
TruthfulFolder = RunFolder[TruthfulFacts, TruthfulRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The models of a run."""

    writer: Instructed
    reader: Likelihood | None
    """None where the model's engine gives no probabilities of given texts."""
    judge: TruthJudge

    async def question(self, question: TruthfulQuestion) -> QuestionRecord:
        """Have a question answered, its references read, and both judged; errors as of the models."""
        meter = Meter(caller=Caller(priority=Priority.BATCH))
        candidates = candidates_of(question)
        task = question_parts(question.question)
        ((reply,),) = await self.writer.reply([task], 1, 0, meter, MAX_NEW_TOKENS)
        answer = reply.text.rpartition("</think>")[2].strip()
        p_true, p_informative = await self._judged(question, answer, meter) if answer else (None, None)
        texts = [text for text, _ in candidates]
        read = await self.reader.logprobs(task, texts, meter) if self.reader is not None else [None] * len(texts)
        right, wrong = ([text for text, is_true in candidates if is_true is kind] for kind in (True, False))
        controls = [
            _p(await self.judge.is_true(question.question, right, wrong, part[0], meter)) if part else None
            for part in (right, wrong)
        ]
        return QuestionRecord(
            id=question.id,
            answer=answer,
            truncated=reply.truncated,
            p_true=p_true,
            p_informative=p_informative,
            logprobs=tuple(one if isinstance(one, float) else None for one in read),
            p_right_reference=controls[0],
            p_wrong_reference=controls[1],
        )

    async def label(self, label: PersonLabel) -> LabelledRecord:
        """Have an answer judged that people labelled."""
        meter = Meter(caller=Caller(priority=Priority.BATCH))
        p_true, p_informative = await self._judged(label.question, label.answer, meter)
        return LabelledRecord(id=label.id, p_true=p_true, p_informative=p_informative)

    async def _judged(self, question: TruthfulQuestion, answer: str, meter: Meter) -> tuple[float | None, float | None]:
        right, wrong = (
            [text for text, is_true in candidates_of(question) if is_true is kind] for kind in (True, False)
        )
        is_true = await self.judge.is_true(question.question, right, wrong, answer, meter)
        return _p(is_true), _p(await self.judge.is_informative(question.question, answer, meter))


def _p(verdict: Verdict) -> float | None:
    return verdict.p_correct if isinstance(verdict, Judged) else None


async def ask_all(
    load: Callable[[AsyncExitStack], Asked],
    questions: Sequence[TruthfulQuestion],
    labels: Sequence[PersonLabel],
    finished: Mapping[str, TruthfulRecord],
    folder: TruthfulFolder,
    concurrency: int,
) -> list[TruthfulRecord]:
    """Ask what is not finished yet, with progress, and return one record for every question and label.

    Raises:
        BackendError: A model failed; what is finished is kept.
    """
    every: list[TruthfulQuestion | PersonLabel] = [*questions, *labels]
    records = {one.id: finished[one.id] for one in every if one.id in finished}
    left = [one for one in every if one.id not in records]
    async with AsyncExitStack() as closing:
        if left:
            asked = await asyncio.to_thread(load, closing)
            waiting = iter([_asking(asked, one) for one in left])
            with progress() as bars:
                bar = bars.add_task("asking", total=len(every), completed=len(records), rate="")

                async def work() -> None:
                    for ask in waiting:
                        record = await ask()
                        records[record.id] = record
                        folder.append(record)
                        advance(bars, bar)

                try:
                    async with asyncio.TaskGroup() as group:
                        for _ in range(concurrency):
                            group.create_task(work())
                except* (BackendError, OverloadedError) as failed:
                    kept = f"what is finished is kept in {folder.path}: start again to go on"
                    raise BackendError(f"{failed.exceptions[0]}; {kept}") from failed
    return [records[one.id] for one in every]


def _asking(asked: Asked, one: TruthfulQuestion | PersonLabel) -> Callable[[], Awaitable[TruthfulRecord]]:
    match one:
        case TruthfulQuestion():
            return lambda: asked.question(one)
        case PersonLabel():
            return lambda: asked.label(one)
