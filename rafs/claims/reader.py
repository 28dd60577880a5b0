"""Reads the checkable claims of a derivation, and says of each whether it holds."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import takewhile
from types import MappingProxyType

from rafs.claims.annotations import shows_another, visible_span
from rafs.claims.conventions import states_constant
from rafs.claims.equation_chains import Chain
from rafs.claims.links import find_links
from rafs.claims.named_units import rule_with_units, unit_of
from rafs.claims.other_arithmetic import redefined_signs, uses_sign
from rafs.claims.relations import Link
from rafs.claims.retractions import is_failed_trial, retracted
from rafs.claims.solutions import are_all, rule_solution, speaks_of_all, speaks_of_several
from rafs.claims.verdicts import Ruling, rule, rule_told
from rafs.grammar.expressions import evaluate
from rafs.grammar.gated_patterns import GatedPattern
from rafs.grammar.notation import as_submitted, in_english
from rafs.grammar.terms import CONSTANTS, Expression, Number, Variable, variables
from rafs.grammar.tokens import Token
from rafs.immutable import immutable
from rafs.types import BlindStep, Claim, Span, Truth

MAX_CLAIMS = 1000
"""Claims of one trace; the steps that follow them are not read, and the graph says that it is incomplete."""
_NAME = GatedPattern(
    r"(?:^|[,;.(:\n]|\b(?:let|and|so|then|if|with|where|when)\b)[ \t]*([A-Za-z]{2,20}\d?|[A-Za-z]\d)[ \t]*=",
    ["="],
)
_NAMED = re.compile(r"=(?:(?<=[A-Za-z][A-Za-z\d]=)|(?<=[A-Za-z][A-Za-z\d][ \t]=)|(?<=[ \t][ \t]=))")
"""What every such name ends in, and is quickly looked for."""
_BEHIND_WORD = "|".join(
    rf"(?<=\b{word}{blanks}x)" for word in "and so let where with if then".split() for blanks in ("", r"\s", r"\s\s")
)
_X_IS_A_NAME = re.compile(
    r"(?-i:[xX])(?:(?<!\w.)\s?[=+^]|(?:(?<=[=+(].)|(?<=[=+(]\s.))\b(?!\s?\d)|(?<=\d.)(?![\w$]|\s?[\d$(])"
    r"|(?:(?<=\bfor x)|(?<=\blet x)|(?<=\bfind x))\b"
    rf"|(?=\d\s?=)(?:(?<=^.)|(?<=^\s.)|(?<=^\s\s.)|(?<=[,;:($].)|(?<=[,;:($]\s.)|(?<=[,;:($]\s\s.)|{_BEHIND_WORD}))",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""What shows that `x` is a name: `x =`, `(x`, `2x`, `for x`, `so x1 =`; Python skips to a sign that is of one case."""
_SENTENCE_END = re.compile(r"\bor\b|[.!?;](?:\s|$)|\n|\\\\|\\\]")
_ONLY_THEN = re.compile(
    r"[\s$.,;:]{0,6}(?:(?:then|so|thus|hence|therefore|now|and|we (?:get|have|find)|it follows that"
    r"|(?:this|that) (?:gives|means))\b[\s$,:]{0,4}){0,3}",
    re.IGNORECASE,
)
"""What may stand between the value of a name and the next sentence, which then speaks of that value."""


@immutable
class Found:
    """A claim with what it was read from."""

    claim: Claim
    left: Expression
    right: Expression | None
    bindings: Mapping[str, Fraction]
    """Values of the names that its left side uses."""


@immutable
class Definition:
    """A name that the trace gives a value: `x = 3`."""

    step: int
    name: str
    value: Fraction
    span: Span
    """Characters of the value."""


@dataclass(slots=True)
class Reader:
    """What is known while the steps are read in order."""

    found: list[Found] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    unread_steps: set[int] = field(default_factory=set)
    """Positions (in the sequence of steps) with a relation that no rule could read."""
    bindings: dict[str, Fraction] = field(default_factory=dict)
    units: dict[str, Number] = field(default_factory=dict)
    """What those names stand for that have a unit."""
    rounded: dict[Fraction, Fraction] = field(default_factory=dict)
    problem: str = ""
    """The problem without white space; an equation in it is given, not asserted for every value."""
    tokens: dict[int, Sequence[Token]] = field(default_factory=dict)
    """What each step was cut into, by its index; steps with annotations are left out."""
    redefined: frozenset[str] = frozenset()
    """Signs of calculation that the problem or a step so far gives a meaning of their own."""
    equations: list[Link] = field(default_factory=list)
    """Equations in one unknown that this step has stated."""
    links: Sequence[Link] = ()
    """All that this step relates."""
    chain: Chain = field(default_factory=Chain)
    """The equations that are being rewritten and solved."""
    pending: Link | None = None
    """What computes the new value of a name from its old one; the chain goes on with that: `x = x + 1 = 6`."""


