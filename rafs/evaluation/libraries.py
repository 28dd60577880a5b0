"""Libraries that measuring needs and scoring does not."""

from importlib import import_module
from types import ModuleType

from rafs.errors import ConfigError


def scipy_stats() -> ModuleType:
    """Return `scipy.stats`.

    Raises:
        ConfigError: scipy is not installed.
    """
    return _library("scipy.stats", "exact intervals and tests")


def pyzipper() -> ModuleType:
    """Return `pyzipper`, which reads archives that are encrypted with AES, as `zipfile` does not.

    Raises:
        ConfigError: It is not installed.
    """
    return _library("pyzipper", "data sets in archives")


def _library(name: str, use: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        missing = name.partition(".")[0]
        raise ConfigError(f"{use} need {missing}, which is not installed: pip install 'rafs[eval]'") from error
