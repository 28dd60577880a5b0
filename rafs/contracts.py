"""The protocols between the flow and what judges, generates, compares and computes.

Every implementation of a protocol passes the suite of the same name in `tests/contracts/`.
Each call takes the request's `Meter` and adds its calls and tokens to the stage it serves.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rafs.interventions import Interventions, ProbeLimits, Target
from rafs.types import (
    Abstained,
    BlindTrace,
    Entailment,
    LabelMass,
    ModelIdentity,
    Reading,
    Sampled,
    StepVerdicts,
    Truth,
    Verdict,
)
from rafs.usage import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A piece of a prompt; untrusted text can never become a control token."""

    text: str
    trusted: bool = False


class HasIdentity(Protocol):
    """Speaks for a model."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        ...


class Verifier(Protocol):
    """Judges steps of one trace; answer-blind and future-blind."""

    @property
    def name(self) -> str:
        """Name in the decision ledger, such as `symbolic` or `judge:smollm2-135m`."""
        ...

    @property
    def identity(self) -> ModelIdentity | None:
        """The model behind it; None for a deterministic checker."""
        ...

    async def verify(self, trace: BlindTrace, ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Return one verdict per entry of `ask`, in that order.

        Args:
            trace: The blind trace.
            ask: Positions in `trace.steps` to judge. The verdict on position t depends on the problem and
                `trace.steps[: t + 1]` alone.
            meter: Where cost is counted.

        Raises:
            BackendError: The model or worker is down, so nothing was judged.
        """
        ...


class Ensemble(Protocol):
    """Asks the checkers first, then the models, and combines them."""

    @property
    def models(self) -> Sequence[tuple[str, ModelIdentity]]:
        """Name and identity of every model that may be asked, in order of preference."""
        ...

    async def check(self, trace: BlindTrace, refused: Collection[str], meter: Meter) -> StepVerdicts:
        """Return the verdicts of the checkers alone; every model has a row that says it was not evaluated.

        Args:
            trace: The blind trace.
            refused: Names of the models that may not judge, being of the writer's family.
            meter: Where cost is counted.
        """
        ...

    async def verify(
        self, trace: BlindTrace, checked: StepVerdicts, refused: Collection[str], deadline: float, meter: Meter
    ) -> StepVerdicts:
        """Return a combined verdict for every step of `trace.steps`, and each member's own.

        Every member has a row, also one that failed, was refused or was not needed; the row says which. No member
        raises its own failure, and none is waited for beyond its share of the time that is left.

        Args:
            trace: The blind trace.
            checked: What `check` returned for it.
            refused: Names of the models that may not judge.
            deadline: Time of the event loop at which the request ends.
            meter: Where cost is counted.

        Raises:
            OverloadedError: The queue of a model is full, and no other one judged.
        """
        ...


class StepProber(HasIdentity, Protocol):
    """Asks a language model the same yes/no question after each step."""

    @property
    def fingerprint(self) -> str:
        """Whatever besides `identity` decides a verdict: engine, tokenizer, template, precision, strategy, labels.

        Two probers of one identity and one fingerprint give the same mass for the same prompt, to rounding.
        """
        ...

    async def probe(
        self,
        head: Sequence[PromptPart],
        steps: Sequence[Sequence[PromptPart]],
        tail: Sequence[PromptPart],
        ask: Sequence[int],
        meter: Meter,
    ) -> Sequence[LabelMass | Abstained]:
        """Return the mass on the labels after `head + steps[: t + 1] + tail`, for each t in `ask`, in order.

        `Abstained(TOO_LONG)` where the prompt does not fit the model's window, `Abstained(NO_LABELS)` where the
        model put (almost) no mass on either label.

        Raises:
            BackendError: The model failed, so nothing was probed.
            OverloadedError: The model's bounded queue is full.
        """
        ...


class StepRewarder(HasIdentity, Protocol):
    """Scores every step of a trace with a process reward model, which reads the trace once."""

    @property
    def fingerprint(self) -> str:
        """Whatever besides `identity` decides a verdict; see `StepProber.fingerprint`."""
        ...

    async def reward(self, problem: str, steps: Sequence[str], ask: Sequence[int], meter: Meter) -> Sequence[Verdict]:
        """Return one verdict per entry of `ask`, in order; that on step t depends on `steps[: t + 1]` alone.

        `Abstained(TOO_LONG)` where the step ends past the model's window, `Abstained(NOT_APPLICABLE)` for a blank
        step, `Abstained(UNPARSED)` for all where the scores cannot be told apart by step.

        Args:
            problem: Untrusted, like the steps: neither can forge the mark that ends a step.
            steps: Texts of the steps.
            ask: Positions in `steps` to judge.
            meter: Where cost is counted.

        Raises:
            BackendError: The model failed, so nothing was judged.
            OverloadedError: The model's bounded queue is full.
        """
        ...


