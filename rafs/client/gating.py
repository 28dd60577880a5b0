"""`@rafs.gate`: a function whose answer is shown only where its reasoning carries it."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, Unpack, cast

from rafs.client.calls import GateChoices, GateFields
from rafs.client.clients import AsyncClient, Client
from rafs.client.errors import ProblemError
from rafs.errors import BackendError, InputError, RafsError
from rafs.gate_wire import GateDecision
from rafs.visible import show_text

Parameters = ParamSpec("Parameters")
Output = TypeVar("Output")

DOWN = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses of a service that cannot decide now; any other is a mistake of the caller, which no policy hides."""
MAX_REASON = 300
"""Characters of the suspect step's reason in a message."""


class _Raise(Enum):
    RAISE = "raise"


RAISE = _Raise.RAISE
"""For `on_reject`: raise `NotAccepted`."""


class NotAccepted(RafsError):
    """A gated function wrote an answer that may not be shown.

    Attributes:
        decision: Of the gate; None where nobody could decide, and `__cause__` says why.
        output: What the function returned.
    """

    def __init__(self, message: str, *, decision: GateDecision | None, output: object) -> None:
        super().__init__(message)
        self.decision = decision
        self.output = output


def gate(
    *,
    problem: str | Callable[..., str],
    on_reject: object = RAISE,
    allow_review: bool = False,
    fail: Literal["fail_open", "fail_closed"] = "fail_closed",
    client: Client | AsyncClient | None = None,
    **choices: Unpack[GateChoices],
) -> Callable[[Callable[Parameters, Output]], Callable[Parameters, Output]]:
    """Return a decorator for a function, plain or async, that returns what a model wrote.

    The function returns a trace: a text, a message, or the chat completion of one choice that it came in.
    That is put to the gate, and returned as it is where the gate lets it pass.

    Args:
        problem: Name of the function's parameter that holds the problem, or what returns the problem when called with
            the function's arguments.
        on_reject: Returned in place of an answer that is not accepted; called with the `NotAccepted` where it can be
            called, and for an async function awaited where it can be. `RAISE` raises the `NotAccepted`.
        allow_review: Whether an answer with the status Review passes too.
        fail: What becomes of an answer that nobody could judge, because the service is down or ran out of time:
            `fail_closed` treats it as not accepted, `fail_open` returns it. The service's operator may forbid
            `fail_open`. A request that is wrong in itself, or not allowed, is an error with either.
        client: A `Client` for a plain function, an `AsyncClient` for an async one, left open. None opens one for every
            call, from RAFS_URL and RAFS_API_KEY: that costs a new connection each time, and where the service is down
            some seconds of repeated attempts.
        choices: Preset, writer, budget and so on, as in the request of `POST /v1/gate`.

    Raises:
        TypeError: When the decorator is put on a function that it does not fit, or with the wrong kind of client.
    """
    fields = cast(GateFields, {**choices, "fail": fail})

    def decorate(function: Callable[Parameters, Output]) -> Callable[Parameters, Output]:
        policy = _Policy(
            name=getattr(function, "__qualname__", repr(function)),
            problem=_problem_reader(function, problem),
            on_reject=on_reject,
            allow_review=allow_review,
            is_open=fail == "fail_open",
        )
        if inspect.iscoroutinefunction(function):
            if isinstance(client, Client):
                raise TypeError(f"{policy.name} is async: give rafs.gate an AsyncClient")
            return cast(Callable[Parameters, Output], _gate_async(function, policy, client, fields))
        if isinstance(client, AsyncClient):
            raise TypeError(f"{policy.name} is not async: give rafs.gate a Client")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{policy.name} yields its answer bit by bit: rafs.gate takes functions that return it whole"
            )
        return _gate_plain(function, policy, client, fields)

    return decorate


