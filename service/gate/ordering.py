"""What a request may ask of the operator's settings: the same or tighter."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from fastapi import Request

from rafs.errors import InputError
from service.gate_settings import FailPolicy, GateSettings, Handling, Release
from service.visible import show_text

POLICY_HEADER = "rafs-policy"
FAIL_HEADER = "rafs-fail"
SAMPLES_HEADER = "rafs-samples"
ORDER_PARAMETERS = [
    {"name": name, "in": "header", "required": False, "description": text, "schema": schema}
    for name, text, schema in (
        (
            POLICY_HEADER,
            "What becomes of an answer that is not accepted; the operator's policy or a tighter one.",
            {"type": "string", "enum": [one.value for one in Handling]},
        ),
        (
            FAIL_HEADER,
            "What an answer counts as that could not be judged; looser than the operator's only where that is allowed.",
            {"type": "string", "enum": [one.value for one in FailPolicy]},
        ),
        (
            SAMPLES_HEADER,
            "More answers drawn for consensus and stability, as many as the operator allows.",
            {"type": "integer", "minimum": 0},
        ),
    )
]
"""Description of the headers, for the OpenAPI document."""
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to become of one answer of the proxy."""

    policy: Handling
    fail: FailPolicy
    n_samples: int
    release: Release
    """Of a stream."""


def read_order(request: Request, settings: GateSettings) -> Order:
    """Return the operator's settings, tightened by the headers of a request.

    Raises:
        InputError: A header asks for something looser, or for nothing that there is.
    """
    order = list(Handling)
    allowed = order[order.index(settings.proxy_policy) :]
    policy = _read_choice(request, POLICY_HEADER, settings.proxy_policy, allowed)
    return Order(
        policy=policy,
        fail=_read_choice(request, FAIL_HEADER, settings.proxy_fail, allowed_fails(settings.proxy_fail, settings)),
        n_samples=_read_samples(request, settings),
        release=settings.proxy_stream if policy.shows else Release.HELD,
    )


def allowed_fails(operator: FailPolicy, settings: GateSettings) -> list[FailPolicy]:
    """Return what a request may ask for."""
    may_loosen = settings.gate_fail_may_loosen or operator is FailPolicy.FAIL_OPEN
    return [FailPolicy.FAIL_OPEN, FailPolicy.FAIL_CLOSED] if may_loosen else [FailPolicy.FAIL_CLOSED]


def choose(field: str, asked: str | None, operator: Choice, allowed: list[Choice]) -> Choice:
    """Return what a request asks for, the operator's where it asks for nothing.

    Raises:
        InputError: It is none of the allowed.
    """
    if asked is None:
        return operator
    for one in allowed:
        if one.value == asked:
            return one
    got, names = show_text(asked) or "an empty text", ", ".join(allowed)
    raise InputError(f"{field}: got {got}, allowed here: {names}", field=field, got=got, allowed=names)


def _read_choice(request: Request, header: str, operator: Choice, allowed: list[Choice]) -> Choice:
    return choose(f"header {header}", request.headers.get(header), operator, allowed)


def _read_samples(request: Request, settings: GateSettings) -> int:
    asked = request.headers.get(SAMPLES_HEADER)
    if asked is None:
        return settings.proxy_samples
    most = max(settings.proxy_samples, settings.proxy_max_samples)
    if asked.isascii() and asked.isdecimal() and len(asked) < 3 and settings.proxy_samples <= int(asked) <= most:
        return int(asked)
    got, allowed = show_text(asked) or "an empty text", f"an integer from {settings.proxy_samples} to {most}"
    field = f"header {SAMPLES_HEADER}"
    raise InputError(f"{field}: got {got}, allowed: {allowed}", field=field, got=got, allowed=allowed)
