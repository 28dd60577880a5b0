"""The shapes in which rows are logged, and how each becomes the fields of a request.

rafs          {problem, trace | steps, answer, generator | model, samples, rules, preset, seed, id}
openai        {messages: [...], response | choices | completion | output}, also below `request`
openai-batch  a line of the Batch API's output, joined with its request file by `custom_id`
langfuse      a trace or an observation of an export, from the interface, the API or a bucket
labelled      a row of a file that `rafs eval` reads; its labels and reference answers are left alone
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rafs.evaluation.datasets import is_labelled, traces_of
from rafs.evaluation.rows import Row
from service.batch.conversation import Exchange, read_exchange, refused
from service.batch.fields import find, unfold
from service.batch.source import Line

Fields = Mapping[str, object]
Lookup = Callable[[str], Fields | None]
"""Finds the request of a `custom_id`."""

PLAIN = ("problem", "trace", "answer", "generator", "samples", "rules", "preset", "seed")
IDS = ("id", "custom_id", "request_id")
"""Where rows have an id of their own, in the order in which they are looked at."""
MAX_ID_CHARS = 256
REPLIES = ("response", "choices", "completion", "output")
EXPORTED = ("trace_id", "traceId", "project_id", "projectId", "provided_model_name", "observations", "type")
"""Columns of Langfuse beside input and output; one of them at least is in every export."""
GENERATION = "GENERATION"


class LeftOut(Exception):
    """A row that is none of a model's replies, such as a span: neither scored nor an error."""


@dataclass(slots=True, kw_only=True)
class Draft:
    """What a row says of a request, not yet checked."""

    fields: dict[str, object] = field(default_factory=dict)
    id: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One way of logging."""

    name: str
    told_by: str
    """What a row is known by, in words."""
    fits: Callable[[Fields], bool]
    read: Callable[[Fields, Line, Lookup], Draft]
    """Raises InputError where a row breaks the shape, and LeftOut."""
    ids: Sequence[str] = IDS
    """Keys of a row's own id; the first that has one counts."""


def to_id(value: object) -> str | None:
    """Return a row's own id as text; it is repeated in the results and means nothing here."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)[:MAX_ID_CHARS] or None
    return None


def own_id(row: Fields, names: Sequence[str] = IDS) -> str | None:
    """Return the id that a row has under the first of some keys that holds one."""
    return next((found for name in names if (found := to_id(row.get(name))) is not None), None)


def _of_exchange(exchange: Exchange, model: object, row_id: object) -> Draft:
    draft = Draft(fields={"problem": exchange.problem, "trace": exchange.trace}, id=row_id)
    if exchange.samples:
        draft.fields["samples"] = list(exchange.samples)
    if isinstance(model, str) and model:
        draft.fields["generator"] = {"model": model}
    return draft


def _read_plain(row: Fields, line: Line, asked: Lookup) -> Draft:
    fields = {name: row[name] for name in PLAIN if row.get(name) is not None}
    if "trace" not in fields and row.get("steps") is not None:
        fields["trace"] = row["steps"]
    if isinstance(writer := fields.get("generator", row.get("model")), str):
        fields["generator"] = {"model": writer}
    return Draft(fields=fields, id=own_id(row))


def _chat_of(row: Fields) -> Fields:
    """Return what holds the messages: the row, or the request in it."""
    inner = unfold(row.get("request"))
    return inner if "messages" not in row and isinstance(inner, Mapping) else row


def _is_chat(row: Fields) -> bool:
    return isinstance(unfold(_chat_of(row).get("messages")), list)


def _read_chat(row: Fields, line: Line, asked: Lookup) -> Draft:
    chat = _chat_of(row)
    there = [name for name in REPLIES if name in row]
    name = next((name for name in there if row[name] is not None), next(iter(there), ""))
    reply = {"choices": unfold(row[name])} if name == "choices" else unfold(row.get(name))
    exchange = read_exchange(chat.get("messages"), reply, asked_in="messages", replied_in=name or None)
    model = find(row, f"{name}.model") or row.get("model") or chat.get("model")
    return _of_exchange(exchange, model, own_id(row) or find(row, f"{name}.id"))


def _is_batch_output(row: Fields) -> bool:
    return "custom_id" in row and ("response" in row or "error" in row) and not _is_chat(row)


def _read_batch_output(row: Fields, line: Line, asked: Lookup) -> Draft:
    custom_id = row.get("custom_id")
    if not isinstance(custom_id, str):
        raise refused("custom_id", custom_id, "text")
    status = find(row, "response.status_code")
    if status != 200:
        failed = find(row, "error.message") or find(row, "response.body.error.message") or status
        raise refused("response.status_code", failed, "200: what failed there has no reply")
    request = asked(custom_id)
    if request is None:
        raise refused("custom_id", custom_id, "one that stands in the file of --requests")
    body = find(row, "response.body")
    exchange = read_exchange(find(request, "body"), body, asked_in="body", replied_in="response.body")
    return _of_exchange(exchange, find(body, "model") or find(request, "body.model"), custom_id)


def _is_export(row: Fields) -> bool:
    return "input" in row and "output" in row and any(name in row for name in EXPORTED)


def _read_export(row: Fields, line: Line, asked: Lookup) -> Draft:
    kind = row.get("type")
    if isinstance(kind, str) and kind.upper() != GENERATION:
        raise LeftOut(f"observations of type {kind.upper()}")
    exchange = read_exchange(row["input"], row["output"], asked_in="input", replied_in="output")
    return _of_exchange(exchange, row.get("model") or row.get("provided_model_name"), own_id(row))


def _read_labelled(row: Fields, line: Line, asked: Lookup) -> Draft:
    place = Row(place=f"{line.name}:{line.number}", file=line.name, number=line.number, fields=row)
    traces = list(traces_of(place))
    if len(traces) != 1:
        raise refused("row", traces, "a row with one trace; `rafs eval` reads those with several")
    trace = traces[0]
    fields: dict[str, object] = {"problem": trace.problem, "trace": list(trace.steps)}
    optional = {"answer": trace.final_answer, "samples": list(trace.samples)}
    fields |= {name: value for name, value in optional.items() if value}
    if trace.generator:
        fields["generator"] = {"model": trace.generator}
    return Draft(fields=fields, id=trace.id)


SHAPES = (
    Shape(
        name="openai-batch",
        told_by="`custom_id` with `response` or `error`",
        fits=_is_batch_output,
        read=_read_batch_output,
        ids=("custom_id",),
    ),
    Shape(name="openai", told_by="`messages`", fits=_is_chat, read=_read_chat),
    Shape(
        name="langfuse",
        told_by="`input` and `output` beside columns such as `trace_id` or `type`",
        fits=_is_export,
        read=_read_export,
    ),
    Shape(name="labelled", told_by="the columns of a labelled data set", fits=is_labelled, read=_read_labelled),
    Shape(
        name="rafs",
        told_by="`problem` and `trace` or `steps`",
        fits=lambda row: "problem" in row and ("trace" in row or "steps" in row),
        read=_read_plain,
    ),
)
"""In the order in which they are tried."""