@dataclass(frozen=True, slots=True, kw_only=True)
class _Policy:
    """What becomes of an answer."""

    name: str
    problem: Callable[..., object]
    on_reject: object
    allow_review: bool
    is_open: bool

    def problem_of(self, *args: object, **kwargs: object) -> str:
        """Return the problem of one call."""
        problem = self.problem(*args, **kwargs)
        if not isinstance(problem, str):
            got = f"a value of type {type(problem).__name__}"
            raise InputError(
                f"the problem of {self.name}: got {got}, allowed text", field="problem", got=got, allowed="text"
            )
        return problem

    def refusal(self, output: object, decision: GateDecision) -> NotAccepted | None:
        """Return why the answer may not be shown, or None where it may."""
        is_review = decision.status == "Review" and decision.decided_by == "rafs"
        if decision.passes or (self.allow_review and is_review):
            return None
        return NotAccepted(
            f"the answer of {self.name} is not accepted: {_told(decision)}", decision=decision, output=output
        )

    def undecided(self, output: object, error: RafsError) -> NotAccepted | None:
        """Return the same where nobody decided; raises what is the caller's own mistake."""
        if not isinstance(error, BackendError) and not (isinstance(error, ProblemError) and error.status in DOWN):
            raise error
        if self.is_open:
            return None
        refusal = NotAccepted(f"the answer of {self.name} could not be judged: {error}", decision=None, output=output)
        refusal.__cause__ = error
        return refusal

    def instead(self, refusal: NotAccepted) -> object:
        """Return what stands in for the answer.

        Raises:
            NotAccepted: Nothing does.
        """
        if self.on_reject is RAISE:
            raise refusal
        return self.on_reject(refusal) if callable(self.on_reject) else self.on_reject


def _gate_plain(
    function: Callable[Parameters, Output], policy: _Policy, client: Client | None, fields: GateFields
) -> Callable[Parameters, Output]:
    @wraps(function)
    def gated(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Output:
        problem = policy.problem_of(*args, **kwargs)
        output = function(*args, **kwargs)
        try:
            with Client() if client is None else nullcontext(client) as used:
                refusal = policy.refusal(output, used.gate(problem, _one_answer(output), **fields))
        except RafsError as error:
            refusal = policy.undecided(output, error)
        return output if refusal is None else cast(Output, policy.instead(refusal))

    return gated


def _gate_async(
    function: Callable[Parameters, Awaitable[Any]], policy: _Policy, client: AsyncClient | None, fields: GateFields
) -> Callable[Parameters, Awaitable[Any]]:
    @wraps(function)
    async def gated(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
        problem = policy.problem_of(*args, **kwargs)
        output = await function(*args, **kwargs)
        try:
            async with AsyncClient() if client is None else nullcontext(client) as used:
                refusal = policy.refusal(output, await used.gate(problem, _one_answer(output), **fields))
        except RafsError as error:
            refusal = policy.undecided(output, error)
        if refusal is None:
            return output
        instead = policy.instead(refusal)
        return await instead if inspect.isawaitable(instead) else instead

    return gated


def _problem_reader(function: Callable[..., object], problem: str | Callable[..., str]) -> Callable[..., object]:
    if not isinstance(problem, str):
        return problem
    signature = inspect.signature(function)
    if problem not in signature.parameters:
        known = ", ".join(signature.parameters) or "none"
        raise TypeError(f"rafs.gate: the function has no parameter {problem!r}, its parameters are: {known}")

    def read(*args: object, **kwargs: object) -> object:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments[problem]

    return read


def _one_answer(output: object) -> object:
    """Return what a function wrote; of several answers all would be shown, and one alone be judged."""
    choices = output.get("choices") if isinstance(output, Mapping) else getattr(output, "choices", None)
    if isinstance(choices, Sequence) and len(choices) > 1:
        got, allowed = f"{len(choices)} choices", "a chat completion with one"
        raise InputError(f"rafs.gate: got {got}, allowed {allowed}", field="trace", got=got, allowed=allowed)
    return output


def _told(decision: GateDecision) -> str:
    """Return what the gate found, on one line."""
    found: Mapping[str, object] = {
        "status": decision.status,
        "undecided": decision.failure,
        "reasons": ", ".join(decision.reasons),
        "suspect step": decision.suspect_step and f"{decision.suspect_step.index} ({decision.suspect_step.reason})",
    }
    return show_text("; ".join(f"{name} {value}" for name, value in found.items() if value), MAX_REASON)
