"""Counterfactual edits and what they did to the answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from rafs.outcomes import Unmeasured
from rafs.probes import ProbeFinding
from rafs.types import Abstained, Entailment, Implied, ModelIdentity, Sampled

Target = int | Implied
"""What the answer is in the quantity graph: the result of a claim, by its index, or a number worked out in words."""


class EditFamily(StrEnum):
    """What an edit changes, always together with the number that follows from it."""

    VALUE = "value"
    """Only the conclusion: another number of the same size."""
    OPERATOR = "operator"
    """One operator of the calculation."""
    OPERAND_SWAP = "operand_swap"
    """The order of two operands."""
    DROPPED_GIVEN = "dropped_given"
    """One operand that the problem gives is left out."""
    NEGATION = "negation"
    """One word of a conclusion without numbers becomes its opposite."""
    PROPOSED = "proposed"
    """Words of a conclusion without numbers become others, which an editor proposed and the validator let pass."""


WORD_FAMILIES = frozenset({EditFamily.NEGATION, EditFamily.PROPOSED})
"""Families that change words; the others change a number."""


class PivotReason(StrEnum):
    """Why a step is worth editing, or comes last."""

    DERIVES = "derives_the_answer"
    LEADS = "leads_to_the_answer"
    """The answer is computed from its result."""
    INERT = "changes_nothing"
    """The answer is computed from its result, but stays when that changes a little: every edit of it is vacuous."""
    UNCOMPUTABLE = "cannot_be_replayed"
    """The answer is computed from its result, but what a change makes of it cannot be computed."""
    DECORATION = "beside_the_answer"
    """The answer is no result of any claim; edits show that."""
    TEXT = "said_in_words"
    """An inference without a claim: only a model can say what hangs on it, and none was asked or understood."""
    ABLATION = "ablation"
    """An inference without a claim, left out of what the writer was to answer from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pivot:
    """A step worth editing, and why."""

    step: int
    claim: int | None
    """None where the step has no claim."""
    influence: float | None
    """Elasticity of the answer A in the result x of the claim, (dA / A) / (dx / x), by exact replay of one unit in the
    last written digit of x: its sign says in which direction the answer moves. By `ABLATION`, how much rarer the writer
    gives the stated answer without the step: share with all steps - share without it, in [-1, 1]. None where it is not
    known, and where a zero has no relative change."""
    doubt: float
    """1 - q_t, in [0, 1]; 1 for a step without a verdict."""
    reason: PivotReason


class Response(StrEnum):
    """What the answer did after an edit."""

    FOLLOWED = "followed"
    """It became the answer that the replay predicts."""
    MOVED = "moved"
    """It changed to something else."""
    STAYED = "stayed"
    RECOVERED = "recovered"
    """The continuation noticed and repaired the edit; neither sensitive nor insensitive."""
    UNPARSED = "unparsed"
    """No answer could be read; reduces coverage."""
    NOT_RUN = "not_run"
    """Time ran out, or the writer failed, before it was asked; reduces coverage."""
    NOT_NEEDED = "not_needed"
    """Not asked: whatever it had said, the decision would have been the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One counterfactual edit: step `step`, with one conclusion changed and nothing else."""

    step: int
    claim: int | None
    """None for an edit of words."""
    family: EditFamily
    text: str
    """The edited blind text of the step."""
    old: Fraction | str
    """The conclusion before: its number, or the words that carry it."""
    new: Fraction | str
    predicted: Fraction | None
    """Answer that the replay predicts; None where the answer is no result of the graph, where it cannot be computed,
    and for an edit of words. Without a prediction nobody can tell an answer that followed from one that was merely
    derailed, so a moved answer then earns the credit of one that moved elsewhere, never that of one that followed."""


class EffectMethod(StrEnum):
    """How effects were observed."""

    REPLAY = "replay"
    CONTINUATION = "continuation"
    NONE = "none"
    """No edit was possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one valid edit did to the answer."""

    edit: Edit
    method: EffectMethod
    responses: tuple[Response, ...]
    """One per continuation; exactly one for a replay."""
    delta: float | None
    """Sensitivity in [0, 1]; None when every response was recovered or unparsed."""
    interval: tuple[float, float] | None = None
    """95 % of the delta; None without continuations that count: a replay is exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """One prefix, and what the writer of the trace made of it."""

    prefix: str
    n: int
    """Continuations asked for."""
    seed: int
    texts: tuple[Sampled, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """One sentence, and what the editor made of it."""

    sentence: str
    seed: int
    texts: tuple[str | None, ...]
    """None for a reply that held no sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """Which models had a hand in the edits, and what they said."""

    editor: ModelIdentity | None = None
    """Asked, whether or not it replied."""
    validator: ModelIdentity | None = None
    """Stood by to check what the editor proposes."""
    proposed: tuple[Proposed, ...] = ()
    opinions: Mapping[tuple[str, str], Entailment | Abstained] = field(default_factory=dict)
    """Of the validator, by (premise, hypothesis)."""


NO_EDITING = Editing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Interventions:
    """All that was tried on one trace."""

    effects: tuple[Effect, ...]
    discarded: tuple[tuple[int, str], ...]
    """(step, reason code) of every edit that broke a constraint."""
    method: EffectMethod
    missing: Unmeasured | None = None
    """Why nothing was observed, where that is known."""
    pivots: tuple[Pivot, ...] = ()
    """The steps that were tried, the most promising first."""
    continued: tuple[Continued, ...] = ()
    """All that the writer was asked to go on with, for edits and probes, in the order of asking."""
    probes: tuple[ProbeFinding, ...] = ()
    """What the complementary probes found; they inform the report and enter no score."""
    late: bool = False
    """Time ran out: these are the effects that were observed by then."""
    writer_failed: bool = False
    """The writer failed on the way; likewise."""
    n_tried: int | None = None
    """Claims weighed and candidate edits made, valid or not; None where the stage did not begin."""
    editing: Editing = NO_EDITING
    """The models that had a hand in the edits; none where rules made them all."""


NO_INTERVENTIONS = Interventions(effects=(), discarded=(), method=EffectMethod.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLimits:
    """When a `Prober` stops."""

    ends_at: float
    """Time of the event loop at which the request ends."""
    is_settled: Callable[[Interventions], Awaitable[bool]]
    """Whether nothing that is still to be observed can change the decision; `not_run` stands for what may come."""
    n_tried: int | None = None
    """In a replay of a stage that the deadline cut off: claims weighed and candidate edits made by then."""
