"""The operator's settings: one field each, read from the environment; docs/configuration.md describes them."""

import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_cache_path
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from rafs.errors import ConfigError
from service.gate_settings import GateSettings
from service.job_settings import JobSettings
from service.visible import show_value
from verifiers.oracles.citations import Style

PREFIX = "RAFS_"
VARIABLES = {"cache_dir": "RAFS_CACHE"}
"""Where the variable is not the prefix and the field's name."""

PULL = "rafs models pull"

Seconds = Annotated[float, Field(gt=0, le=3600)]
Limit = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Settings(BaseSettings, GateSettings, JobSettings):
    """Everything about this process that is not in models.yaml."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True
    )

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """0 takes a free one."""
    allow_remote: bool = False
    """Listen on an address that other machines reach and ask for no key: a proxy in front asks."""
    auth: Literal["auto", "required"] = "auto"
    """`auto` asks for a key only where other machines reach the service."""
    database: SecretStr = SecretStr("")
    """Address of the database, which may hold a password; empty is a file of SQLite in the user's data folder."""
    requests_per_minute: Limit | None = None
    """Of one key that has no limit of its own; None is no limit. Requests without a key share one."""
    traces_per_day: Limit | None = None
    """Of one key that has no limit of its own; None is no limit. Requests without a key share one."""
    idempotency_s: Annotated[int, Field(ge=60, le=30 * 86_400)] = 86_400
    """How long the answer to a request with an idempotency key is kept."""
    result_cache_s: Annotated[int, Field(ge=0, le=365 * 86_400)] = 86_400
    """How long a scored trace is answered from the database; 0 keeps none."""
    result_cache_rows: Annotated[int, Field(ge=1, le=10_000_000)] = 10_000
    """Scored traces in the database; beyond it the oldest go."""
    models_file: Path | None = None
    """None is the models.yaml that came with RAFS."""
    calibration: Path | None = None
    """An artefact of `rafs calibrate`; it replaces what models.yaml names for its preset."""
    citations: Path | None = None
    """Valid citations, one id a line; a step that cites another one is refuted."""
    citation_style: Style = Style.BRACKETED
    """How they are written in traces."""
    cache_dir: Path = Field(default_factory=lambda: user_cache_path("rafs"), validation_alias=VARIABLES["cache_dir"])
    """Folder of the weights."""
    preset: str = "standard"
    """Used where a request names none."""
    edit_secret: SecretStr = SecretStr("")
    """Mixed into the seed of the counterfactual edits, so that the writer of a trace cannot foresee them."""
    max_body_bytes: Annotated[int, Field(ge=1, le=1 << 30)] = 4 << 20
    """32 samples of the longest trace, in ASCII, still fit."""
    max_in_flight: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Requests being read or scored at once; with the body limit it bounds what they hold in memory."""
    max_queued_tokens: Annotated[int, Field(ge=1, le=1 << 31)] = 131_072
    """Tokens, estimated from characters, that may wait ahead of a request: those of requests as urgent or more."""
    drain_s: Seconds = 30.0
    """After the signal to stop, requests in flight get this long to end; new ones are refused from then on."""
    body_timeout_s: Seconds = 30.0
    """A client that sends slower gives its place to another."""
    torch_threads: Annotated[int, Field(ge=1, le=1024)] = 1
    """More than one pays only on cores that nothing else uses."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @property
    def pull_command(self) -> str:
        """The command that fetches the weights of these settings' models."""
        return PULL if self.models_file is None else f"{PULL} --models-file {shlex.quote(str(self.models_file))}"


def load_settings(**options: Any) -> Settings:
    """Return the settings of the environment, with command-line options above them.

    Args:
        options: By field; None means not given.

    Raises:
        ConfigError: A value is not allowed; the message names the variable or option and what is.
    """
    try:
        return Settings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if options.get(name) is not None:
            source = f"--{name.replace('_', '-')}"
        else:
            source = name if name.startswith(PREFIX) else VARIABLES.get(name, PREFIX + name.upper())
        allowed = first["msg"].removeprefix("Input should be ")
        raise ConfigError(f"{source}: got {show_value(first['input'])}, allowed {allowed}") from None
