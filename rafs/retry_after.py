"""How long a server asks its client to wait."""

import math
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def read_retry_after(header: str) -> float | None:
    """Read a Retry-After header, which holds seconds or a date.

    Args:
        header: Its value; empty where there is none.

    Returns:
        Seconds from now, at least 0; None where it says nothing that can be read.
    """
    with suppress(ValueError):
        seconds = float(header)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    try:
        at = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
