"""Does the server of an endpoint model answer, and does it know the model?"""

import os

import httpx

from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry
from service.visible import show_text

TIMEOUT_S = 5.0
"""A list of models takes a server milliseconds."""
MAX_NAMES = 5
"""Names of other models that the line repeats."""


def try_server(entry: ModelEntry) -> tuple[bool, str]:
    """Ask the server for its list of models.

    Returns:
        Whether nothing is wrong, and what was found. A server without such a list may still serve the model.

    Raises:
        ConfigError: The key's environment variable is named but not set.
    """
    address = f"{entry.location.rstrip('/').removesuffix('/v1')}/v1/models"
    try:
        reply = httpx.get(address, headers=_authorization(entry), timeout=TIMEOUT_S)
    except (httpx.TimeoutException, httpx.TransportError) as error:
        return False, f"NOT reachable: {address}: {type(error).__name__}"
    match reply.status_code:
        case 200:
            return _look_up(entry.model or entry.id, _names(reply))
        case 404 | 405:
            return True, "reachable; it has no list of models to look the name up in"
        case 401 | 403:
            return False, f"reachable, but it refuses the key in {entry.api_key_env or 'api_key_env (none is set)'}"
        case status:
            return False, f"reachable, but it answers {address} with status {status}"


def _authorization(entry: ModelEntry) -> dict[str, str]:
    if entry.api_key_env is None:
        return {}
    key = os.environ.get(entry.api_key_env, "").strip()
    if not key or not all("!" <= char <= "~" for char in key):  # httpx would show what fits no header
        raise ConfigError(f"environment variable {entry.api_key_env!r} (api_key_env) is not set, or holds no key")
    return {"Authorization": f"Bearer {key}"}


def _names(reply: httpx.Response) -> list[str] | None:
    """Return the served names, None where the reply is no list of models."""
    try:
        content = reply.json()
    except ValueError:
        return None
    rows = content.get("data") if isinstance(content, dict) else None
    return [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row] if isinstance(rows, list) else None


def _look_up(model: str, names: list[str] | None) -> tuple[bool, str]:
    if names is None:
        return False, "reachable, but what answers is no OpenAI-compatible server"
    if model in names:
        return True, f"reachable; serves {show_text(model)!r}"
    others = ", ".join(repr(show_text(name)) for name in names[:MAX_NAMES]) or "none"
    return False, f"reachable, but it does not list {show_text(model)!r}; it lists {others}"
