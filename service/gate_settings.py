"""Settings of the gate, of the proxy in front of a model, and of the guardrail for other proxies."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import NoDecode


class FailPolicy(StrEnum):
    """What is answered where RAFS could not decide: time ran out, a model failed, or there was nothing to score."""

    FAIL_OPEN = "fail_open"
    FAIL_CLOSED = "fail_closed"


class Handling(StrEnum):
    """What becomes of a model's answer that is not accepted, the loosest first."""

    PASS = "pass"
    """It is passed on with the verdict beside it."""
    ANNOTATE = "annotate"
    """It is passed on with a note behind its text."""
    RESAMPLE = "resample"
    """The model is asked again until an answer is accepted. Of the answers that are there by then, samples included,
    the accepted one with the highest score is passed on, and an abstention where there is none."""
    HOLD = "hold"
    """It is kept for review, and a notice is passed on."""
    ABSTAIN = "abstain"
    """An abstention is passed on."""

    @property
    def shows(self) -> bool:
        """Whether a reader sees the answer though it was not accepted."""
        return self in (Handling.PASS, Handling.ANNOTATE)


class Release(StrEnum):
    """When a streamed answer is passed on."""

    HELD = "held"
    """After the decision."""
    AFTER = "after"
    """As it comes; the verdict is the last chunk."""


class Blocking(StrEnum):
    """What the guardrail tells the other proxy of an answer that is not accepted, the loosest first."""

    PASS = "pass"
    ANNOTATE = "annotate"
    ABSTAIN = "abstain"
    BLOCK = "block"


Milliseconds = Annotated[int, Field(ge=1, le=3_600_000)]
Few = Annotated[int, Field(ge=0, le=8)]


class GateSettings(BaseModel):
    """Part of `Settings`."""

    gate_fail: FailPolicy = FailPolicy.FAIL_CLOSED
    """Of `POST /v1/gate`, where RAFS could not decide."""
    gate_fail_may_loosen: bool = False
    """A request may ask for `fail_open` where the operator said `fail_closed`."""
    gate_budget_ms: Milliseconds | None = None
    """Time for one decision, of every route; a request may ask for less. None is the preset's deadline."""
    proxy_models: Annotated[tuple[str, ...], NoDecode] = ()
    """Ids of models.yaml that the proxy passes requests on to; without any there is no proxy."""
    proxy_policy: Handling = Handling.PASS
    """What becomes of an answer that is not accepted; the header `rafs-policy` may tighten it."""
    proxy_fail: FailPolicy = FailPolicy.FAIL_CLOSED
    """Whether an answer that could not be judged counts as accepted."""
    proxy_stream: Release = Release.HELD
    """When a streamed answer is passed on; `after` goes with the policies that show every answer."""
    proxy_resamples: Few = 2
    """How often the model is asked again, at most, by the policy `resample`."""
    proxy_samples: Few = 0
    """More answers drawn for every one, for consensus and stability."""
    proxy_max_samples: Few = 4
    """So many may the header `rafs-samples` ask for."""
    proxy_abstention: Annotated[str, Field(min_length=1, max_length=2_000)] = (
        "No answer is given here: the one that was written did not pass its checks."
    )
    """What is said in place of an answer."""
    guardrail_policy: Blocking = Blocking.BLOCK
    """What LiteLLM is told of an answer that is not accepted."""
    guardrail_fail: FailPolicy = FailPolicy.FAIL_CLOSED
    """Whether an answer that could not be judged counts as accepted there."""

    @field_validator("proxy_models", mode="before")
    @classmethod
    def _split_ids(cls, value: Any) -> Any:
        """Read ids that are separated by commas."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
