"""The text of a key: `rafs_`, an id that is no secret, and 256 random bits.

At rest there is only the SHA-256 of the whole text. A slow, salted hash protects secrets that people choose, because
those can be guessed; among 2^256 there is nothing to guess, and a slow hash would cost every request milliseconds and
give whoever sends wrong keys a way to keep the service busy.
"""

import hashlib
import re
import secrets

PREFIX = "rafs_"
ID_BYTES = 6
SECRET_BYTES = 32
SHAPE = re.compile(r"rafs_(?P<id>[0-9a-f]{12})_[A-Za-z0-9_-]{43}", re.ASCII)
ID_SHAPE = re.compile(r"[0-9a-f]{12}", re.ASCII)


def draw_key() -> tuple[str, str]:
    """Return the id and the text of a new key, from the system's source of randomness."""
    key_id = secrets.token_hex(ID_BYTES)
    return key_id, f"{PREFIX}{key_id}_{secrets.token_urlsafe(SECRET_BYTES)}"


def id_of(key: str) -> str | None:
    """Return the id in the text of a key, None where it has not the shape of one."""
    found = SHAPE.fullmatch(key)
    return found["id"] if found else None


def digest_of(key: str) -> bytes:
    """Return the SHA-256 of a key that has the shape of one."""
    return hashlib.sha256(key.encode("ascii")).digest()
