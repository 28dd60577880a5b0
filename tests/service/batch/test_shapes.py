import json
from collections.abc import Mapping
from typing import Any

import pytest

from rafs.errors import InputError
from service.batch.mapping import Choice, Mapped, Mapper, choose_shape, parse_paths
from service.batch.shapes import LeftOut
from service.batch.source import Line, Position, parse_row
from service.request_body import Fault

MESSAGES = [{"role": "user", "content": "What is 2 + 2?"}]
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "2 + 2 = 4", "refusal": None}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 8, "total_tokens": 17},
}
BATCH_OUTPUT = {
    "id": "batch_req_1",
    "custom_id": "request-1",
    "response": {"status_code": 200, "request_id": "req_1", "body": COMPLETION},
    "error": None,
}
BATCH_INPUT = {
    "custom_id": "request-1",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {"model": "gpt-4o-mini", "messages": MESSAGES},
}
BODY = {"body": BATCH_INPUT["body"]}
BUCKET = {  # Langfuse: an observation as it is written into a bucket, with text in its columns
    "id": "obs-1",
    "trace_id": "trace-1",
    "type": "GENERATION",
    "input": json.dumps(MESSAGES),
    "output": json.dumps({"role": "assistant", "content": "2 + 2 = 4"}),
    "provided_model_name": "gpt-4o-mini",
}
API = {  # and as the API and the interface give it
    "id": "obs-1",
    "traceId": "trace-1",
    "type": "GENERATION",
    "input": {"messages": MESSAGES},
    "output": {"role": "assistant", "content": "2 + 2 = 4"},
    "model": "gpt-4o-mini",
}
ROWS: dict[str, dict[str, Any]] = {
    "rafs": {"id": 7, "problem": "What is 2 + 2?", "steps": ["2 + 2 = 4"], "model": "gpt-4o-mini", "at": "2026-01-01"},
    "openai": {"id": "log-1", "messages": MESSAGES, "response": COMPLETION},
    "openai-batch": BATCH_OUTPUT,
    "langfuse": BUCKET,
    "labelled": {"id": "x", "problem": "What is 2 + 2?", "steps": ["2 + 2 = 4"], "first_error": None},
}


def line_of(row: Mapping[str, Any] | Fault) -> Line:
    return Line(file=0, name="log.jsonl", number=1, row=row, after=Position())


def read(row: Mapping[str, Any], *, paths: tuple[str, ...] = (), choice: Choice | None = None) -> Mapped:
    line, parsed = line_of(row), parse_paths(paths)
    shape = choose_shape("auto", parsed, [line], "log.jsonl")
    asked = {"request-1": BODY}
    return Mapper(shape, parsed, choice or Choice(preset="gate"), asked.get).read(line)


@pytest.mark.parametrize("name", list(ROWS))
def test_a_shape_is_told_by_its_rows(name: str) -> None:
    shape = choose_shape("auto", {}, [line_of(ROWS[name])], "log.jsonl")
    assert shape is not None
    assert shape.name == name


@pytest.mark.parametrize("name", list(ROWS))
def test_every_shape_gives_problem_and_trace(name: str) -> None:
    request = read(ROWS[name]).request
    text = request.trace_text()
    assert (request.problem, text if isinstance(text, str) else text[0]) == ("What is 2 + 2?", "2 + 2 = 4")


@pytest.mark.parametrize(
    ("row", "model"),
    [
        pytest.param(ROWS["rafs"], "gpt-4o-mini", id="rafs"),
        pytest.param(ROWS["openai"], "gpt-4o-mini-2024-07-18", id="openai"),
        pytest.param(BATCH_OUTPUT, "gpt-4o-mini-2024-07-18", id="openai-batch"),
        pytest.param(BUCKET, "gpt-4o-mini", id="langfuse, bucket"),
        pytest.param(API, "gpt-4o-mini", id="langfuse, API"),
    ],
)
def test_the_writer_is_known_where_the_log_names_it(row: Mapping[str, Any], model: str) -> None:
    generator = read(row).request.generator
    assert generator is not None
    assert generator.model == model


@pytest.mark.parametrize(
    ("row", "own"),
    [
        pytest.param(ROWS["rafs"], "7", id="a number"),
        pytest.param(ROWS["openai"], "log-1", id="of the row"),
        pytest.param({"messages": MESSAGES, "response": COMPLETION}, "chatcmpl-1", id="of the reply"),
        pytest.param(BATCH_OUTPUT, "request-1", id="custom"),
        pytest.param(BUCKET, "obs-1", id="of the observation"),
    ],
)
def test_a_row_keeps_its_own_id(row: Mapping[str, Any], own: str) -> None:
    assert read(row).id == own


CHAT = {"messages": MESSAGES, "response": "2 + 2 = 4"}
PLAIN = {"problem": "What is 2 + 2?", "trace": "2 + 2 = 4"}


