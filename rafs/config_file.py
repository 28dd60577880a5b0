"""Reading an operator's YAML file: no key twice, no unknown key, and one clear message for what is wrong."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rafs.errors import ConfigError

MAX_FILE_BYTES = 1 << 20
"""Such a file is written by hand; more than 1 MiB is some other file."""
MAX_SHOWN = 80
"""Characters of a wrong value that a message repeats."""
SECRET_KEY = "api_key_env"
"""Under it may stand the key itself, pasted where its variable's name belongs: never shown."""


_Schema = TypeVar("_Schema", bound=BaseModel)


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice; plain YAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build one mapping."""
        seen: set[str] = set()
        for key, _ in node.value:
            where = f"line {key.start_mark.line + 1}"
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.YAMLError(f"{where}: got a {key.id} as key, allowed plain text")
            if key.value in seen:
                raise yaml.YAMLError(f"{where}: got key {key.value!r} twice, allowed every key once")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_config(path: Path, schema: type[_Schema]) -> _Schema:
    """Read a YAML file and check it.

    Raises:
        ConfigError: It cannot be read, is no YAML, or does not fit the schema; the message names file, key,
            what was got and what is allowed.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ConfigError(f"{path}: got {path.stat().st_size} bytes, at most {MAX_FILE_BYTES} are read")
        content = yaml.load(path.read_text(encoding="utf-8"), _StrictLoader)  # noqa: S506 - a SafeLoader
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path}: is no valid YAML: {' '.join(str(error).split())}") from error
    if content is None:
        keys = [field.alias or name for name, field in schema.model_fields.items()]
        raise ConfigError(f"{path}: is empty, a mapping with {', '.join(keys[:-1])} and {keys[-1]} is needed")
    try:
        return schema.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_explain(error)}") from None


def complaint(got: str, allowed: str, where: str = "") -> PydanticCustomError:
    """Return the error for a rule that spans keys; raise it inside a validator.

    Args:
        got: What the file says, quoted.
        allowed: What it may say.
        where: Dotted path of the key, below the object that is being checked.
    """
    return PydanticCustomError("complaint", "{got}{allowed}", {"got": got, "allowed": allowed, "where": where})


def shaped(pattern: str, allowed: str) -> AfterValidator:
    """Return the check that a text has a form, with words for the form instead of the pattern."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise complaint(_show(value), allowed)
        return value

    return AfterValidator(check)


def listed(values: Iterable[object]) -> str:
    """Return values quoted, sorted and joined, for a message."""
    return ", ".join(sorted(repr(str(value)) for value in values)) or "nothing"


def _explain(error: ValidationError) -> str:
    faults = error.errors()
    first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")  # a misspelt key is also a missing one
    rest = len(faults) - 1
    loc = first["loc"]
    if first["type"] == "complaint":
        got, allowed, where = (first["ctx"][key] for key in ("got", "allowed", "where"))
        loc = (*loc, *where.split("."))
    else:
        got, allowed = _got(first), _allowed(first)
    if first["type"] == "extra_forbidden":
        beside = [fault["loc"][-1] for fault in faults if fault["type"] == "missing" and fault["loc"][:-1] == loc[:-1]]
        allowed += f"; missing beside it: {listed(beside)}" if beside else ""
        rest -= len(beside)
    more = f" (and {rest} more)" if rest else ""
    if SECRET_KEY in loc:
        got = "something that is not a variable's name (not shown here)"
    return f"{_path(loc)}: got {got}, allowed {allowed}{more}"


def _got(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "nothing"
        case "extra_forbidden":
            return f"unknown key {str(error['loc'][-1])!r}"
        case _:
            return _show(error["input"])


def _show(value: object) -> str:
    shown = repr(value)
    if re.search(r"://.*[@?#]", shown):  # user, password and query of a URL are where keys stand
        return "a URL with more than host, port and path (not shown here)"
    return shown if len(shown) <= MAX_SHOWN else f"{shown[:MAX_SHOWN]}..."


def _allowed(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "no omission: this key is required"
        case "extra_forbidden":
            return "only known keys"
        case "enum" | "literal_error":
            return str(error["ctx"]["expected"]).replace(" or ", ", ")
        case _:
            message = error["msg"].removeprefix("Input should be ").removeprefix("a valid ")
            return message[:1].lower() + message[1:]


def _path(loc: tuple[int | str, ...]) -> str:
    keys = [str(part) for part in loc if part not in ("", "[key]")]
    return "".join(f"[{key}]" if key.isdigit() else f".{key}" for key in keys).lstrip(".") or "the whole file"