class Generator(HasIdentity, Protocol):
    """The model that wrote the trace."""

    async def sample(self, problem: str, n: int, seed: int, meter: Meter, first: int = 0) -> Sequence[Sampled]:
        """Return n independent solutions of the problem, or fewer where there are no more.

        Greedy decoding (temperature 0) has one solution, sample 0. Sample i depends on (seed, i) alone where the
        engine can do so, however many are drawn at once; each engine says what holds. Samples `first` to
        `first + n - 1` are drawn.

        Raises:
            BackendError: Nothing was generated.
        """
        ...

    async def continue_trace(
        self, problem: str, prefixes: Sequence[str], n: int, seed: int, meter: Meter, max_tokens: int | None = None
    ) -> Sequence[Sequence[Sampled]]:
        """Return n continuations of every prefix, in order; each text is the continuation without its prefix.

        A continuation has at most `max_tokens`, and never more than the engine's own bound.

        Raises:
            BackendError: Nothing was generated.
        """
        ...


class Editor(HasIdentity, Protocol):
    """Words a sentence otherwise, so that it concludes something else; whoever asks checks what it proposes."""

    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        """Return k proposals for every sentence, in order: one line each, to stand in the sentence's place.

        Nothing is promised of them: they may repeat, change nothing or change too much. `Abstained(UNPARSED)` where
        the reply was cut, or held no sentence. The sentences are untrusted, and all that the editor sees of the trace.

        Raises:
            BackendError: Nothing was proposed.
            OverloadedError: The model's bounded queue is full.
        """
        ...


class Nli(HasIdentity, Protocol):
    """Says whether a premise entails or contradicts a hypothesis."""

    async def classify(self, pairs: Sequence[tuple[str, str]], meter: Meter) -> Sequence[Entailment | Abstained]:
        """Return one opinion per (premise, hypothesis), in order.

        Raises:
            BackendError: Nothing was classified.
        """
        ...


class Embedder(HasIdentity, Protocol):
    """Maps texts to unit vectors."""

    async def embed(self, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        """Return unit rows of shape (n_texts, d), in order.

        Raises:
            BackendError: Nothing was embedded.
        """
        ...


class AnswerJudge(HasIdentity, Protocol):
    """Says whether an answer follows from a derivation that does not state it."""

    async def follows(self, trace: BlindTrace, answer: str, meter: Meter) -> Verdict:
        """Return P(the answer follows from the steps of the blind trace) as `p_correct`, or why there is none.

        Raises:
            BackendError: The model failed, so nothing was judged.
            OverloadedError: The model's bounded queue is full.
        """
        ...


class Algebra(Protocol):
    """Decides identities that exact arithmetic cannot, within hard limits."""

    async def compare(self, left: str, right: str) -> Truth:
        """Say whether two expressions of our grammar are equal for all values of their variables.

        UNKNOWN where a limit of time or memory was hit, or where it could not tell.
        """
        ...


class Prober(Protocol):
    """Makes counterfactual edits and observes the answer."""

    async def probe(
        self,
        reading: Reading,
        target: Target | None,
        verdicts: Sequence[Verdict],
        writer: Generator | None,
        seed: int,
        meter: Meter,
        limits: ProbeLimits,
        editor: Editor | None = None,
        validator: Nli | None = None,
    ) -> Interventions:
        """Edit pivotal steps of the trace and return every effect.

        Args:
            reading: The trace and its quantity graph.
            target: What the answer is in the graph; None where the answer is no result of it.
            verdicts: One combined verdict per step of the derivation.
            writer: The model that wrote the trace, to continue edited prefixes; None observes by replay alone.
            seed: Draws ties, edit families and new values; it holds the server's secret.
            meter: Where cost is counted.
            limits: Continuations are asked for in rounds, until the decision is settled or time is over.
            editor: Of another family than the writer; asked for edits of words where rules find none.
            validator: Likewise; without one no editor is asked, since nobody could check what it proposes.

        Returns:
            The effects; `missing` says why there are none when the writer failed, and `late` that time ran out,
            `writer_failed` that the writer did on the way: then they are what was observed by then.
        """
        ...
