"""The caller's own samples are taken in the shapes that APIs give them in."""

from typing import Any

import pytest
from pydantic import ValidationError

from rafs.request import ScoreRequest
from rafs.types import Sampled

TEXT = "2 + 2 = 4, so 4."


def read(*samples: Any) -> tuple[Sampled, ...]:
    return ScoreRequest.model_validate({"problem": "p", "trace": "t", "samples": list(samples)}).sampled()


def choice(finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": TEXT, "refusal": None}
    return {"index": 0, "message": message, "finish_reason": finish, **more}


def tokens(*logprobs: float | None) -> dict[str, Any]:
    return {"content": [{"token": "t", "logprob": one, "bytes": [116], "top_logprobs": []} for one in logprobs]}


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        pytest.param(TEXT, Sampled(text=TEXT, truncated=False), id="text"),
        pytest.param({"role": "assistant", "content": TEXT}, Sampled(text=TEXT, truncated=False), id="message"),
        pytest.param(
            {"content": [{"type": "text", "text": TEXT}], "stop_reason": "max_tokens"},
            Sampled(text=TEXT, truncated=True),
            id="blocks of a message that was cut",
        ),
        pytest.param(
            [{"role": "user", "content": "p"}, {"role": "assistant", "content": TEXT}],
            Sampled(text=TEXT, truncated=False),
            id="conversation",
        ),
        pytest.param(choice(), Sampled(text=TEXT, truncated=False), id="choice"),
        pytest.param(choice("length"), Sampled(text=TEXT, truncated=True), id="choice at its length limit"),
        pytest.param(choice("content_filter"), Sampled(text=TEXT, truncated=True), id="filtered choice"),
        pytest.param(choice(None), Sampled(text=TEXT, truncated=False), id="choice that says nothing of its end"),
        pytest.param(
            choice(logprobs=tokens(-0.5, -0.25)),
            Sampled(text=TEXT, truncated=False, logprob=-0.75, n_tokens=2),
            id="choice with log-probabilities",
        ),
        pytest.param(choice(logprobs=tokens(-0.5, None)), Sampled(text=TEXT, truncated=False), id="one is not known"),
        pytest.param(choice(logprobs={"content": []}), Sampled(text=TEXT, truncated=False), id="of no token"),
        pytest.param(choice(logprobs=None), Sampled(text=TEXT, truncated=False), id="null for log-probabilities"),
        pytest.param(
            choice(logprobs=tokens(-3.4028234663852886e38)),
            Sampled(text=TEXT, truncated=False, logprob=-3.4028234663852886e38, n_tokens=1),
            id="the lowest number of single precision",
        ),
        pytest.param(
            {"text": TEXT, "finish_reason": "stop", "logprobs": {"tokens": ["a", "b"], "token_logprobs": [-1, -0.5]}},
            Sampled(text=TEXT, truncated=False, logprob=-1.5, n_tokens=2),
            id="choice of a completion",
        ),
        pytest.param(
            {"message": {"content": None, "reasoning_content": TEXT}, "finish_reason": "length"},
            Sampled(text=f"<think>\n{TEXT}\n</think>\n", truncated=True),
            id="cut while it thought",
        ),
        pytest.param(
            {"message": {"content": ""}, "finish_reason": "length"}, Sampled(text="", truncated=True), id="cut at once"
        ),
    ],
)
def test_a_sample_of_every_shape_is_a_text_and_how_it_ended(sample: Any, expected: Sampled) -> None:
    assert read(sample, TEXT) == (expected, Sampled(text=TEXT, truncated=False))


@pytest.mark.parametrize(
    "sample",
    [
        pytest.param(" \n", id="white space"),
        pytest.param({"message": {"content": ""}, "finish_reason": "stop"}, id="a choice without text"),
        pytest.param([{"role": "user", "content": "p"}], id="a conversation without an assistant"),
        pytest.param(["step", "step"], id="steps"),
        pytest.param(7, id="a number"),
        pytest.param({"message": {"content": "a\x00"}, "finish_reason": "length"}, id="a null byte"),
        pytest.param(choice(logprobs=tokens(0.5)), id="no probability"),
        pytest.param(choice(logprobs=tokens(-1e308, -1e308)), id="log-probabilities whose sum is no number"),
        pytest.param({"message": {"role": "user", "content": TEXT}}, id="a choice of a user"),
        pytest.param({"content": [{"type": "text", "text": "x" * 60_000}] * 2}, id="too long in all"),
    ],
)
def test_what_is_no_sample_is_refused(sample: Any) -> None:
    with pytest.raises(ValidationError, match="samples"):
        read(sample)


def test_samples_come_back_from_a_record_as_they_were() -> None:
    request = ScoreRequest.model_validate(
        {"problem": "p", "trace": "t", "samples": [TEXT, choice("length", logprobs=tokens(-0.5)), {"content": TEXT}]}
    )
    assert ScoreRequest.model_validate_json(request.model_dump_json()).sampled() == request.sampled()
