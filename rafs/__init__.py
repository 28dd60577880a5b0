"""RAFS: does a chain of thought really carry its answer?"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rafs.client import AsyncClient, Client, NotAccepted, ProblemError, UnreachableError, gate

__all__ = ["AsyncClient", "Client", "NotAccepted", "ProblemError", "UnreachableError", "__version__", "gate"]
__version__ = "0.1.0"


if not TYPE_CHECKING:  # a type checker would take it for leave to ask for any name

    def __getattr__(name: str) -> object:
        """Load the client when it is first asked for: scoring in this process needs none of it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("rafs.client"), name)