def read_claims(blind_steps: Sequence[BlindStep], problem: str) -> tuple[Claim, ...]:
    """Read every checkable claim of a derivation, in order of appearance.

    Args:
        blind_steps: The derivation's steps.
        problem: The problem; only its use of names is looked at.

    Returns:
        Claims whose operands are not resolved yet. FALSE only where no convention, unit, name or reading can save
        the claim; UNKNOWN otherwise. A claim about step t depends on the steps up to t alone, but for the notation
        of numbers, which all steps share.
    """
    problem, english = in_english(problem, blind_steps)
    return as_submitted((found.claim for found in read_trace(english, problem).found), blind_steps)


def read_trace(blind_steps: Sequence[BlindStep], problem: str) -> Reader:
    """Read the claims, the names and what could not be read, step by step, from text in English notation."""
    reader = Reader(problem="".join(problem.split()), redefined=redefined_signs(problem))
    names: set[str] = set()
    variable_x = _X_IS_A_NAME.search(problem) is not None
    for position, step in enumerate(blind_steps):
        if _NAMED.search(step.text) is not None:
            names |= {found.group(1) for found in _NAME.finditer(step.text)}
        variable_x = variable_x or _X_IS_A_NAME.search(step.text) is not None
        reader.redefined |= redefined_signs(step.text)
        if len(reader.found) >= MAX_CLAIMS:
            reader.unread_steps.add(position)
            continue
        reading = find_links(step.text, frozenset(names | set(reader.bindings)), variable_x=variable_x)
        reader.equations, reader.links = [], reading.links
        reader.chain.enter(step)
        if reading.tokens is not None:
            reader.tokens[step.index] = reading.tokens
        if reading.unread:
            reader.unread_steps.add(position)
        gone = retracted(step.text, reading.links)
        for index, link in enumerate(reading.links):
            if reader.pending is not None and link.left_span.start >= reader.pending.right_span.end:
                _end_pending(reader, step)
            if index not in gone:
                _read_link(reader, step, link)
        _end_pending(reader, step)
    return reader


def _end_pending(reader: Reader, step: BlindStep) -> None:
    """Bind the name whose new value its old one gave; what was said of the old one is no equation for the new."""
    link, reader.pending = reader.pending, None
    if link is None or link.right is None or not isinstance(link.left, Variable):
        return
    name, value = link.left.name, evaluate(link.right, reader.bindings)
    if value is not None:
        _bind(reader, step, link, name, value)
    elif not link.continued:
        return  # an equation to be solved: `x = 2x - 5`
    reader.chain.last.pop(name, None)
    reader.equations = [equation for equation in reader.equations if name not in equation.names]


def _bind(reader: Reader, step: BlindStep, link: Link, name: str, value: Fraction) -> None:
    reader.bindings[name] = value
    reader.units.pop(name, None)
    if link.right is not None and (amount := unit_of(link.right, value)) is not None:
        reader.units[name] = amount
    reader.definitions.append(Definition(step=step.index, name=name, value=value, span=link.right_span))


def _read_link(reader: Reader, step: BlindStep, link: Link) -> None:
    names = link.names
    rewritten = reader.chain.judge(link, names) if names else None
    if isinstance(link.left, Variable) and link.relation in ("=", "≈"):
        if states_constant(link, reader.bindings.keys()) and link.asserted:
            _keep(reader, step, link, rule(link, {}, {}))
        _define(reader, step, link, rewritten)
        return
    if not link.asserted:
        return
    if link.holds is not None:
        _keep(reader, step, link, rule_told(link.holds))
        return
    if link.universal and "".join(step.text[link.left_span.start : link.right_span.end].split()) in reader.problem:
        link = replace(link, universal=False)
    ruling = _tempered(reader, step, link, names, rewritten)
    if isinstance(link.left, Number) and link.doubts and ruling.truth is not Truth.TRUE:
        return
    if ruling.rounded is not None and ruling.result is not None:
        reader.rounded[ruling.result] = ruling.rounded
    _keep(reader, step, link, ruling)


def _tempered(
    reader: Reader, step: BlindStep, link: Link, names: frozenset[str], rewritten: tuple[Truth, str] | None
) -> Ruling:
    """Rule on a relation, and take the verdict back where its step makes something else of it."""
    ruling = rule_with_units(link, reader.bindings, reader.rounded, reader.units)
    if ruling.truth is Truth.FALSE and not _is_certain(reader, step, link, names):
        ruling = replace(ruling, truth=Truth.UNKNOWN, reason="a name may have another value here")
    if ruling.truth is Truth.UNKNOWN and rewritten is not None:
        ruling = replace(ruling, truth=rewritten[0], reason=rewritten[1])
    if len(names) == 1 and link.relation == "=" and link.right is not None and ruling.truth is not Truth.TRUE:
        reader.equations.append(link)
    if link.annotation and ruling.truth is Truth.TRUE and shows_another(step.text, link, ruling.result):
        ruling = replace(ruling, truth=Truth.FALSE, reason="another number stands behind the annotation")
    if ruling.truth is not Truth.UNKNOWN and uses_sign(link, reader.redefined):
        ruling = replace(ruling, truth=Truth.UNKNOWN, reason="a sign has a meaning of its own here")
    if ruling.truth is Truth.FALSE and link.relation != "!=" and is_failed_trial(step.text, link):
        ruling = replace(ruling, truth=Truth.UNKNOWN, reason="the step tries it out, and finds that it fails")
    return ruling


