"""When two rows ask the same: the canonical form of a request, and its hash."""

import hashlib
import json

from rafs.request import ScoreRequest


def canonical(request: ScoreRequest) -> bytes:
    """Return the one way to write a request: keys in order, and nothing that says what would hold without it.

    Two requests with equal bytes get equal scores from the same models: nothing outside of them goes into a score.
    """
    fields = request.model_dump(mode="json", exclude_defaults=True)
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def hash_of(canonical_bytes: bytes) -> bytes:
    """Return the SHA-256 of a canonical request."""
    return hashlib.sha256(canonical_bytes).digest()