@pytest.mark.parametrize("row", [CHAT, PLAIN, BUCKET], ids=["openai", "rafs", "langfuse"])
@pytest.mark.parametrize(
    ("ids", "own"),
    [
        pytest.param({"id": None, "custom_id": "c"}, "c", id="custom alone"),
        pytest.param({"id": "i", "custom_id": "c"}, "i", id="both"),
        pytest.param({"id": "", "custom_id": "c", "request_id": "r"}, "c", id="an empty id"),
    ],
)
def test_the_id_of_a_row_goes_before_its_custom_id(row: dict[str, Any], ids: dict[str, Any], own: str) -> None:
    assert read(row | ids).id == own


@pytest.mark.parametrize("name", ["rafs", "openai", "openai-batch", "langfuse", "labelled"])
def test_a_row_at_fault_has_the_id_of_one_that_is_not(name: str) -> None:
    line = line_of(ROWS[name] | {"custom_id": "request-1"})
    mapper = Mapper(choose_shape("auto", {}, [line], "log.jsonl"), {}, Choice(preset="gate"), {"request-1": BODY}.get)
    assert mapper.read(line).id == mapper.read_id(line)


def test_rows_read_by_paths_alone_keep_their_ids() -> None:
    assert read({"q": "What is 2 + 2?", "a": "2 + 2 = 4", "custom_id": "c"}, paths=("problem=q trace=a",)).id == "c"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        pytest.param({"messages": MESSAGES}, "field `messages`: .* reply of an assistant is missing", id="no reply"),
        pytest.param({"messages": MESSAGES, "output": None}, "field `output`: got nothing", id="an empty reply"),
    ],
)
def test_a_reply_that_is_missing_is_named_where_it_was_looked_for(row: Mapping[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read(row)


def test_messages_may_stand_in_a_request() -> None:
    row = {"request": {"model": "gpt-4o-mini", "messages": MESSAGES}, "response": COMPLETION}
    assert read(row).request.problem == "What is 2 + 2?"


def test_a_batch_line_without_its_request_is_named() -> None:
    with pytest.raises(InputError, match="one that stands in the file of --requests"):
        read(BATCH_OUTPUT | {"custom_id": "request-2"})


def test_a_batch_line_that_failed_there_is_named() -> None:
    failed = {"status_code": 429, "body": {"error": {"message": "Rate limit reached"}}}
    with pytest.raises(InputError, match="Rate limit reached"):
        read(BATCH_OUTPUT | {"response": failed})


def test_a_span_is_left_out() -> None:
    with pytest.raises(LeftOut, match="observations of type SPAN"):
        read(BUCKET | {"type": "SPAN"})


def test_labels_and_reference_answers_are_left_alone() -> None:
    request = read(ROWS["labelled"] | {"gold_answer": "4", "solution_correct": True}).request
    assert "4" not in request.model_dump_json(exclude={"trace"})


def test_paths_alone_make_a_request() -> None:
    row = {"in": {"q": "What is 2 + 2?"}, "out": '{"text": "2 + 2 = 4"}', "who": "gpt-4o-mini", "n": 9}
    mapped = read(row, paths=("problem=in.q trace=out.text", "generator=who", "id=n"))
    assert (mapped.id, mapped.request.problem, mapped.request.trace) == ("9", "What is 2 + 2?", "2 + 2 = 4")


def test_a_path_goes_before_what_the_shape_says() -> None:
    assert read(ROWS["openai"] | {"turn": {"id": "t-1"}}, paths=("id=turn.id",)).id == "t-1"


def test_a_number_at_the_path_of_an_answer_is_read_as_text() -> None:
    assert read(ROWS["rafs"] | {"final": 4}, paths=("answer=final",)).request.answer == "4"


def test_a_preset_of_the_row_holds_unless_one_is_forced() -> None:
    row = ROWS["rafs"] | {"preset": "deep"}
    assert read(row).request.preset == "deep"
    assert read(row, choice=Choice(preset="gate", forced=True)).request.preset == "gate"


def test_a_writer_may_be_given_for_rows_that_name_none() -> None:
    generator = read(ROWS["labelled"], choice=Choice(preset="gate", generator="llama-3")).request.generator
    assert generator is not None
    assert generator.model == "llama-3"


@pytest.mark.parametrize("given", ["problem", "problem=", "=x", "question=a", "problem=a problem=b"])
def test_a_path_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="--map"):
        parse_paths([given])


def test_rows_of_no_known_shape_are_refused_with_their_keys() -> None:
    with pytest.raises(InputError, match=r"^log.jsonl: .* keys q, a, allowed: .*--map problem=PATH --map trace=PATH"):
        choose_shape("auto", {}, [line_of({"q": 1, "a": 2})], "log.jsonl")


@pytest.mark.parametrize(
    "text",
    [b"{", b"[]", b"12", b'{"a": NaN}', b"\xff", b'{"a": "\\ud800"}', b"[" * 100_000],
    ids=["half", "a list", "a number", "not a number", "other bytes", "half a character", "a tower"],
)
def test_a_line_that_is_no_object_is_at_fault(text: bytes) -> None:
    assert isinstance(parse_row(text), Fault)
