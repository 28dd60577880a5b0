"""How the stated answer hangs on the derivation: its end, some other result, something else, or nothing readable."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from rafs.answers.contexts import read_context
from rafs.answers.equivalence import equivalent
from rafs.answers.extraction import answer_value
from rafs.grammar.expressions import show
from rafs.grammar.lexing import lex
from rafs.grammar.tokens import Kind
from rafs.interventions import Target
from rafs.outcomes import Unmeasured
from rafs.quantities.answering import read_told_answer
from rafs.support import AnswerEntailment
from rafs.types import ANSWER_PLACEHOLDER, Implied, QuantityGraph, SourceKind, StepKind, Trace, Truth

E_DERIVED = 1.0
"""e where exact arithmetic ends in the stated answer (ours, as are the next three)."""
E_REACHED = 0.8
"""e where the answer is a result of the derivation, but not clearly its end."""
E_ABSENT = 0.1
"""e where every number of the derivation was read and none leads to the answer."""
E_DIFFERENT = 0.02
"""e where the derivation clearly ends in something else; not 0, since a misreading is possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLink:
    """Where the stated answer stands in the quantity graph."""

    matches: bool | None
    """Whether it is the derived answer; None where the derivation has no clear end."""
    target: Target | None
    """What the answer is in the graph; None where it is no result of it."""
    is_absent: bool
    """Every number of the derivation was read, and the answer is none of its results."""
    entailment: AnswerEntailment | Unmeasured
    """e by the graph alone."""

    def derived(self, graph: QuantityGraph) -> Fraction | None:
        """Return what the derivation ends in, with what the answer's own sentence makes of it; None where unclear."""
        return self.target.value if isinstance(self.target, Implied) else graph.derived


def link_answer(trace: Trace, graph: QuantityGraph) -> AnswerLink:
    """Find the stated answer in the graph.

    A difference is only claimed for a derivation with one clear end: a last result that builds on earlier ones, or a
    chain that leaves nothing unused. A list of unconnected calculations ends in nothing. Whether the claims hold is
    another question.
    """
    if trace.answer is None:
        return _unread("no_answer")
    choices = listed_choices(trace.problem)
    stated = _plain(trace.answer.text)
    value = answer_value(choices.get(stated, stated))
    if graph.derived is not None and _is_derived(stated, value, graph, trace.problem, choices):
        return _link(True, _end(graph), E_DERIVED, f"the derivation ends in {show(graph.derived)}")
    if value is None:
        return _unread("derivation_not_readable")
    if (told := read_told_answer(trace, graph, value)) is not None and graph.derived is not None:
        detail = f"the sentence of the answer makes it of {show(graph.derived)}, in which the calculations end"
        is_size = told.op == "abs"  # the minus may also have been lost
        return _link(None if is_size else True, told, E_REACHED if is_size else E_DERIVED, detail)
    if graph.derived is not None and _has_clear_end(graph):
        if _may_be_rounding(value, graph.derived, trace.problem):
            detail = f"{show(value)} may be a rounding of {show(graph.derived)}, in which the derivation ends"
            return _link(None, _end(graph), E_REACHED, detail)
        if trace.answer.source not in _MARKED and _is_repeated(trace, graph.derived):
            return _link(None, _end(graph), E_REACHED, f"the closing sentence says {show(graph.derived)} too")
        if _is_checked_with(value, graph):
            return _link(None, _end(graph), E_REACHED, f"{show(value)} is what makes the last calculation come out")
        return _link(False, _end(graph), E_DIFFERENT, f"the derivation ends in {show(graph.derived)}")
    results = [i for i, claim in enumerate(graph.claims) if claim.result_span is not None]
    reached = [i for i in results if graph.claims[i].result == value]
    if reached:
        return _link(None, reached[-1], E_REACHED, f"{show(value)} is a result, though not clearly the last")
    if results and _is_plain_arithmetic(trace, graph):
        return _link(None, None, E_ABSENT, f"no calculation leads to {show(value)}")
    return _unread("derivation_not_readable")


def _is_checked_with(value: Fraction, graph: QuantityGraph) -> bool:
    """Say whether the last calculation comes to a given number by the value, which nothing else gives: 4 + 13 = 17."""
    if graph.derived_claim is None or graph.derived not in graph.problem_values:
        return False
    operands = graph.claims[graph.derived_claim].operands
    return any(one.value == value and one.source is SourceKind.UNGROUNDED for one in operands)


_MARKED = ("field", "boxed", "hash")
"""Sources of an answer that leave no doubt about which number of its sentence it is."""


def _is_repeated(trace: Trace, value: Fraction) -> bool:
    """Say whether the last step says the value beside the answer; an answer that stands elsewhere is not beside it."""
    if trace.steps[-1].kind is not StepKind.ANSWER and ANSWER_PLACEHOLDER not in trace.steps[-1].blind_text:
        return False
    tokens = lex(trace.steps[-1].text[-MAX_SENTENCE:])
    signs = ["", *(token.text for token in tokens)]
    return any(
        token.kind is Kind.NUMBER and token.value == value and sign != "-"
        for sign, token in zip(signs, tokens, strict=False)
    )


def _plain(text: str) -> str:
    """Take the colon and the quotes off an answer, and the greetings behind its first line."""
    first, _, rest = text.strip().partition("\n")
    text = first if rest and not re.search(r"\d", rest) and answer_value(first.strip(_CLOTHES)) is not None else text
    return _STRAY_BACKSLASH.sub("", text.strip(_CLOTHES))


_STRAY_BACKSLASH = re.compile(r"\\(?=\d)")
_CLOTHES = ' \t\n:"“”'


