"""What exact reading sees of a step: numbers for the head beside the base model's hidden states.

A row hangs on the problem and the steps up to its own, never on a later one or on the stated answer: no feature uses
what is used later, what the derivation ends in, or how many steps follow.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rafs.types import ANSWER_PLACEHOLDER, BlindTrace, Claim, Operand, SourceKind, StepKind, Truth
from verifiers.symbolic import CheckerSays, check_step, claims_of
from verifiers.trained.problem_cues import CUES, NUMBER, Problem, content_words, cues_in, read_problem, value_of

LIMIT = 10.0
"""A feature is clipped there: counts beyond say nothing new."""
_OPERATIONS = {
    "plus": re.compile(r"\+"),
    "minus": re.compile(r"[-−]"),
    "times": re.compile(r"[*×·]|\\times|\\cdot"),
    "div": re.compile(r"[/÷]|\\d?frac|\\div"),
    "pow": re.compile(r"\^"),
    "paren": re.compile(r"\("),
    "percent": re.compile(r"%|\bpercent"),
}
_FOUR = ("plus", "minus", "times", "div")
_MARKS = {
    "therefore": re.compile(r"\b(?:therefore|thus|hence|so)\b"),
    "assume": re.compile(r"\b(?:assum\w*|suppos\w*|let|say)\b"),
    "since": re.compile(r"\b(?:since|because|given)\b"),
    "negated": re.compile(r"\b(?:however|but|actually|wait|mistake|incorrect|cannot|not)\b"),
    "rounded": re.compile(r"≈|\bapprox|\bround"),
    "question": re.compile(r"\?"),
    "long_decimal": re.compile(r"\d\.\d{3,}"),
    "answer": re.compile(re.escape(ANSWER_PLACEHOLDER)),
}
Named = Iterator[tuple[str, float]]


@dataclass(slots=True)
class _Prefix:
    """What the problem and the steps before this one hold."""

    problem: Problem
    values: set[float]
    used: set[float] = field(default_factory=set)
    """Numbers of the problem that a step has used."""
    results: set[float] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    steps: list[frozenset[str]] = field(default_factory=list)
    n_claims: int = 0
    n_refuted: int = 0
    n_ungrounded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One step as the features look at it."""

    text: str
    kind: StepKind
    says: CheckerSays
    claims: Sequence[Claim]
    operands: Sequence[Operand]
    values: frozenset[float]
    words: frozenset[str]
    n_implied: int


def step_features(trace: BlindTrace) -> NDArray[np.float32]:
    """Return a row per step, shape (n_steps, len(FEATURES)), each number in [-LIMIT, LIMIT]."""
    problem = read_problem(trace.problem)
    prefix = _Prefix(problem=problem, values=set(problem.order), words=set(problem.words))
    implied = [one.step for one in trace.graph.implied]
    rows: list[list[float]] = []
    for t, blind in enumerate(trace.steps):
        claims = claims_of(trace, t)
        step = _Step(
            text=blind.text,
            kind=blind.kind,
            says=check_step(trace, t),
            claims=claims,
            operands=[operand for claim in claims for operand in claim.operands],
            values=frozenset(value_of(digits) for digits in NUMBER.findall(blind.text)),
            words=content_words(blind.text),
            n_implied=implied.count(blind.index),
        )
        rows.append([value for _, value in _named(step, prefix)])
        _append(step, prefix)
    matrix = np.array(rows, dtype=np.float32).reshape(len(rows), len(FEATURES))
    return np.clip(matrix, -LIMIT, LIMIT)


def _named(step: _Step, prefix: _Prefix) -> Named:
    yield from _of_claims(step)
    yield from _of_results(step, prefix)
    yield from _of_operands(step, prefix)
    yield from _of_operations(step, prefix)
    yield from _of_words(step, prefix)
    yield from _of_place(prefix)


def _of_claims(step: _Step) -> Named:
    """What the checker says, and of how many claims and operands of each kind."""
    for says in CheckerSays:
        yield f"says_{says}", step.says is says
    for truth in Truth:
        yield f"claims_{truth}", sum(claim.truth is truth for claim in step.claims)
    for source in SourceKind:
        yield f"operands_{source}", sum(operand.source is source for operand in step.operands)
    yield "claims", len(step.claims)
    yield "conflicts", sum(bool(claim.conflict) for claim in step.claims)
    yield "open_claims", sum(claim.result_span is None for claim in step.claims)
    yield "claims_without_value", sum(claim.value is None for claim in step.claims)
    yield "implied", step.n_implied


def _of_results(step: _Step, prefix: _Prefix) -> Named:
    """What kind of numbers the step comes to: whole, negative, large beside the problem's, seen before."""
    results = _results(step)
    given = prefix.problem.order
    fractions = sum(not result.is_integer() for result in results)
    last, largest = (results[-1] if results else 0.0), max(map(abs, given), default=1.0) or 1.0
    yield "fractions", fractions
    yield "fractions_of_whole", fractions * all(value.is_integer() for value in given)
    yield "negative", sum(result < 0 for result in results)
    yield "zero", sum(result == 0 for result in results)
    yield "below_one", sum(0 < abs(result) < 1 for result in results)
    yield "log_result", math.copysign(math.log1p(abs(last)), last)
    yield "log_ratio", math.log((abs(last) + 1e-3) / largest) if results else 0.0
    yield "result_given", sum(result in given for result in results)
    yield "result_again", sum(result in prefix.results for result in results)


