"""Does the server of an endpoint model answer, and does it know the model?"""

import asyncio
from collections.abc import Mapping

from rafs.engines.server_connection import Json, RejectedError, ServerConnection, ServerSettings
from rafs.errors import BackendError
from rafs.model_entry import ModelEntry
from service.exits import MAX_LINE_CHARS
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
        ConfigError: The key's environment variable is named but not set, or the address is none.
    """
    settings = ServerSettings(
        base_url=entry.location,
        model=entry.model or entry.id,
        api_key_env=entry.api_key_env,
        deadline_s=TIMEOUT_S,
        attempts=1,
    )
    try:
        is_tei = entry.engine == "tei"
        names = asyncio.run(_list_models(settings, is_tei=is_tei))
        return _look_up(settings.model, names, "text-embeddings-inference" if is_tei else "OpenAI-compatible")
    except RejectedError as error:
        match error.status:
            case 404 | 405:
                return True, "reachable; it has no list of models to look the name up in"
            case 401 | 403:
                return False, f"reachable, but it refuses the key in {entry.api_key_env or 'api_key_env (none is set)'}"
            case status:
                return False, f"reachable, but it answers with status {status}"
    except BackendError as error:
        return False, f"NOT usable: {show_text(str(error), MAX_LINE_CHARS)}"


async def _list_models(settings: ServerSettings, *, is_tei: bool) -> list[str] | None:
    """Return the served names, None where the reply is no list of models."""
    connection = ServerConnection(settings)
    try:
        if is_tei:
            name = (await connection.get("/info")).get("model_id")
            return [name] if isinstance(name, str) else None
        return _names(await connection.get("/v1/models"))
    finally:
        await connection.close()


def _names(reply: Mapping[str, Json]) -> list[str] | None:
    rows = reply.get("data")
    return [str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row] if isinstance(rows, list) else None


def _look_up(model: str, names: list[str] | None, kind: str) -> tuple[bool, str]:
    if names is None:
        return False, f"reachable, but what answers is no {kind} server"
    if model in names:
        return True, f"reachable; serves {show_text(model)!r}"
    others = ", ".join(repr(show_text(name)) for name in names[:MAX_NAMES]) or "none"
    return False, f"reachable, but it does not list {show_text(model)!r}; it lists {others}"
