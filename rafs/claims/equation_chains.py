"""Equations that are rewritten step by step: `50 - 2x = 8`, then `Solving for x, we get x = 21`.

Where a sentence announces that the equation before is only rewritten or solved, both must have the same solution.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from rafs.claims.relations import Link
from rafs.claims.roundings import is_rounding
from rafs.grammar.expressions import show
from rafs.grammar.polynomials import normal_form
from rafs.grammar.terms import Binary, Number, Variable, leaves, literal_of, variables
from rafs.immutable import placed
from rafs.types import BlindStep, Truth

_REWRITTEN = re.compile(
    r"\b(?:simplif\w{1,6}|solv(?:e|ing)|combin\w{1,4}|both sides|cross[- ]multipl\w{1,4}|isolat\w{1,4}|rearrang\w{1,4}"
    r"|expand\w{0,3}|distribut\w{1,4}|collect\w{0,3}|like terms)\b",
    re.IGNORECASE,
)
"""Words that announce the same equation in another form."""
_OTHERWISE = re.compile(
    r"\b(?:substitut\w{1,4}|plug\w{0,4}|equations|first|second|third|other|or|case|if|when|try|suppose|instead|given|each"
    r"|separately|since|know|check\w{0,3}|verif\w{1,4}|wait|original|cases|let|assum\w{1,3})\b"
    r"|\bfor\b(?! \W{0,3}[A-Za-z]\b)|\d\s?=",
    re.IGNORECASE,
)
"""Words by which something else comes in: another equation, another case."""
_CONCLUDED = re.compile(
    r"[\s,$.;:\\()\[\]*]{0,8}(?:and )?"
    r"(?:so|thus|hence|therefore|then|giving|we get|(?:which|this) (?:gives|means|implies|yields)"
    r"|\\(?:implies|Rightarrow|iff|rightarrow|Leftrightarrow|to)\b|⟹|⇒|→|⟺|⇔|<?-{1,2}>|<?={1,2}>)"
    r"(?: (?:that|us|we (?:get|have|find)))?[\s,$.;:\\()\[\]*]{0,8}",
    re.IGNORECASE,
)
"""What stands alone between an equation and what follows from it."""
_DISCARDED = re.compile(
    r"\b(?:discard\w{0,3}|reject\w{0,3}|ignor\w{1,3}|exclud\w{1,3}|extraneous|impossible|cannot|not|or|case|cases)\b",
    re.I,
)
"""Words around an equation that is left behind rather than rewritten."""
MAX_BETWEEN = 160
"""Characters between the two equations, or before the second one in its step."""
ROUNDED_BY = Fraction(1, 50)
"""Share by which solutions with decimals may differ without being called different."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equation:
    """A linear equation in one unknown."""

    name: str
    root: Fraction
    has_decimals: bool
    is_solved: bool
    """It gives the unknown a value."""


@placed
class Stated:
    """An equation in one unknown, of whatever form, as it stands in a step."""

    link: Link
    text: str
    step: int
    """Its step, counted among the steps that are read."""
    before: "Stated | None"
    """The equation before it that it does not rewrite."""


