"""A trace as a set of canonical claims, so that order, wording and repetition do not count as difference."""

from rafs.grammar.expressions import parse_expression
from rafs.grammar.terms import Binary, Call, Expression, Number, Unary, Variable
from rafs.stability import CanonicalClaim
from rafs.types import Claim, Reading, StepKind


def canonical_claims(reading: Reading) -> tuple[CanonicalClaim, ...]:
    """Return the claims of a derivation: equations where they were read, else the inferring sentences."""
    claims: dict[CanonicalClaim, None] = {}
    with_claims = {claim.step for claim in reading.graph.claims}
    for claim in reading.graph.claims:
        claims[_canonical(claim)] = None
    for step in reading.trace.derivation():
        if step.kind is StepKind.INFERENCE and step.index not in with_claims:
            claims[CanonicalClaim(text=" ".join(step.blind_text.split()))] = None
    return tuple(claims)


def _canonical(claim: Claim) -> CanonicalClaim:
    expression = parse_expression(claim.left)
    if expression is None or claim.result is None:
        return CanonicalClaim(text=claim.text)
    left = canonical_form(expression)
    return CanonicalClaim(text=claim.text, equation=f"{left} {claim.relation} {claim.result}", left=left)


def canonical_form(expression: Expression) -> str:
    """Write an expression so that the order of terms and factors does not matter.

    Sums and products are flattened and sorted; `a - b` is a sum with `(- b)`, `a / b` a product with `(/ b)`; numbers
    are exact, without their units.
    """
    match expression:
        case Number():
            return str(expression.value)
        case Variable():
            return expression.name
        case Unary():
            return f"({expression.op} {canonical_form(expression.operand)})"
        case Call():
            return f"({expression.name} {' '.join(map(canonical_form, expression.args))})"
        case Binary(op="+" | "-"):
            return f"(+ {' '.join(sorted(_terms(expression)))})"
        case Binary(op="*" | "/"):
            return f"(* {' '.join(sorted(_factors(expression)))})"
        case Binary():
            return f"({expression.op} {canonical_form(expression.left)} {canonical_form(expression.right)})"


def _terms(expression: Expression) -> list[str]:
    match expression:
        case Binary(op="+"):
            return _terms(expression.left) + _terms(expression.right)
        case Binary(op="-"):
            return [*_terms(expression.left), f"(- {canonical_form(expression.right)})"]
        case _:
            return [canonical_form(expression)]


def _factors(expression: Expression) -> list[str]:
    match expression:
        case Binary(op="*"):
            return _factors(expression.left) + _factors(expression.right)
        case Binary(op="/"):
            return [*_factors(expression.left), f"(/ {canonical_form(expression.right)})"]
        case _:
            return [canonical_form(expression)]
