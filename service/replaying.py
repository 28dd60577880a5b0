"""What `rafs replay` reads, and what it says of the score that came out."""

import json

from pydantic import BaseModel, ValidationError

from rafs import __version__
from rafs.errors import InputError
from rafs.record import Record
from rafs.wire import ScoreResponse
from service.input_files import read_bytes
from service.visible import show_text


class Outcome(BaseModel):
    """A score and its status."""

    score: float | None
    status: str

    def __str__(self) -> str:
        return f"score {'none' if self.score is None else repr(self.score)}, status {self.status}"


class Comparison(BaseModel):
    """A replayed score beside the recorded one."""

    replayed: Outcome
    recorded: Outcome | None
    """None where the file holds a record without its response."""
    equal: bool | None
    replayed_by: str
    """Version of RAFS."""
    recorded_by: str

    def to_text(self) -> str:
        """Return it in lines for people."""
        lines = [str(self.replayed)]
        if self.recorded is None:
            lines.append("nothing to compare with: the file holds no response")
        else:
            lines.append("equal to the recorded score" if self.equal else f"DIFFERENT: recorded were {self.recorded}")
        if self.recorded_by != self.replayed_by:
            lines.append(
                f"recorded by rafs {show_text(self.recorded_by)}, replayed by rafs {self.replayed_by}: "
                "the versions may score differently"
            )
        return "\n".join(lines)


def compare(record: Record, recorded: ScoreResponse | None, replayed: ScoreResponse) -> Comparison:
    """Compare a replayed response with the recorded one."""
    now = Outcome(score=replayed.score, status=replayed.status)
    then = None if recorded is None else Outcome(score=recorded.score, status=recorded.status)
    return Comparison(
        replayed=now,
        recorded=then,
        equal=None if then is None else now == then,
        replayed_by=__version__,
        recorded_by=record.provenance.rafs_version,
    )


def read_record(name: str) -> tuple[Record, ScoreResponse | None]:
    """Return the record in a file, and the response it came with.

    Raises:
        InputError: The file cannot be read, or holds no record.
    """
    content = read_bytes(name)
    try:
        found = json.loads(content)
        if not isinstance(found, dict):
            raise _no_record(name, "it holds no JSON object")
        if "problem" in found:
            raise _no_record(name, "it is a request; score it with --record FILE, then replay FILE")
        if "tape" in found:
            return Record.model_validate_json(content), None
        response = ScoreResponse.model_validate_json(content)
    except ValidationError as error:
        raise _no_record(name, _explain(error)) from error
    except (ValueError, RecursionError) as error:
        raise _no_record(name, "it is no JSON") from error
    if response.record is None:
        message = f'{show_text(name)} has no record; score with --record FILE, or with include: ["record"]'
        raise InputError(message, field="RECORD", got="null", allowed="a record")
    return response.record, response


def _no_record(name: str, why: str) -> InputError:
    message = f"{show_text(name)} is no record of this version: {why}"
    return InputError(message, field="RECORD", got=why, allowed="what --record wrote")


def _explain(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = show_text(".".join(map(str, first["loc"])))
    match first["type"]:
        case "missing":
            return f"the key `{key}` is missing"
        case "extra_forbidden":
            return f"the key `{key}` is not known"
        case _:
            return f"`{key}`: {show_text(first['msg'])}"
