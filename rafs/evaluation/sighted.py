"""The control of blindness: a judge that is shown the stated answer, as no verifier of RAFS ever is."""

from collections.abc import Sequence
from dataclasses import replace

from rafs.contracts import Verifier
from rafs.result import Evidence
from rafs.types import Abstained, BlindStep, BlindTrace, MemberVerdicts, Reading, Verdict, Why, judged_only
from rafs.usage import Caller, Meter, Priority

SIGHTED = "sighted "
"""Before the name of a judge, in the members of a record."""
SHOWN = "\n\nThe answer that the solution below arrives at: "


def sighted_trace(reading: Reading) -> BlindTrace | None:
    """Return the derivation with its statements of the answer, and the answer beside the problem; None without one.

    Beside the problem, since a judge of a step sees what stands before it, and the answer stands last.
    """
    trace = reading.trace
    if trace.answer is None:
        return None
    steps = (BlindStep(index=step.index, text=step.text, kind=step.kind) for step in trace.derivation())
    return BlindTrace(problem=trace.problem + SHOWN + trace.answer.text, steps=tuple(steps), graph=reading.graph)


async def add_sighted(evidence: Evidence, judges: Sequence[Verifier]) -> None:
    """Ask the judges that were heard once more, about the same steps with the answer in sight.

    What they say is added to the members alone: it enters no score, and its cost is not that of the trace.

    Raises:
        BackendError: A judge failed.
    """
    trace = sighted_trace(evidence.reading)
    if trace is None:
        return
    heard = {row.member: row for row in evidence.verdicts.members if judged_only(row.verdicts)}
    rows = [await _ask(judge, heard[judge.name], trace) for judge in judges if judge.name in heard]
    evidence.verdicts = replace(evidence.verdicts, members=(*evidence.verdicts.members, *rows))


async def _ask(judge: Verifier, blind: MemberVerdicts, trace: BlindTrace) -> MemberVerdicts:
    ask = [t for t, asked in enumerate(blind.asked()) if asked]
    said = await judge.verify(trace, ask, Meter(caller=Caller(priority=Priority.BATCH)))
    verdicts: list[Verdict] = [Abstained(why=Why.NOT_EVALUATED)] * len(blind.verdicts)
    for t, verdict in zip(ask, said, strict=True):
        verdicts[t] = verdict
    return MemberVerdicts(member=SIGHTED + judge.name, identity=judge.identity, verdicts=tuple(verdicts))
