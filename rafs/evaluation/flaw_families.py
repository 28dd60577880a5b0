"""The families of metrics that FindTheFlaws adds: sentence by sentence, and whether the flaw that was named is the one.

Source:
    Recchia et al. 2025, "FindTheFlaws: Annotated Errors for Detecting Flawed Reasoning and Scalable Oversight
    Research", arXiv:2503.22989.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rafs.evaluation.audit import PASS_AT, AuditRecord, pass_rates
from rafs.evaluation.error_grading import GradedFlaw, error_grading
from rafs.evaluation.families import Family, Item, mask, named_figures
from rafs.evaluation.intervals import Measurement, draw_resamples
from rafs.evaluation.records import NamedFlaw
from rafs.outcomes import Unmeasured

FlawId = tuple[str, int | None]
"""A trace, and the step that an expert called flawed; None for the solution as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlawProtocol:
    """What these families need beside traces and records."""

    tau_step: float
    """Of the run's policy: a step below it is called flawed."""
    graded: bool = False
    """Whether a judge of equivalence was asked."""
    by_people: Mapping[FlawId, bool] = field(default_factory=dict)
    """Grades by people of what this run named, on which the judge is audited."""


def flaw_families(items: Sequence[Item], protocol: FlawProtocol, seed: int, n_resamples: int) -> dict[str, Family]:
    """Return the families by name: those on grades only where a run asked for them."""
    found = {"match_all": match_all(items, protocol.tau_step, seed, n_resamples)}
    if protocol.graded:
        found["error_grading"] = _graded(items, protocol, seed, by_sentence=False)
        found["grade_all"] = _graded(items, protocol, seed, by_sentence=True)
    return found


def match_all(items: Sequence[Item], tau_step: float, seed: int, n_resamples: int) -> Family:
    """Every step that people labelled one by one is an item; CORRECT is the positive class.

    Steps that people left open are none; one that was not judged is left out and counted.
    """
    rows = [
        (item.trace.group, item.record.q[at] if item.record is not None else None, right)
        for item in items
        for at, right in enumerate(item.trace.step_labels or ())
        if right is not None
    ]
    judged = [(group, q >= tau_step, right) for group, q, right in rows if q is not None]
    drawn = draw_resamples([group for group, _, _ in judged], seed=seed, n_resamples=n_resamples)
    named, true = mask([named for _, named, _ in judged]), mask([right for _, _, right in judged])
    return Family(n=len(rows), n_unscored=len(rows) - len(judged), figures=named_figures(named, true, drawn))


def described(items: Sequence[Item]) -> Iterator[tuple[Item, NamedFlaw]]:
    """Yield every flaw that a run graded, with its trace."""
    return ((item, flaw) for item in items if item.record is not None for flaw in item.record.flaws)


def _graded(items: Sequence[Item], protocol: FlawProtocol, seed: int, *, by_sentence: bool) -> Family:
    flaws = [(item, flaw) for item, flaw in described(items) if (flaw.step is not None) is by_sentence]
    graded = error_grading(
        [
            GradedFlaw(
                problem=item.trace.group,
                flagged=flaw.flagged,
                equivalent=None if flaw.p_same is None else flaw.p_same >= PASS_AT,
                by_people=protocol.by_people.get((item.trace.id, flaw.step)),
            )
            for item, flaw in flaws
        ],
        seed=seed,
    )
    return Family(
        n=len(flaws),
        n_unscored=graded.n_unusable,
        figures={
            "accuracy": graded.accuracy,
            "by_people": graded.by_people,
            "agreement": graded.agreement,
            "kappa": graded.kappa,
            **_control(flaws, seed),
        },
    )


def _control(flaws: Sequence[tuple[Item, NamedFlaw]], seed: int) -> dict[str, Measurement]:
    """Return how often the judge calls a note the same as itself, and as a note on another problem."""
    records = [
        AuditRecord(
            id=item.trace.id,
            domain="notes",
            question=item.trace.group,
            natural=False,
            right=right,
            p_correct=p,
        )
        for item, flaw in flaws
        for right, p in ((True, flaw.p_itself), (False, flaw.p_other))
        if p is not None
    ]
    nothing = Unmeasured(reason="no_items")
    if not records:
        return {"control_itself": nothing, "control_other": nothing, "control_difference": nothing}
    (rates,) = pass_rates(records, seed=seed)
    return {
        "control_itself": rates.true_pass,
        "control_other": rates.false_pass,
        "control_difference": rates.discrimination,
    }
