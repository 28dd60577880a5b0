"""Reading the samples and counting their votes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from rafs.answers.equivalence import equivalent, is_no_answer
from rafs.bootstrap import consensus_interval
from rafs.consensus import Consensus, Equivalence, answer_consensus
from rafs.errors import InputError
from rafs.outcomes import Measured, Unmeasured
from rafs.reading import read_text
from rafs.rounds import (
    LIKELY_ERROR,
    SAYS,
    StopRule,
    chance_of_change,
    consensus_bounds,
    is_vote_settled,
    next_round,
)
from rafs.sampling import Round, Samples, find_copies
from rafs.threads import in_thread
from rafs.types import Reading, Sampled
from rafs.weighted_vote import WeightedVotes, weigh_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """Who voted for what, and who did not; samples are named by their index among all that were sent or drawn."""

    answers: tuple[str | None, ...]
    """Of every sample, also of one without a vote."""
    copies: tuple[int, ...] = ()
    """Sent, but no evidence of their own; see `find_copies`."""
    truncated: tuple[int, ...] = ()
    """Cut by a length limit: they have no vote."""
    voters: tuple[int, ...] = ()
    consensus: Consensus
    weighted: WeightedVotes | Unmeasured
    interval: tuple[float, float] | None = None
    """Where C of as many new samples lies, 95 %; None where C is unmeasured."""
    bounds: tuple[float, float] | None = None
    """Smallest and largest C that all planned samples could have had; None where none was left to draw."""


class SampleReader:
    """Reads the samples of one trace, each once, and compares their answers, each pair once."""

    def __init__(self, reading: Reading) -> None:
        """Stand beside the reading of the scored trace."""
        self._reading = reading
        self._known: dict[str, Reading | None] = {}
        self.equivalent: Equivalence = cache(partial(equivalent, problem=reading.trace.problem))

    @property
    def stated(self) -> str | None:
        """The answer of the scored trace."""
        answer = self._reading.trace.answer
        return None if answer is None else answer.text

    async def read(self, samples: Samples) -> list[Reading | None]:
        """Read every sample; a cut one, and a drawn one that is no sensible trace, has no reading.

        Raises:
            InputError: The caller sent a sample with too many steps.
        """
        return [await self._read(sample, f"samples.{i}", samples.drawn) for i, sample in enumerate(samples.texts)]

    async def _read(self, sample: Sampled, where: str, drawn: bool) -> Reading | None:
        if sample.truncated or not sample.text.strip():
            return None
        if sample.text not in self._known:
            try:
                known = await in_thread(read_text, self._reading.trace.problem, sample.text, None, where)
            except InputError:
                if not drawn:
                    raise
                known = None
            self._known[sample.text] = known
        return self._known[sample.text]

    async def count(self, samples: Samples, readings: Sequence[Reading | None]) -> Ballot:
        """Count the votes of samples that were read."""
        return await in_thread(self._count, samples, readings)

    def _count(self, samples: Samples, readings: Sequence[Reading | None]) -> Ballot:
        texts = samples.texts
        bare = [i for i, one in enumerate(readings) if one is not None and not one.trace.derivation()]
        copies = () if samples.drawn else find_copies(texts, self._reading.trace.text, bare)
        truncated = tuple(i for i, sample in enumerate(texts) if sample.truncated)
        voters = tuple(i for i in range(len(texts)) if i not in {*copies, *truncated})
        answers = tuple(map(answer_of, readings))
        consensus = answer_consensus(answers, self.stated, self.equivalent, voters=voters, n_cut=len(truncated))
        is_vote = isinstance(consensus.component, Measured)
        left = max(0, samples.n_planned - len(texts))
        return Ballot(
            answers=answers,
            copies=copies,
            truncated=truncated,
            voters=voters,
            consensus=consensus,
            weighted=weigh_votes(consensus.classes, texts),
            interval=consensus_interval([len(members) for members in consensus.classes]) if is_vote else None,
            bounds=consensus_bounds([answers[i] for i in voters], self.equivalent, left) if is_vote and left else None,
        )

    async def plan(self, n: int, rule: StopRule, least: float | None, texts: Sequence[Sampled]) -> Round:
        """Say how many samples to draw next; none once the vote is settled by the rule.

        Args:
            n: How many may be drawn in all.
            rule: When to stop.
            least: The C below which nothing is accepted; None where it does not matter on which side of it C lies.
            texts: What was drawn so far.
        """
        readings = await self.read(Samples(texts=tuple(texts), drawn=True))
        return await in_thread(self._plan, n - len(texts), rule, least, texts, readings)

    def _plan(
        self,
        left: int,
        rule: StopRule,
        least: float | None,
        texts: Sequence[Sampled],
        readings: Sequence[Reading | None],
    ) -> Round:
        answers = [answer_of(one) for sample, one in zip(texts, readings, strict=True) if not sample.truncated]
        classes = answer_consensus(answers, None, self.equivalent).classes
        leader = max((len(members) for members in classes if answers[members[0]] is not None), default=0)
        if texts and self._is_settled(answers, leader, left, rule, least):
            return 0, SAYS[rule]
        return next_round(leader, len(answers) - leader, left, rule), SAYS[rule]

    def _is_settled(
        self, answers: Sequence[str | None], leader: int, left: int, rule: StopRule, least: float | None
    ) -> bool:
        match rule:
            case StopRule.NEVER:
                return False
            case StopRule.LIKELY:
                return chance_of_change(leader, len(answers) - leader, left) <= LIKELY_ERROR
            case StopRule.DECISION | StopRule.VOTE:
                return is_vote_settled(answers, self.stated, self.equivalent, left) and (
                    least is None or _is_on_one_side(consensus_bounds(answers, self.equivalent, left), least)
                )


def answer_of(reading: Reading | None) -> str | None:
    """Return the answer that a sample states, if it was read and states one."""
    answer = None if reading is None else reading.trace.answer
    return None if answer is None or is_no_answer(answer.text) else answer.text


def _is_on_one_side(bounds: tuple[float, float] | None, least: float) -> bool:
    return bounds is not None and (bounds[0] >= least or bounds[1] < least)