def listed_choices(problem: str) -> Mapping[str, str]:
    """Return the options of a problem by letter, listed as `Options: ['5', '7 km']` or as `A. 5`; else none."""
    found = _LISTED.search(problem)
    texts = [one[0] or one[1] for one in _QUOTED.findall(found[1])] if found else []
    return dict(zip("ABCDEFGHIJ", (text.strip() for text in texts), strict=False)) or read_context(problem).choices


_LISTED = re.compile(r"\b(?:options|choices|answers)\s?:\s?\[([^\]]{1,1000})\]", re.IGNORECASE)
_QUOTED = re.compile(r"'([^'\n]{1,200})'|\"([^\"\n]{1,200})\"")


def _is_derived(
    stated: str, value: Fraction | None, graph: QuantityGraph, problem: str, choices: Mapping[str, str]
) -> bool:
    """Say whether an answer is what the derivation ends in: itself, its percentage, its rounding, or its option."""
    derived = graph.derived
    assert derived is not None
    texts = [show(derived)]
    if graph.derived_percent or _PERCENT.search(problem):
        texts.append(show(100 * derived))
    if value is not None and show(value) in texts:
        return True
    if any(equivalent(stated, text, problem=problem, choices=choices or None) is Truth.TRUE for text in texts):
        return True
    if value is None and _ends_sentence(stated, graph):
        return True
    if stated in choices:
        return nearest_choice(derived, choices) == stated
    return value is not None and _is_rounding(stated, value, derived)


def _ends_sentence(stated: str, graph: QuantityGraph) -> bool:
    """Say whether an answer in words has the derived number as its last one, and joins only ends of the derivation."""
    tokens = lex(stated.strip().rpartition("\n")[2][:MAX_SENTENCE])
    numbers = [token.value for token in tokens if token.kind is Kind.NUMBER]
    n_words = sum(token.kind is Kind.WORD and len(token.text) > 1 for token in tokens)
    joined = any(token.kind is Kind.WORD and token.text.lower() == "and" for token in tokens)
    if (
        n_words < MIN_WORDS
        or not numbers
        or any(token.kind in (Kind.OPEN, Kind.JUNK, Kind.RELATION) for token in tokens)
    ):
        return False
    ends = {graph.claims[index].result for index in graph.unused} | {graph.derived}
    return numbers[-1] == graph.derived and (not joined or ends.issuperset(numbers))


MAX_SENTENCE = 300
"""Characters of an answer in words."""
MIN_WORDS = 3
"""Words that make an answer a sentence; fewer may be the parts of a list."""
_PERCENT = re.compile(r"percent|%", re.IGNORECASE)


def nearest_choice(derived: Fraction, choices: Mapping[str, str]) -> str | None:
    """Return the letter of the option nearest to the derived number, where that is within a few percent."""
    values = {letter: value for letter, text in choices.items() if (value := answer_value(text)) is not None}
    distances = sorted((abs(value - derived), letter) for letter, value in values.items())
    if not distances or distances[0][0] > CHOICE_MARGIN * abs(derived):
        return None
    return distances[0][1] if len(distances) == 1 or distances[1][0] > distances[0][0] else None


CHOICE_MARGIN = Fraction(1, 20)
"""How far an option may be from the derived number that was meant to choose it (ours)."""


def _is_rounding(stated: str, value: Fraction, derived: Fraction) -> bool:
    """Say whether a decimal answer is the derived number, correctly rounded to at least two decimals."""
    written = _DECIMALS.search(stated)
    if written is None or "/" in stated or len(written[1]) < MIN_DECIMALS:
        return False
    scale: int = 10 ** len(written[1])
    return 2 * abs(value - derived) * scale <= 1


_DECIMALS = re.compile(r"\.(\d{1,40})")
MIN_DECIMALS = 2
"""Decimals from which a rounded answer is the derived number."""


def _may_be_rounding(value: Fraction, derived: Fraction, problem: str) -> bool:
    """Say whether an answer may be the derived number, rounded as people do: to whole things, or by little."""
    if value.denominator == 1 and derived.denominator != 1 and abs(value - derived) < 1:
        return True
    near = abs(value - derived) <= ROUNDED_BY * abs(derived)
    return near or (_ROUNDS.search(problem) is not None and abs(value - derived) < 1)


ROUNDED_BY = Fraction(1, 100)
"""A rounding that is off by more is another number, unless the problem asks for one (ours)."""
_ROUNDS = re.compile(r"\b(?:round\w*|nearest|approximat\w*|estimat\w*|decimal)\b", re.IGNORECASE)


def _is_plain_arithmetic(trace: Trace, graph: QuantityGraph) -> bool:
    """Whether all inference is arithmetic that was read, so that a number which is no result was not derived."""
    with_claims = {claim.step for claim in graph.claims}
    return (
        graph.complete
        and all(claim.relation == "=" and claim.value is not None for claim in graph.claims)
        and all(step.index in with_claims for step in trace.derivation() if step.kind is StepKind.INFERENCE)
    )


def _unread(reason: str) -> AnswerLink:
    return AnswerLink(matches=None, target=None, is_absent=False, entailment=Unmeasured(reason=reason))


def _link(matches: bool | None, target: Target | None, p: float, detail: str) -> AnswerLink:
    entailment = AnswerEntailment(p=p, detail=detail)
    return AnswerLink(matches=matches, target=target, is_absent=p == E_ABSENT, entailment=entailment)


def _end(graph: QuantityGraph) -> Target | None:
    return graph.derived_claim if graph.derived_implied is None else graph.implied[graph.derived_implied]


def _has_clear_end(graph: QuantityGraph) -> bool:
    return not [i for i in graph.unused if i != graph.derived_claim]
