"""Settings of batches that the service scores in the background, and of the webhooks that tell their end."""

from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import NoDecode

Port = Annotated[int, Field(ge=1, le=65535)]
Pause = Annotated[float, Field(ge=0, le=7 * 86_400)]
DAY_S = 86_400
PAUSES_S = (0.0, 5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0)
"""Some two days in all."""


class JobSettings(BaseModel):
    """Part of `Settings`."""

    batch_concurrency: Annotated[int, Field(ge=1, le=1_000)] = 4
    """Items of batches that this process scores at once."""
    batches_at_once: Annotated[int, Field(ge=1, le=1_000)] = 4
    """Batches that this process works on at once; those beyond it wait in line."""
    batch_max_rows: Annotated[int, Field(ge=1, le=10_000_000)] = 100_000
    """Of one batch."""
    batch_max_bytes: Annotated[int, Field(ge=1, le=1 << 40)] = 1 << 30
    """Of one upload of JSON Lines; it goes to the database as it comes."""
    batch_max_unfinished: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Batches of one tenant that are not done; beyond it new ones are refused."""
    batch_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """Of an item whose model fails, before it counts as failed."""
    batches_kept_s: Annotated[int, Field(ge=60, le=3_650 * DAY_S)] = 7 * DAY_S
    """A batch and its results are kept so long after it is made, and longer only while it runs."""
    webhook_allow_http: bool = False
    """Webhooks may go out unencrypted."""
    webhook_ports: Annotated[tuple[Port, ...], NoDecode] = (80, 443)
    """Ports that a webhook may name."""
    webhook_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Names or addresses of hosts that webhooks may reach although they are internal."""
    webhook_pauses_s: Annotated[tuple[Pause, ...], NoDecode, Field(min_length=1, max_length=20)] = PAUSES_S
    """Before each attempt to tell a webhook, the first included."""
    webhook_timeout_s: Annotated[float, Field(gt=0, le=60)] = 10.0
    """For one delivery."""

    @field_validator("webhook_ports", "webhook_hosts", "webhook_pauses_s", mode="before")
    @classmethod
    def _split_values(cls, value: Any) -> Any:
        """Read values that are separated by commas."""
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value
