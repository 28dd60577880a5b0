"""What the operator sets, and what a request may make of it."""

import pytest
from fastapi import Request

from rafs.errors import ConfigError, InputError
from service.gate.ordering import Order, read_order
from service.gate_settings import FailPolicy, Handling, Release
from service.settings import Settings, load_settings


def order_of(headers: dict[str, str], **settings: object) -> Order:
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    return read_order(Request({"type": "http", "headers": raw}), Settings.model_validate(settings))


def test_models_of_the_proxy_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_PROXY_MODELS", " gpt-4o, llama ,")
    assert load_settings().proxy_models == ("gpt-4o", "llama")


def test_without_models_there_is_no_proxy_and_nothing_is_kept_back_or_let_through() -> None:
    settings = Settings()
    assert (settings.proxy_models, settings.proxy_policy, settings.proxy_stream) == ((), "pass", "held")
    assert {settings.gate_fail, settings.proxy_fail, settings.guardrail_fail} == {FailPolicy.FAIL_CLOSED}


def test_a_policy_that_there_is_not_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAFS_PROXY_POLICY", "block")
    with pytest.raises(ConfigError, match=r"RAFS_PROXY_POLICY: got 'block'.*'abstain'"):
        load_settings()


@pytest.mark.parametrize("operator", Handling)
@pytest.mark.parametrize("asked", Handling)
def test_a_request_gets_the_tighter_policy_or_is_refused(operator: Handling, asked: Handling) -> None:
    ranks = list(Handling)
    if ranks.index(asked) < ranks.index(operator):
        with pytest.raises(InputError, match="allowed here"):
            order_of({"rafs-policy": asked}, proxy_policy=operator)
    else:
        assert order_of({"rafs-policy": asked}, proxy_policy=operator).policy is asked


@pytest.mark.parametrize("asked", [policy for policy in Handling if not policy.shows])
def test_a_policy_that_keeps_answers_back_holds_the_stream(asked: Handling) -> None:
    assert order_of({"rafs-policy": asked}, proxy_stream="after").release is Release.HELD


@pytest.mark.parametrize("asked", ["-1", "1.5", "9", "٣", "", "100"])
def test_a_number_of_samples_that_is_not_allowed_is_refused(asked: str) -> None:
    headers = [(b"rafs-samples", asked.encode("latin-1", "replace"))]
    with pytest.raises(InputError, match="an integer from 1 to 4"):
        read_order(Request({"type": "http", "headers": headers}), Settings(proxy_samples=1))
