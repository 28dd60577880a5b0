"""How a command ends: one clear line on stderr, and an exit code that says whose turn it is."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from rafs.errors import ConfigError, InputError, RafsError
from service.request_body import RequestError
from service.visible import show_text

MAX_LINE_CHARS = 1_000
OUR_FIELDS = ("FILE", "RECORD", "ID", "--record")
"""Arguments of the command line: what is wrong with one is said whole in the message."""


class Exit(IntEnum):
    """Exit codes."""

    DONE = 0
    DIFFERENT = 1
    """`rafs replay` gave another score than the recorded one, `rafs models check` found a fault, or `rafs calibrate
    --check` drift."""
    INPUT = 2
    CONFIG = 3
    BACKEND = 4


def exit_code(error: RafsError) -> Exit:
    """Return the code of one of our errors."""
    match error:
        case InputError():
            return Exit.INPUT
        case ConfigError():
            return Exit.CONFIG
        case _:
            return Exit.BACKEND


def complain(error: RafsError, about: str = "") -> Exit:
    """Print what is wrong, and return the exit code."""
    message = str(error)
    if isinstance(error, RequestError) and error.malformed:
        message += "; for a plain-text trace give its problem too: --problem TEXT"
    elif isinstance(error, InputError) and error.field not in OUR_FIELDS and error.allowed not in message:
        message += f"; field `{error.field}`: got {error.got}, allowed: {error.allowed}"
    where = f"{about}: " if about and not message.startswith(show_text(about)) else ""
    print(f"rafs: {show_text(where + message, MAX_LINE_CHARS)}", file=sys.stderr)
    return exit_code(error)


@contextmanager
def explained() -> Iterator[None]:
    """Turn our errors, and a library that is not installed, into one line and an exit code."""
    try:
        yield
    except RafsError as error:
        raise typer.Exit(complain(error)) from error
    except ModuleNotFoundError as error:
        missing = ConfigError(f"{error.name} is not installed: pip install 'rafs[local]'")
        raise typer.Exit(complain(missing)) from error
