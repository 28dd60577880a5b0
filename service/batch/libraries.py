"""Libraries that batches need and scoring does not."""

from importlib import import_module
from types import ModuleType

from rafs.errors import ConfigError


def parquet() -> ModuleType:
    """Return `pyarrow.parquet`.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    return _library("pyarrow.parquet", "batch", "Parquet files")


def arrow() -> ModuleType:
    """Return `pyarrow`.

    Raises:
        ConfigError: It is not installed.
    """
    return _library("pyarrow", "batch", "Parquet files")


def ray_data() -> ModuleType:
    """Return `ray.data`.

    Raises:
        ConfigError: Ray is not installed.
    """
    return _library("ray.data", "ray", "batches on a cluster")


def _library(name: str, extra: str, use: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{use}: {error.name} is not installed: pip install 'rafs[{extra}]'") from error
