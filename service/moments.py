"""Times as people read them: ISO 8601, UTC, to the second, wherever a command or a message tells one."""

from datetime import UTC, datetime


def show_moment(moment: datetime) -> str:
    """Return a time such as `2031-05-09T14:00:00Z`.

    Args:
        moment: With a time zone.
    """
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
