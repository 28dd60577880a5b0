"""JSON out: the vote of the samples."""

from typing import Literal

from pydantic import Field

from rafs.messages import Wire


class AnswerClassOut(Wire):
    """Samples that give one answer."""

    answers: list[str] = Field(description="Its spellings, in order of appearance.")
    samples: list[int] = Field(description="Places among all samples that were sent or drawn.")
    size: int
    share: float = Field(description="Of the samples that voted.")
    holds_stated: bool | None = Field(description="Whether it is the stated answer; null where nobody can tell.")


class WeightedVoteOut(Wire):
    """The vote where every sample counts by its probability."""

    shares: list[float] = Field(description="Of the classes in their order, then of the missing answers, if any.")
    entropy: float = Field(description="In nats.")
    value: float = Field(description="1 - entropy / log k.")


class WeightedOut(Wire):
    """The weighted votes: reported beside C, which no weight enters."""

    by_sequence: WeightedVoteOut | None = Field(description="By the probability of the whole text.")
    by_token: WeightedVoteOut | None = Field(description="By the geometric mean of its tokens' probabilities.")
    unmeasured: str | None = Field(description="Why there are none.")
    detail: str


class ConsensusOut(Wire):
    """Who voted for what, and how many samples there really are."""

    k: int = Field(description="Samples that voted: neither a copy nor cut.")
    k_sent: int
    k_planned: int = Field(description="The most that would have been drawn; 0 where samples were sent.")
    k_drawn: int
    k_distinct: int = Field(description="Those sent or drawn, less the copies.")
    stopped_because: (
        Literal[
            "all_drawn",
            "decision_settled",
            "vote_settled",
            "vote_likely_settled",
            "writer_has_no_more",
            "generator_down",
        ]
        | None
    ) = Field(description="Why no more were drawn; null where samples were sent.")
    copies: list[int] = Field(description="Sent, but nothing tells them from a copy of the trace or of another one.")
    truncated: list[int] = Field(description="Cut by a length limit: without a vote, they lower the coverage of C.")
    missing: list[int] = Field(description="Voters without a readable answer: a class of their own.")
    value: float | None = Field(
        description="C = 1 - entropy / log k of the samples that voted; the same as component C."
    )
    entropy: float | None = Field(description="In nats.")
    interval: tuple[float, float] | None = Field(description="95 %: where C of k new samples of the writer lies.")
    bounds: tuple[float, float] | None = Field(
        description="Least and largest C that all k_planned samples could have had; null where all were drawn."
    )
    classes: list[AnswerClassOut] = Field(description="Largest first; the missing answers are not among them.")
    weighted: WeightedOut
