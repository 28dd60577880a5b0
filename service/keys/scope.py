"""What a key may be used for."""

from enum import StrEnum


class Scope(StrEnum):
    """A right; none contains another."""

    SCORE = "score"
    """Score and gate single traces."""
    BATCH = "batch"
    """Submit, watch and cancel batches."""
    ADMIN = "admin"
    """Make, list and revoke keys, those of all tenants."""
