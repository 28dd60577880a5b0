"""Who a model of the registry is."""

from rafs.model_entry import ModelEntry
from rafs.registry import Registry
from rafs.types import ModelIdentity
from service.scorer import revision_of


def identity_of(entry: ModelEntry, registry: Registry) -> ModelIdentity:
    """Return id, families and revision of a model."""
    return ModelIdentity(
        id=entry.id,
        family=entry.family,
        revision=revision_of(entry),
        kin=tuple(sorted(registry.families_of_entry(entry) - {entry.family})),
    )
