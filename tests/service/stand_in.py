"""A scorer without models, for the faces: real requests in, a hand-made response out."""

import asyncio
import json
from dataclasses import dataclass, field

from rafs.consensus_wire import ConsensusOut, WeightedOut
from rafs.progress_wire import ScoreBounds, StepRead, StepsRead
from rafs.record import ModelOut, ProvenanceOut
from rafs.request import ScoreRequest
from rafs.wire import (
    AnswerOut,
    ClaimOut,
    ComponentOut,
    ContradictionOut,
    InterventionsOut,
    ModelStatus,
    OutcomeOut,
    ScoreResponse,
    StabilityOut,
    StageOut,
    StepOut,
    SupportOut,
    SuspectOut,
)
from service.progress import Tell
from service.terms import DEFAULT_TERMS, Terms

JSON = {"content-type": "application/json"}
GOOD = {"problem": "What is 2 + 2?", "trace": "2 + 2 = 4"}


def body(**changes: object) -> bytes:
    """Return the bytes of a good request, with some fields changed."""
    return json.dumps(GOOD | changes).encode()


def make_step(index: int, text: str, p_correct: float | None, **changes: object) -> StepOut:
    fields: dict[str, object] = {
        "index": index,
        "start": 0,
        "end": len(text),
        "text": text,
        "kind": "inference",
        "p_correct": p_correct,
        "refuted": False,
        "suspect": p_correct is not None and p_correct < 0.6,
        "decided_by": [] if p_correct is None else ["symbolic"],
        "disagreement": None,
        "shown_to": [],
        "reason": "",
        "claims": [],
        "role": None if changes.get("kind") == "answer" else "unknown",
        "necessity": None,
        "necessity_source": None,
        "sufficiency": None,
    }
    return StepOut.model_validate(fields | changes)


def make_component(name: str, title: str, value: float | None) -> ComponentOut:
    measured = value is not None
    return ComponentOut.model_validate(
        {
            "name": name,
            "title": title,
            "value": value,
            "coverage": 1.0 if measured else 0.0,
            "weight": 0.5 if measured else 0.0,
            "log_contribution": -0.25 if measured else None,
            "unmeasured": None if measured else "too_few_samples",
            "detail": "" if measured else "1 sample, at least 2 are needed",
        }
    )


PROVENANCE = ProvenanceOut(
    rafs_version="0.1.0",
    config_hash="0123456789abcdef",
    calibration="default",
    preset="standard",
    seed=0,
    prompts={},
    models=[ModelOut(id="judge-1", family="smollm", revision="b179c9523d0e6a0f", role="judge")],
)


INTERVENTIONS = InterventionsOut(
    method="replay",
    valid=2,
    discarded={"leak": 1},
    not_needed=0,
    not_run=0,
    late=False,
    pivots=None,
    effects=None,
    probes=[],
)


STABILITY = StabilityOut(
    contradiction=0.5, method_diversity=0.25, n_contradictions=1, pairs_full=24, pairs_canonical=20, pairs_asked=4
)


def make_cut_consensus() -> ConsensusOut:
    """Return what is said where the generator failed after the first of three samples."""
    return ConsensusOut(
        k=1, k_sent=0, k_planned=3, k_drawn=1, k_distinct=1, stopped_because="generator_down", copies=[], truncated=[],
        missing=[], value=None, entropy=None, interval=None, bounds=None, classes=[],
        weighted=WeightedOut(by_sequence=None, by_token=None, unmeasured="too_few_samples", detail=""),
    )  # fmt: skip


def make_response(problem: str = "p", trace: str = "55 - 40 = 10", **changes: object) -> ScoreResponse:
    false = ClaimOut(text="55 - 40 = 10", truth="false", reason="55 - 40 is 15, not 10", ungrounded=["40"])
    response = ScoreResponse(
        id="r1",
        score=42.5,
        interval=(30.0, 55.0),
        status="Review",
        reasons=["refuted_step", "score_below_threshold"],
        outcome=OutcomeOut(label="silent_failure", reasoning="flawed", answer="supported"),
        suspect_step=SuspectOut(index=1, p_correct=0.02, reason="55 - 40 is 15, not 10"),
        answer=AnswerOut(
            stated="57", source="boxed", ambiguous=False, derived="10", derived_matches=False,
            modal="57", share=0.75, is_modal=True,
        ),
        steps=[
            make_step(0, f"First I read: {problem}", 0.93),
            make_step(1, trace, 0.02, refuted=True, reason="55 - 40 is 15, not 10", claims=[false]),
            make_step(2, "So the answer is 57.", None, kind="answer"),
        ],
        components=[
            make_component("P", "step validity", 0.51),
            make_component("S", "reasoning-to-answer support", 0.4),
            make_component("C", "answer consensus", None),
            make_component("D", "reasoning stability", None),
        ],
        coverage=0.65,
        independence="unknown",
        support=SupportOut(e=1.0, e_source="graph", detail="the derivation ends in 10", mean_delta=0.16),
        interventions=INTERVENTIONS,
        samples=4,
        contradictions=[ContradictionOut(traces=(-1, 2), claims=("3 are left", "4 are left"), found_by="arithmetic")],
        stability=STABILITY,
        truncated=["samples.3: read up to 8192 tokens"],
        members=[],
        ledger=[],
        usage=[StageOut(stage="verify", calls=3, tokens=512, reused=0, milliseconds=310.4)],
        provenance=PROVENANCE,
    )  # fmt: skip
    return response.model_copy(update=changes)


STEPS_READ = StepsRead(steps=[StepRead(index=0, start=0, end=9, text="2 + 2 = 4", kind="inference")], answer="4")


@dataclass(kw_only=True)
class StandIn:
    """A `ScoringService` whose behaviour is chosen when it is made."""

    error: Exception | None = None
    delay_s: float = 0.0
    response: ScoreResponse | None = None
    load_error: Exception | None = None
    warmed: bool = False
    closed: bool = False
    seen: list[ScoreRequest] = field(default_factory=list)
    terms: list[Terms] = field(default_factory=list)
    cancelled: int = 0

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        self.seen.append(request)
        self.terms.append(terms)
        if tell is not None:
            tell(STEPS_READ)
            tell(ScoreBounds(lower=0.0, upper=80.0))
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        text = request.trace if isinstance(request.trace, str) else "a trace"
        return self.response or make_response(request.problem, text)

    def models(self) -> list[ModelStatus]:
        return [
            ModelStatus(
                id="judge-1",
                family="smollm",
                roles=["judge"],
                source="path:/m",
                licence="MIT",
                revision="r",
                ready=True,
            )
        ]

    def would_use(self, preset: str, seed: int) -> ProvenanceOut:
        return PROVENANCE.model_copy(update={"preset": preset, "seed": seed})

    def not_ready(self) -> list[str]:
        return [] if self.warmed else ["the models are not loaded yet"]

    async def warm(self, preset: str | None = None) -> None:
        if self.load_error is not None:
            raise self.load_error
        self.warmed = True

    async def close(self) -> None:
        self.closed = True
