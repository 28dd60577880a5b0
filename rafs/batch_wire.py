"""JSON of batches that the service scores as durable jobs."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from rafs.limits import MAX_SEED
from rafs.messages import Name, Wire
from rafs.request import GeneratorInfo, ScoreRequest

MAX_INLINE = 1_000
"""Requests in one body; more are uploaded as JSON Lines."""
MAX_ID_CHARS = 256
MAX_METADATA = 16
MAX_URL_CHARS = 2_048
SECRET_PATTERN = r"^whsec_[A-Za-z0-9+/]{32,86}={0,2}$"
"""24 to 64 bytes in base64, as Standard Webhooks asks."""

Status = Literal["queued", "running", "completed", "failed", "cancelled"]
CustomId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID_CHARS)]
MetadataName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
MetadataText = Annotated[str, StringConstraints(max_length=512)]


class BatchItem(ScoreRequest):
    """A request to score, as of `POST /v1/score`, with a name of the caller's."""

    custom_id: CustomId | None = Field(default=None, description="Repeated in the results; it need not be unique.")

    def to_request(self, preset: str, seed: int | None, generator: GeneratorInfo | None) -> ScoreRequest:
        """Return the request alone, with the batch's choices where it makes none."""
        given = {name: getattr(self, name) for name in ScoreRequest.model_fields}
        if given["preset"] is None:
            given["preset"] = preset
        if seed is not None and "seed" not in self.model_fields_set:
            given["seed"] = seed
        if given["generator"] is None:
            given["generator"] = generator
        return ScoreRequest.model_construct(**given)


class WebhookIn(Wire):
    """Where the end of a batch is told."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=MAX_URL_CHARS)] = Field(
        description="Address that takes a POST signed as Standard Webhooks says.",
        examples=["https://example.com/hooks/rafs"],
    )
    secret: Annotated[str, StringConstraints(pattern=SECRET_PATTERN)] | None = Field(
        default=None, description="`whsec_` with 24 to 64 bytes in base64; without it one is made and returned once."
    )


class BatchRequest(Wire):
    """Traces to score in the background."""

    requests: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_INLINE)]
    preset: Name | None = Field(default=None, description="Of requests that name none.")
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED, description="Of requests that name none.")
    generator: GeneratorInfo | None = Field(default=None, description="Of requests that name none.")
    full: bool = Field(default=False, description="Keep whole responses, not only their records.")
    webhook: WebhookIn | None = None
    metadata: Annotated[dict[MetadataName, MetadataText], Field(max_length=MAX_METADATA)] = Field(
        default={}, description="The caller's own; it is returned as it is."
    )


class WebhookOut(Wire):
    """How far telling the end of a batch is."""

    url: str
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    error: str | None = Field(description="What the last attempt met.")
    secret: str | None = Field(default=None, description="Of a batch that was just made; it cannot be had again.")


class BatchCounts(Wire):
    """Rows of a batch, duplicates included."""

    total: int
    distinct: int = Field(description="Different requests; each is scored once.")
    left_out: int = Field(description="Rows that are no model's replies, such as spans; not part of the total.")
    scored: int
    failed: int
    waiting: int


class BatchStatus(Wire):
    """A batch and how far it is. Times are milliseconds since the epoch."""

    id: str
    status: Status
    preset: str
    counts: BatchCounts
    progress: float = Field(description="Share of the rows that are done, 0 to 1.")
    rows_per_second: float | None = Field(description="Since it was started; null before the first row.")
    seconds_left: float | None = Field(description="At that rate; null where nothing is left or known.")
    tokens: int = Field(description="That went through models.")
    failure: str | None = Field(description="Why the batch failed as a whole.")
    created_at: int
    started_at: int | None
    finished_at: int | None
    expires_at: int = Field(description="From then on it may be gone with its results.")
    metadata: dict[str, str]
    webhook: WebhookOut | None

    @property
    def is_over(self) -> bool:
        """Whether nothing changes any more."""
        return self.status in ("completed", "failed", "cancelled")


class BatchList(Wire):
    """Batches, the newest first."""

    batches: list[BatchStatus]
    next: str | None = Field(description="The `before` of the next page; null on the last.")


class BatchRecord(Wire):
    """One line of the results; the names are those of `rafs batch`."""

    row: int = Field(description="1-based.")
    id: str | None = Field(description="The `custom_id`, or the id that the row had.")
    duplicate_of: int | None = Field(description="The row that asked the same before; it was scored once.")
    status: str
    outcome: str
    reasoning: str
    answer: str
    score: float | None
    interval_low: float | None
    interval_high: float | None
    suspect_step: int | None
    reasons: list[str]
    coverage: float
    independence: str
    tokens: int = Field(description="That this row cost; 0 for a duplicate.")
    ms: float
    request_hash: str
    rafs_version: str
    config_hash: str
    calibration: str
    models: list[str]
    response: str | None = Field(default=None, description="The whole response as JSON, of a batch that is `full`.")


class BatchError(Wire):
    """One line of the errors: a row without a score."""

    row: int
    id: str | None
    duplicate_of: int | None
    problem: str = Field(description="The kind: input, backend, timeout, overloaded or internal.")
    message: str
    retryable: bool = Field(description="Whether the same row may go well in another batch.")
