"""What a judge is asked in an audit: items of which an oracle knows whether they are right, and pairs of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

from rafs.quantities.graph import read_graph
from rafs.types import BlindStep, BlindTrace, StepKind, Truth
from verifiers.oracles.oracle import Oracle


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditItem:
    """One question to a judge: whether a step is right, or whether an answer follows."""

    id: str
    domain: str
    question: str
    """Name of the problem: items of one question are not independent."""
    trace: BlindTrace
    ask: int
    """Position of the judged step in `trace.steps`."""
    right: bool
    """By the oracle."""
    natural: bool
    """False where the error was planted."""
    answer: str | None = None
    """Judged instead of a step where there is one: whether it follows."""
    generator: str | None = None
    """Model that wrote it, where one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPair:
    """A right and a wrong text for one problem, which differ in what makes one wrong and in nothing else."""

    question: str
    domain: str
    problem: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A problem of our own making, with a right and a wrong last step."""

    domain: str
    problem: str
    right: str
    wrong: str
    before: tuple[str, ...] = ()
    """Steps that stand before it, all right."""
    is_answer: bool = False
    """Whether `right` and `wrong` are answers that the steps before lead to or not."""


def make(
    makers: Sequence[tuple[str, Callable[[Random], Made]]], n: int, seed: int, oracle_of: Callable[[Made], Oracle]
) -> list[Made]:
    """Return n problems, one domain after the other, each drawn from the seed, its domain and its number.

    Args:
        makers: By domain.
        n: How many problems.
        seed: Of all draws.
        oracle_of: Gives the oracle that knows; it has to agree with what was meant, or the maker is at fault.
    """
    made = []
    for number in range(n):
        domain, maker = makers[number % len(makers)]
        one = maker(Random(f"{seed}:{domain}:{number}"))
        oracle = oracle_of(one)
        right = _whole(one, one.right)
        assert oracle.decide(one.problem, right).truth is Truth.TRUE, one
        assert one.is_answer or oracle.decide(one.problem, one.wrong).truth is Truth.FALSE, one
        made.append(one)
    return made


def to_items(made: Iterable[Made]) -> list[AuditItem]:
    """Return two items of every problem: the right one and the wrong one."""
    items = []
    for number, one in enumerate(made):
        for right, text in ((True, one.right), (False, one.wrong)):
            steps = one.before if one.is_answer else (*one.before, text)
            items.append(
                AuditItem(
                    id=f"made-{number}-{'right' if right else 'wrong'}",
                    domain=one.domain,
                    question=f"made-{number}",
                    trace=plain_trace(one.problem, steps),
                    ask=len(steps) - 1,
                    answer=text if one.is_answer else None,
                    right=right,
                    natural=False,
                )
            )
    return items


def to_pairs(made: Iterable[Made]) -> list[AuditPair]:
    """Return every problem with its right and its wrong text, the steps before them included."""
    return [
        AuditPair(
            question=f"made-{number}",
            domain=one.domain,
            problem=one.problem,
            right=_whole(one, one.right),
            wrong=_whole(one, one.wrong),
        )
        for number, one in enumerate(made)
    ]


def _whole(made: Made, last: str) -> str:
    return "\n".join([*made.before, f"The answer is {last}." if made.is_answer else last])


def plain_trace(problem: str, steps: Sequence[str]) -> BlindTrace:
    """Return texts as a judge sees them; nothing in them is read or covered."""
    blind = tuple(BlindStep(index=t, text=text, kind=StepKind.INFERENCE) for t, text in enumerate(steps))
    return BlindTrace(problem=problem, steps=blind, graph=read_graph("", ()))
