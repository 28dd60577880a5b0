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


def scipy_optimize() -> ModuleType:
    """Return `scipy.optimize`.

    Raises:
        ConfigError: scipy is not installed.
    """
    return _library("scipy.optimize", "fits")


def linear_models() -> ModuleType:
    """Return `sklearn.linear_model`.

    Raises:
        ConfigError: scikit-learn is not installed.
    """
    return _library("sklearn.linear_model", "fits")


def pyzipper() -> ModuleType:
    """Return `pyzipper`, which reads archives that are encrypted with AES, as `zipfile` does not.

    Raises:
        ConfigError: It is not installed.
    """
    return _library("pyzipper", "data sets in archives")


def filelock() -> ModuleType:
    """Return `filelock`.

    Raises:
        ConfigError: It is not installed.
    """
    return _library("filelock", "runs that keep others out of their folder")


def matplotlib() -> ModuleType:
    """Return `matplotlib` with its figures loaded.

    Raises:
        ConfigError: It is not installed.
    """
    use = "the plots of a report"
    _library("matplotlib.figure", use)
    return _library("matplotlib", use)


def jinja2() -> ModuleType:
    """Return `jinja2`.

    Raises:
        ConfigError: It is not installed.
    """
    return _library("jinja2", "reports in HTML")


def sklearn_metrics() -> ModuleType:
    """Return `sklearn.metrics`.

    Raises:
        ConfigError: scikit-learn is not installed.
    """
    return _library("sklearn.metrics", "curves")


def n_usable_cores() -> int:
    """Return the cores that this process may use: a container or its affinity may leave it fewer than there are.

    Raises:
        ConfigError: joblib, which comes with scikit-learn, is not installed.
    """
    return int(_library("joblib", "runs on all cores").cpu_count())


def _library(name: str, use: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        missing = {"sklearn": "scikit-learn"}.get(top := name.partition(".")[0], top)
        raise ConfigError(f"{use} need {missing}, which is not installed: pip install 'rafs[eval]'") from error
