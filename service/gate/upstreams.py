"""The models that the proxy passes requests on to."""

from rafs.errors import ConfigError
from rafs.model_entry import SourceKind
from rafs.registry import load_registry
from service.gate.upstream import Upstream
from service.gate_settings import Release
from service.settings import Settings

VARIABLE = "RAFS_PROXY_MODELS"


def open_upstreams(settings: Settings) -> dict[str, Upstream]:
    """Return the servers of the proxy's models, by the ids that callers use; empty where there is no proxy.

    Raises:
        ConfigError: A model is not in models.yaml or has no server, or its key is not set; or streams shall be passed
            on as they come though the policy keeps answers back.
    """
    if not settings.proxy_models:
        return {}
    if settings.proxy_stream is Release.AFTER and not settings.proxy_policy.shows:
        got = f"'after' with RAFS_PROXY_POLICY={settings.proxy_policy}"
        raise ConfigError(f"RAFS_PROXY_STREAM: got {got}, allowed 'held': that policy keeps answers back")
    upstreams: dict[str, Upstream] = {}
    registry = load_registry(settings.models_file)
    for model_id in settings.proxy_models:
        entry = registry.model(model_id)
        if entry.kind is not SourceKind.ENDPOINT or entry.engine is not None:
            allowed = "models with `source: endpoint:` of a server that speaks the OpenAI protocol"
            raise ConfigError(f"{VARIABLE}: got {model_id!r}, which has none, allowed {allowed}")
        upstreams[model_id] = Upstream(entry)
    return upstreams
