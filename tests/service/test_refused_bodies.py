import json

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.service.stand_in import GOOD, JSON, body

REFUSED = {
    "empty body": (b"", 400, "body", "nothing"),
    "white space": (b" \n ", 400, "body", "nothing"),
    "not JSON": (b"problem=p", 400, "body", "no JSON"),
    "truncated JSON": (b'{"problem":"p","trace":"a', 400, "body", "no JSON"),
    "invalid UTF-8": (b'{"problem":"p","trace":"\xc3("}', 400, "body", "unicode"),
    "UTF-16": (json.dumps(GOOD).encode("utf-16"), 400, "body", "no JSON"),
    "lone surrogate": (b'{"problem":"p","trace":"\\udfff x"}', 422, "body", "lone surrogate at line 1"),
    "half a surrogate pair": (b'{"problem":"p","trace":"\\ud800 x"}', 422, "body", "lone surrogate at line 1"),
    "surrogate before another letter": (b'{"problem":"p","trace":"\\ud800\\u0041"}', 422, "body", "lone surrogate"),
    "cut in an escape": (b'{"problem":"p","trace":"\\ud8', 400, "body", "no JSON"),
    "cut after half a pair": (b'{"problem":"p","trace":"\\ud800', 400, "body", "no JSON"),
    "deep array": (b"[" * 100_000, 400, "body", "recursion"),
    "deep object": (b'{"a":' * 100_000, 400, "body", "recursion"),
    "deep value": (b'{"problem":"p","trace":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 400, "body", "recursion"),
    "a list": (b"[]", 422, "body", "a list of 0"),
    "null": (b"null", 422, "body", "null"),
    "no trace": (b'{"problem":"p"}', 422, "trace", "nothing"),
    "trace is null": (body(trace=None), 422, "trace", "null"),
    "trace is empty": (body(trace=""), 422, "trace", "an empty text"),
    "trace is white space": (body(trace=" \n"), 422, "trace", "white space only"),
    "trace is a number": (body(trace=123), 422, "trace", "the number 123"),
    "trace is true": (body(trace=True), 422, "trace", "true"),
    "a step is a number": (body(trace=["a", 5]), 422, "trace.1", "the number 5"),
    "a step is empty": (body(trace=["a", ""]), 422, "trace.1", "an empty text"),
    "a step is white space": (body(trace=["a", " "]), 422, "trace.1", "white space only"),
    "no steps": (body(trace=[]), 422, "trace", "a list of 0"),
    "ten thousand steps": (body(trace=["x = 1"] * 10_000), 422, "trace", "10000 items"),
    "long steps": (body(trace=["y" * 9_000] * 300), 422, "trace", "2700000 characters"),
    "a megabyte of text": (body(trace="x" * 1_000_000), 422, "trace", "1000000 characters"),
    "null byte": (body(trace="2 + 2 = 4\0"), 422, "trace", "U+0000"),
    "message of a user": (body(trace={"role": "user", "content": "x"}), 422, "trace.role", "'user'"),
    "message without text": (body(trace={"content": None}), 422, "trace", "a message without text"),
    "message of an image": (body(trace={"content": [{"type": "image"}]}), 422, "trace", "a message without text"),
    "message of a call": (body(trace={"content": "", "tool_calls": [{}]}), 422, "trace", "a message without text"),
    "message of blanks": (body(trace={"reasoning_content": " "}), 422, "trace", "a message without text"),
    "message with a misspelt key": (body(trace={"contnet": "x"}), 422, "trace", "a message without text"),
    "long blocks": (
        body(trace={"content": [{"type": "text", "text": "y" * 60_000}] * 2}),
        422,
        "trace",
        "120001 characters in all",
    ),
    "long parts of a summary": (
        body(trace={"content": [{"type": "reasoning", "summary": [{"text": "y" * 60_000}] * 2}]}),
        422,
        "trace",
        "characters in all",
    ),
    "null byte in a block": (body(trace={"content": [{"type": "text", "text": "\0"}]}), 422, "trace", "U+0000"),
    "block without type": (body(trace={"content": [{"text": "x"}]}), 422, "trace.content.0.type", "nothing"),
    "text of a block is a number": (
        body(trace={"content": [{"type": "text", "text": 5}]}),
        422,
        "trace.content.0.text",
        "the number 5",
    ),
    "NaN": (b'{"problem":"p","trace":"a","seed":NaN}', 422, "seed", "nan"),
    "Infinity": (b'{"problem":"p","trace":"a","seed":-Infinity}', 422, "seed", "inf"),
    "a fraction as seed": (body(seed=1.5), 422, "seed", "1.5"),
    "text as seed": (body(seed="1"), 422, "seed", "'1'"),
    "negative seed": (body(seed=-1), 422, "seed", "-1"),
    "huge seed": (b'{"problem":"p","trace":"a","seed":' + b"9" * 4_000 + b"}", 422, "seed", "a huge integer"),
    "absurd number": (b'{"problem":"p","trace":"a","seed":' + b"9" * 9_000 + b"}", 400, "body", "number"),
    "samples is text": (body(samples="a"), 422, "samples", "'a'"),
    "too many samples": (body(samples=["a"] * 33), 422, "samples", "33 items"),
    "unknown key": (body(colour="red"), 422, "colour", "the unknown key 'colour'"),
    "unknown key inside": (body(generator={"name": "x"}), 422, "generator.name", "the unknown key 'name'"),
    "key twice": (b'{"problem":"p","trace":"a","trace":"b"}', 422, "trace", "this key twice"),
    "key twice inside": (
        b'{"problem":"p","trace":"a","generator":{"model":"a","model":"b"}}',
        422,
        "model",
        "this key twice",
    ),
}


@pytest.mark.parametrize(("raw", "status", "field", "got"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_scored_is_a_problem_that_names_field_and_value(
    client: TestClient, raw: bytes, status: int, field: str, got: str
) -> None:
    reply = client.post("/v1/score", content=raw, headers=JSON)
    problem = reply.json()
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")
    assert problem["status"] == status
    assert problem["instance"] == reply.headers["x-request-id"]
    assert problem["errors"][0]["field"] == field
    assert got in problem["errors"][0]["got"]
    assert problem["errors"][0]["allowed"]
    assert client.post("/v1/score", content=body(), headers=JSON).status_code == 200


def test_a_wrong_trace_is_one_error_and_not_one_for_every_shape(client: TestClient) -> None:
    problem = client.post("/v1/score", content=body(trace=123), headers=JSON).json()
    allowed = "text, a list of steps, an assistant message or a list of messages"
    assert problem["errors"] == [{"field": "trace", "got": "the number 123", "allowed": allowed}]


def test_an_unknown_key_is_answered_with_the_known_ones(client: TestClient) -> None:
    problem = client.post("/v1/score", content=body(colour="red"), headers=JSON).json()
    assert problem["errors"][0]["allowed"].startswith("the keys problem, trace, answer")


def test_untrusted_text_is_repeated_short_and_escaped(client: TestClient) -> None:
    problem = client.post("/v1/score", content=body(**{"\x1b[31m" + "k" * 5_000: 1}), headers=JSON).json()
    assert len(problem["errors"][0]["got"]) < 120
    assert "\\x1b[31mkkk" in problem["errors"][0]["got"]
    assert len(problem["detail"]) < 600


def test_hundreds_of_thousands_of_unknown_keys_are_counted_not_described(client: TestClient) -> None:
    raw = ("{" + ",".join(f'"a{i}":1' for i in range(50_000)) + "}").encode()
    problem = client.post("/v1/score", content=raw, headers=JSON).json()
    assert problem["errors"][0]["got"] == "50002 faults"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("problem", "trace", "answer", "generator", "samples", "preset", "seed", "include", "other")
request_like = st.dictionaries(st.sampled_from(FIELDS), json_values).map(lambda fields: json.dumps(GOOD | fields))
mutated = st.builds(
    lambda start, at, junk: start[:at] + junk + start[at:],
    st.just(body()),
    st.integers(0, len(body())),
    st.binary(max_size=6),
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=200) | request_like.map(lambda text: text.encode("utf-8", "surrogatepass")) | mutated)
def test_no_body_is_a_fault_of_the_service(client: TestClient, raw: bytes) -> None:
    reply = client.post("/v1/score", content=raw, headers=JSON)
    assert reply.status_code in (200, 400, 422)
    json.loads(reply.text, parse_constant=lambda name: pytest.fail(f"{name} in the reply"))


def test_an_unknown_key_of_the_generator_is_answered_with_its_known_ones(client: TestClient) -> None:
    problem = client.post("/v1/score", content=body(generator={"name": "x"}), headers=JSON).json()
    assert problem["errors"][0]["allowed"] == "the keys model, family"
