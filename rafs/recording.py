"""The tape of a request: everything that models and workers said, so that it can be concluded again without them."""

from rafs.engines.scripted import SampleKey, Script
from rafs.record import MemberTape, Record, Tape, VerdictTape
from rafs.result import ScoreResult
from rafs.types import Abstained, Entailment, Judged, MemberVerdicts, Verdict, Why
from rafs.usage import Stage


def make_tape(result: ScoreResult) -> Tape:
    """Return the tape of a result."""
    evidence = result.evidence
    agreement = evidence.agreement
    interventions, followed = evidence.interventions, evidence.followed
    return Tape(
        members=[_member(row) for row in evidence.verdicts.members],
        validator=evidence.validator or interventions.editing.validator,
        generator=evidence.generator,
        entailments=[
            (premise, hypothesis, said if isinstance(said, Entailment) else said.why)
            for (premise, hypothesis), said in (
                {**agreement.opinions, **followed.opinions, **interventions.editing.opinions}.items()
            )
        ],
        algebra=[(claim.left, claim.right, claim.truth) for claim in evidence.reading.graph.claims],
        samples=list(agreement.samples) if agreement.drawn else None,
        stopped=agreement.gathered.stopped,
        continuations=list(interventions.continued),
        n_tried=interventions.n_tried,
        editor=interventions.editing.editor,
        embedder=agreement.embedder,
        proposals=list(interventions.editing.proposed),
        follows=[_member(row) for row in followed.judges],
        cut_off=sorted(evidence.cut_off),
    )


def _member(row: MemberVerdicts) -> MemberTape:
    return MemberTape(
        member=row.member, identity=row.identity, verdicts=[_to_tape(verdict) for verdict in row.verdicts]
    )


def _to_tape(verdict: Verdict) -> VerdictTape:
    match verdict:
        case Judged():
            return VerdictTape(p_correct=verdict.p_correct, refuted=verdict.refuted, why=None, reason=verdict.reason)
        case Abstained():
            return VerdictTape(p_correct=None, refuted=False, why=verdict.why, reason=verdict.detail)


def from_tape(verdict: VerdictTape) -> Verdict:
    """Return the verdict that was recorded."""
    if verdict.p_correct is None:
        return Abstained(why=verdict.why or Why.UNPARSED, detail=verdict.reason)
    return Judged(p_correct=verdict.p_correct, refuted=verdict.refuted, reason=verdict.reason)


def to_script(record: Record) -> Script:
    """Return what generator, editor and validator said, by what they were asked; samples are not drawn again."""
    tape, problem = record.tape, record.request.problem
    script = Script(
        is_cut=Stage.INTERVENE in tape.cut_off,
        is_choice=tape.embedder is not None,
        pairs={
            (premise, hypothesis): said if isinstance(said, Entailment) else Abstained(why=said or Why.TOO_LONG)
            for premise, hypothesis, said in tape.entailments
        },
    )
    for one in tape.continuations:
        script.samples[SampleKey(problem=problem, prefix=one.prefix, n=one.n, seed=one.seed)] = one.texts
    for edited in tape.proposals:
        unparsed = Abstained(why=Why.UNPARSED)
        script.proposals[edited.sentence, edited.seed] = tuple(
            unparsed if text is None else text for text in edited.texts
        )
    return script