def _of_operands(step: _Step, prefix: _Prefix) -> Named:
    """Which numbers the step takes up, and how far back they stand."""
    values = [operand.value for operand in step.operands]
    back = [prefix.n_claims - operand.claim for operand in step.operands if operand.claim is not None]
    links = [distance for distance in back if distance > 0]
    given = _given(step)
    new, order = given - prefix.used, prefix.problem.order
    used = prefix.used | given | (step.values & order.keys())
    yield "operands", len(values)
    yield "operands_twice", len(values) - len(set(values))
    yield "uses_latest", 1 in links
    yield "longest_link", max(links, default=0)
    yield "links", len(links)
    yield "given_new", len(new)
    yield "given_again", len(given & prefix.used)
    yield "given_skipped", max((order.get(value, 0) for value in new), default=0) - len(prefix.used) if new else 0
    yield "given_share", len(used & order.keys()) / max(1, len(order))
    yield "numbers", len(step.values)
    yield "numbers_known", len(step.values & prefix.values)
    yield "numbers_unexplained", len(step.values - prefix.values - set(_results(step)))


def _of_operations(step: _Step, prefix: _Prefix) -> Named:
    """Operations, and beside which words of the problem their numbers stand."""
    left = " ".join(claim.left for claim in step.claims)
    counts = {name: len(sign.findall(left)) for name, sign in _OPERATIONS.items()}
    for name, count in counts.items():
        yield f"op_{name}", count
    near = {cue for value in _given(step) for cue in prefix.problem.cues_of(value)}
    own = cues_in(step.text)
    for cue in CUES:
        yield f"says_{cue}", cue in own
        yield f"near_{cue}", cue in near
        for name in _FOUR:
            yield f"near_{cue}_{name}", cue in near and counts[name] > 0


def _of_words(step: _Step, prefix: _Prefix) -> Named:
    """How the step's words sit with the problem's and with those of earlier steps."""
    words, problem = step.words, prefix.problem
    overlaps = [problem.overlap(value, words) for value in step.values & problem.order.keys()]
    total = max(1, len(words))
    yield "least_overlap", min(overlaps, default=1.0)
    yield "mean_overlap", sum(overlaps) / len(overlaps) if overlaps else 1.0
    yield "new_words", len(words - prefix.words) / total
    yield "problem_words", len(words & problem.words) / total
    yield "asked_words", len(words & problem.asked) / max(1, len(problem.asked))
    yield "log_words", math.log1p(len(words))
    yield "like_earlier", max((len(words & one) / max(1, len(words | one)) for one in prefix.steps), default=0.0)
    yield "log_chars", math.log1p(len(step.text))
    yield "is_setup", step.kind is StepKind.SETUP
    lower = step.text.lower()
    for name, mark in _MARKS.items():
        yield f"has_{name}", mark.search(lower) is not None
    yield "equals", step.text.count("=")
    yield "log_latex", math.log1p(step.text.count("\\"))


def _of_place(prefix: _Prefix) -> Named:
    """What came before: no count of what is still to come."""
    yield "log_place", math.log1p(len(prefix.steps))
    yield "log_claims_before", math.log1p(prefix.n_claims)
    yield "refuted_before", prefix.n_refuted
    yield "ungrounded_before", prefix.n_ungrounded
    yield "log_problem", math.log1p(prefix.problem.n_chars)
    yield "given", len(prefix.problem.order)


def _results(step: _Step) -> list[float]:
    found = (claim.result for claim in step.claims)
    return [float(result) for result in found if result is not None and abs(result) < 1e15]


def _given(step: _Step) -> set[float]:
    """Return the operands that come from the problem."""
    return {
        float(operand.value)
        for operand in step.operands
        if operand.source is SourceKind.PROBLEM and abs(operand.value) < 1e15
    }


def _append(step: _Step, prefix: _Prefix) -> None:
    """Put a step behind the prefix."""
    results = _results(step)
    prefix.used |= _given(step) | (step.values & prefix.problem.order.keys())
    prefix.values |= step.values | set(results)
    prefix.results |= set(results)
    prefix.words |= step.words
    prefix.steps.append(step.words)
    prefix.n_claims += len(step.claims)
    prefix.n_refuted += step.says is CheckerSays.REFUTED
    prefix.n_ungrounded += sum(operand.source is SourceKind.UNGROUNDED for operand in step.operands)


def _names() -> tuple[str, ...]:
    nothing = _Step(
        text="",
        kind=StepKind.SETUP,
        says=CheckerSays.SILENT,
        claims=(),
        operands=(),
        values=frozenset(),
        words=frozenset(),
        n_implied=0,
    )
    return tuple(name for name, _ in _named(nothing, _Prefix(problem=read_problem(""), values=set())))


FEATURES = _names()
"""Names of the columns, in order; an artefact holds them, and is refused by another version of this file."""
