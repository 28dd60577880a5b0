"""The processes of this machine, as far as tests that end some of them need to know."""

import os
import select
from pathlib import Path


def descendants_of(process_id: int) -> list[int]:
    """Return the processes that a process started, and those that they did."""
    found: list[int] = []
    for task in Path(f"/proc/{process_id}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *descendants_of(child)]
    return found


def title_of(process_id: int) -> str:
    """Return how a process calls itself; nothing where it has ended."""
    try:
        return Path(f"/proc/{process_id}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def has_ended(process_id: int, within_s: float) -> bool:
    """Wait until a process has ended."""
    try:
        watched = os.pidfd_open(process_id)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], within_s)[0])
    finally:
        os.close(watched)
