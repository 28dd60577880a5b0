"""Items that nobody made for an audit: steps of labelled traces, and replies that an oracle decides."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from pydantic import ConfigDict, Field, ValidationError

from rafs.errors import InputError
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.plain_format import RowModel
from rafs.evaluation.rows import Row
from rafs.evaluation.trace_building import problem_group
from rafs.reading import read_text
from rafs.types import BlindTrace, Truth
from verifiers.oracles.arithmetic import ArithmeticOracle
from verifiers.oracles.audit_items import AuditItem, plain_trace
from verifiers.oracles.oracle import Oracle

MAX_RIGHT_TRIES = 5
"""Right steps of a trace that the oracle is asked about before the trace has none for the audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """Items from files, and what was left out of them."""

    items: tuple[AuditItem, ...]
    left_out: Counter[str] = field(default_factory=Counter)
    """How many were looked at and not used, by reason."""


def gather_steps(traces: Iterable[LabelledTrace], n: int, seed: int) -> Gathered:
    """Return up to n wrong and n right steps, of which the label and the oracle of arithmetic say the same.

    A wrong one is the first error of its trace, with a false claim in it; a right one has claims, all of them true.
    One of each is taken of a trace at most. They are judged as in scoring: the stated answer is covered.
    """
    oracle = ArithmeticOracle()
    rows = list(traces)
    Random(seed).shuffle(rows)
    left_out: Counter[str] = Counter()
    taken: dict[bool, list[AuditItem]] = {True: [], False: []}
    for trace in rows:
        if all(len(items) >= n for items in taken.values()):
            break
        try:
            blind = read_text(trace.problem, trace.steps, None).blind()
        except InputError:
            left_out["unreadable"] += 1
            continue
        for right, steps in _candidates(trace, Random(f"{seed}:{trace.id}")):
            if len(taken[right]) < n:
                item = _step_item(trace, blind, steps, right, oracle, left_out)
                taken[right] += [] if item is None else [item]
    return Gathered(items=(*taken[True], *taken[False]), left_out=left_out)


def _candidates(trace: LabelledTrace, random: Random) -> Iterator[tuple[bool, list[int]]]:
    if trace.first_error is not None:
        yield False, [trace.first_error]
    right = [t for t, is_right in enumerate(trace.right_steps()) if is_right]
    if right:
        yield True, random.sample(right, min(len(right), MAX_RIGHT_TRIES))


def _step_item(
    trace: LabelledTrace,
    blind: BlindTrace,
    steps: Sequence[int],
    right: bool,
    oracle: Oracle,
    left_out: Counter[str],
) -> AuditItem | None:
    """Return the first of the steps on which label and oracle agree."""
    positions = {step.index: t for t, step in enumerate(blind.steps)}
    meant, said = Truth.TRUE if right else Truth.FALSE, set()
    for step in steps:
        if (position := positions.get(step)) is None:
            continue
        truth = oracle.decide(trace.problem, blind.steps[position].text).truth
        said.add(truth)
        if truth is meant:
            return AuditItem(
                id=f"{trace.source}-{trace.id}-{step}",
                domain=trace.subset,
                question=trace.group,
                trace=blind,
                ask=position,
                right=right,
                natural=trace.natural,
                generator=trace.generator,
            )
    left_out["label and oracle disagree" if said - {Truth.UNKNOWN} else "not decided by the oracle"] += 1
    return None


class Reply(RowModel):
    """A row of a file of replies; whether one is right, the oracle alone says."""

    model_config = ConfigDict(extra="ignore", strict=True)

    problem: str
    reply: str = Field(min_length=1)
    generator: str | None = None
    natural: bool = True
    domain: str | None = None
    group: str | None = None
    rules: list[dict[str, object]] | None = None
    """Of the instruction, for the oracle of instructions."""


def gather_replies(rows: Iterable[Row], oracle_of: Callable[[Reply], Oracle], n: int, seed: int) -> Gathered:
    """Return up to n wrong and n right replies; what the oracle leaves open is left out.

    Raises:
        InputError: A row is no reply, or its rules are none.
    """
    parsed = [(row, _parse(row)) for row in rows]
    Random(seed).shuffle(parsed)
    left_out: Counter[str] = Counter()
    taken: dict[bool, list[AuditItem]] = {True: [], False: []}
    for row, one in parsed:
        truth = oracle_of(one).decide(one.problem, one.reply).truth
        right = truth is Truth.TRUE
        if truth is Truth.UNKNOWN:
            left_out["not decided by the oracle"] += 1
        elif len(taken[right]) < n:
            taken[right].append(_reply_item(row, one, right))
    return Gathered(items=(*taken[True], *taken[False]), left_out=left_out)


def _reply_item(row: Row, one: Reply, right: bool) -> AuditItem:
    return AuditItem(
        id=f"{row.file}-{row.number}",
        domain=one.domain or row.file,
        question=one.group or problem_group(one.problem),
        trace=plain_trace(one.problem, (one.reply,)),
        ask=0,
        right=right,
        natural=one.natural,
        generator=one.generator,
    )


def _parse(row: Row) -> Reply:
    try:
        return Reply.model_validate(row.fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        got = "nothing" if first["type"] == "missing" else first["input"]
        raise row.refuse(".".join(map(str, first["loc"])), got, first["msg"]) from error
