"""One model of models.yaml by its id, outside any preset: for audits, graders and protocols."""

from contextlib import AsyncExitStack

from rafs.errors import InputError
from rafs.model_entry import ModelEntry, Role
from rafs.registry import Registry
from service.identity import identity_of
from service.settings import Settings
from service.stock import Order
from service.visible import show_text


def entry_named(model: str, role: Role, registry: Registry, option: str = "ID") -> ModelEntry:
    """Return the entry of a model that has a role.

    Raises:
        InputError: There is none; the message names those that there are, or how to add one.
    """
    known = {entry.id: entry for entry in registry.models if role in entry.roles}
    if model not in known:
        shown, named = show_text(model), {entry.id for entry in registry.models}
        allowed = ", ".join(known) or "none yet"
        message = f"there is no {role.value} {shown!r}; known are {allowed}"
        if model in named:
            message += f": give it the role {role.value!r} in a copy of models.yaml, with --models-file"
        elif not known:
            message += f": add a model with role {role.value!r} to a copy of models.yaml, with --models-file"
        raise InputError(message, field=option, got=shown, allowed=allowed)
    return known[model]


def order_of(entry: ModelEntry, registry: Registry, settings: Settings, closing: AsyncExitStack) -> Order:
    """Return what builds a model alone; what it opens is closed with `closing`."""
    return Order(
        entry=entry,
        identity=identity_of(entry, registry),
        cache=settings.cache_dir,
        threads=settings.torch_threads,
        pull=settings.pull_command,
        fence_key=settings.edit_secret.get_secret_value().encode(),
        engines={},
        closing=closing,
    )