@dataclass(slots=True)
class Chain:
    """The last equation in each unknown, while the steps of a trace are read in order."""

    last: dict[str, Stated] = field(default_factory=dict)
    text: str = ""
    """The step that is being read."""
    n_steps: int = 0

    def enter(self, step: BlindStep) -> None:
        """Begin the next step."""
        self.text, self.n_steps = step.text, self.n_steps + 1

    def judge(self, link: Link, names: frozenset[str]) -> tuple[Truth, str] | None:
        """Say whether an equation has the solution of the one that it is announced to rewrite, and why.

        Args:
            link: A relation of the step.
            names: The names in it.

        Returns:
            None where none is announced, and for everything that is no linear equation in one unknown.
        """
        if len(names) != 1 or link.relation != "=" or link.right is None:
            return None
        name = next(iter(names))
        before = self.last.get(name)
        rewritten = before is not None and self._is_rewritten(before, link)
        kept = None if before is None or rewritten else Stated(before.link, before.text, before.step, None)
        self.last[name] = Stated(link, self.text, self.n_steps, kept)
        if before is None or not rewritten:
            return None
        old, new = _equation(before, name), _equation(self.last[name], name)
        branch = _equation(before.before, name) if before.before is not None else None
        if old is None or new is None or old.is_solved or (branch is not None and branch.root != old.root):
            return None
        return _compare(link, new, old)

    def _is_rewritten(self, before: Stated, link: Link) -> bool:
        """Say whether the words before an equation announce the one before in another form, or its solution."""
        if self.n_steps - before.step > 1:
            return False
        same_step = before.step == self.n_steps
        between = self.text[before.link.right_span.end if same_step else 0 : link.left_span.start]
        if len(between) > MAX_BETWEEN:
            return False
        if same_step and _CONCLUDED.fullmatch(between):
            return isinstance(link.left, Variable) or not self._is_discarded(before, link)
        return _REWRITTEN.search(between) is not None and _OTHERWISE.search(between) is None

    def _is_discarded(self, before: Stated, link: Link) -> bool:
        """Say whether the equation before is another case, which may be left out: `not x + 1 = -2. So x + 1 = 2`."""
        around = self.text[max(0, before.link.left_span.start - MAX_BETWEEN) : link.left_span.start]
        return before.link.left == link.left or _DISCARDED.search(around) is not None


def runs_on(equation: Link) -> bool:
    """Say whether the right side of an equation may only begin it: `2x + 4 = 10 - 4 = 6`."""
    return equation.continued and isinstance(equation.right, Binary) and not variables(equation.right)


def _equation(stated: Stated, name: str) -> Equation | None:
    """Return what was stated as a linear equation; None for one that is doubted, denied, or of another form."""
    link = stated.link
    assert link.right is not None
    numbers = [leaf for side in (link.left, link.right) for leaf in leaves(side) if isinstance(leaf, Number)]
    if link.doubts or not link.asserted or runs_on(link):
        return None
    if any(number.percent or number.unit not in ("", "$") for number in numbers):
        return None
    form = normal_form(Binary(op="-", left=link.left, right=link.right))
    if form is None or form.atoms() != {name} or set(form.bottom) != {()}:
        return None
    by_power = {sum(power for _, power in term): value for term, value in form.top.items() if value}
    start = link.left_span.start
    if max(by_power, default=0) != 1 or _CUT_OPEN.search(stated.text, max(0, start - 6), start):
        return None
    return Equation(
        name=name,
        root=-by_power.get(0, Fraction(0)) / by_power[1],
        has_decimals=any(number.decimals for number in numbers),
        is_solved=isinstance(link.left, Variable) and not variables(link.right),
    )


_CUT_OPEN = re.compile(r"(?:[/*^×·]|[\d)}]\s?\s:|[\d)}]:(?=\S))[\s$\\(\[]{0,3}\Z")


def _compare(link: Link, equation: Equation, before: Equation) -> tuple[Truth, str]:
    if equation.root == before.root:
        return Truth.TRUE, "it has the solution of the equation before"
    literal = literal_of(link.right) if equation.is_solved else None
    if literal is not None and literal.decimals and is_rounding(before.root, equation.root, literal.decimals):
        return Truth.TRUE, "rounded"
    reason = f"the equation before gives {equation.name} = {show(before.root)}, this one {show(equation.root)}"
    return (Truth.UNKNOWN if _may_be_rounded(equation, before) else Truth.FALSE), reason


def _may_be_rounded(equation: Equation, before: Equation) -> bool:
    if equation.is_solved and before.root.denominator > 1 and abs(equation.root - before.root) < 1:
        return True
    return equation.has_decimals and abs(equation.root - before.root) <= ROUNDED_BY * abs(before.root)