def _is_certain(reader: Reader, step: BlindStep, link: Link, names: frozenset[str]) -> bool:
    """Say whether no name in a relation can mean another value here, and no inequality is a condition on it."""
    is_condition = bool(names) and link.relation not in ("=", "≈")
    return not is_condition and all(_is_settled(reader, step, link, name) for name in names)


def _is_settled(reader: Reader, step: BlindStep, link: Link, name: str) -> bool:
    """Say whether the same sentence, or the one before, gives the name its value, so that it means nothing else."""
    if name in CONSTANTS or (name in "ei" and name not in reader.bindings):
        return True  # `rule` has seen to it that these two can be nothing else
    given = next((entry for entry in reversed(reader.definitions) if entry.name == name), None)
    if given is None or given.step != step.index or _gets_another(reader.links, link, name):
        return False
    between = step.text[given.span.end : link.left_span.start]
    return _SENTENCE_END.search(between) is None or _ONLY_THEN.fullmatch(between) is not None


def _gets_another(links: Sequence[Link], link: Link, name: str) -> bool:
    """Say whether a name gets a value behind a link too: `x + 5 = 0, so x = -5, and x - 1 = 0, so x = 1`."""
    return any(
        isinstance(other.left, Variable) and other.left.name == name and other.left_span.start > link.left_span.start
        for other in links
    )


def _define(reader: Reader, step: BlindStep, link: Link, rewritten: tuple[Truth, str] | None) -> None:
    """Bind a name; where the step has stated an equation in it, the value is a claim: its solution."""
    assert isinstance(link.left, Variable)
    value = evaluate(link.right, reader.bindings) if link.right is not None else None
    name = link.left.name
    if link.right is not None and name in variables(link.right):
        reader.pending = link
    if value is None:
        return
    equations = [equation for equation in reader.equations if name in equation.names]
    if rewritten is not None:
        solved = Ruling(truth=rewritten[0], value=value, result=value, result_span=link.right_span, reason=rewritten[1])
        _keep(reader, step, link, solved)
    elif equations and isinstance(link.right, Number):
        between = step.text[equations[-1].right_span.end : link.left_span.start]
        alternatives = speaks_of_several(step.text) or _SENTENCE_END.search(between) is not None
        others = takewhile(lambda entry: entry.step == step.index, reversed(reader.definitions))
        since = next((entry.span.end for entry in others if entry.name == name and entry.value != value), 0)
        trial = {**reader.bindings, name: value}
        solved = rule_solution(link, equations, trial, alternatives=alternatives, since=since)
        if solved.truth is Truth.TRUE and speaks_of_all(step.text):
            every = any(are_all(equation, name, reader.links, reader.bindings) for equation in equations)
            solved = solved if every else replace(solved, truth=Truth.UNKNOWN, reason="it may not be the only one")
        _keep(reader, step, link, solved)
    if reader.pending is not link:
        _bind(reader, step, link, name, value)


_NO_NAMES: frozenset[str] = frozenset()


def _result_span(text: str, link: Link, ruling: Ruling) -> Span | None:
    shown = visible_span(text, link, ruling.result) if link.annotation else None
    return ruling.result_span if shown is None else shown


def _keep(reader: Reader, step: BlindStep, link: Link, ruling: Ruling) -> None:
    span = Span(link.left_span.start, max(link.right_span.end, link.left_span.end))
    claim = Claim(
        step=step.index,
        span=span,
        text=step.text[span.start : span.end],
        relation=link.relation,
        left=step.text[link.left_span.start : link.left_span.end],
        right="" if link.right is None else step.text[link.right_span.start : link.right_span.end],
        truth=ruling.truth,
        value=ruling.value,
        result=ruling.result,
        result_span=_result_span(step.text, link, ruling),
        reason=ruling.reason,
    )
    names = variables(link.left) if reader.bindings else _NO_NAMES
    used = MappingProxyType({name: reader.bindings[name] for name in names & reader.bindings.keys()})
    found = Found(claim=claim, left=link.left, right=link.right, bindings=used)
    twin = reader.found[-1] if reader.found and reader.found[-1].claim.step == step.index else None
    same_place = twin is not None and claim.result_span is not None and twin.claim.result_span == claim.result_span
    if twin is not None and same_place and (twin.claim.truth is Truth.FALSE) == (claim.truth is Truth.FALSE):
        reader.found[-1] = found if link.annotation else twin
        return
    reader.found.append(found)
