"""The client of a running service: typed requests and results, and a gate for functions."""

from rafs.client.clients import AsyncClient, Client
from rafs.client.errors import Fault, ProblemError, ReplyError, UnreachableError
from rafs.client.events import ScoreEvent
from rafs.client.gating import RAISE, NotAccepted, gate

__all__ = [
    "RAISE",
    "AsyncClient",
    "Client",
    "Fault",
    "NotAccepted",
    "ProblemError",
    "ReplyError",
    "ScoreEvent",
    "UnreachableError",
    "gate",
]
