"""One answer of a model behind the proxy: drawn, judged, and passed on or not by the operator's policy."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import ValidationError
from pydantic_core import to_json

from rafs.errors import BackendError, InputError, OverloadedError
from rafs.gate_wire import GateDecision
from rafs.limits import MAX_TRACE_CHARS
from rafs.request import ScoreRequest
from rafs.sent_samples import Choice, to_sampled
from service.errors import Problem
from service.gate.chat import ChatRequest
from service.gate.completions import Completion, Report, annotated, note_of, replaced, with_report
from service.gate.deciding import Conditions, Gate
from service.gate.ordering import Order
from service.gate.scorable import Asked, NotScorable, read_problem, to_request
from service.gate.upstream import Upstream, UpstreamRefusal
from service.gate_settings import FailPolicy, GateSettings, Handling
from service.intake import Visit
from service.terms import DEFAULT_TERMS

HELD_TEXT = "This answer is held for review, under the number {id}."


class Shelf(Protocol):
    """Where answers are kept for review."""

    async def keep(self, tenant: str, model: str, problem: str, answer: Any, decision: GateDecision) -> str:
        """Keep one and return its id; see `HeldStore.keep`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to the proxy."""

    chat: ChatRequest
    order: Order
    upstream: Upstream
    visit: Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """An answer and its decision."""

    completion: Completion
    decision: GateDecision
    judged: int
    calls: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A whole reply of the model's server, and as much of it as other answers are held against."""

    completion: Completion
    sample: Mapping[str, Any] | None
    """None where it is nothing that a sample can be."""


class Proxy:
    """Acts on answers by policy."""

    def __init__(self, gate: Gate, settings: GateSettings, shelf: Shelf) -> None:
        """Keep the parts.

        Args:
            gate: Decides.
            settings: The operator's.
            shelf: Keeps what is held.
        """
        self._gate = gate
        self._settings = settings
        self._shelf = shelf

    async def answer(self, call: Call) -> dict[str, Any]:
        """Return the completion that the caller gets, with the report.

        By the policy `resample` drawing ends with the first draw that has an accepted answer. A draw is one answer and
        the samples that were asked for; each of them is judged then, and of the accepted ones the answer with the
        highest score is passed on. Every answer that may be judged is charged before the model is asked.

        Raises:
            UpstreamRefusal: The model's server refused.
            BackendError: It failed, or what has to be held could not be kept: nothing is shown then.
            Problem: The quota of the key is used up.
        """
        asked = read_problem(call.chat.messages)
        again = self._settings.proxy_resamples if call.order.policy is Handling.RESAMPLE else 0
        if isinstance(asked, NotScorable) or call.chat.temperature == 0:  # the same would come again
            again = 0
        drawn = await self._draw(call, asked, 0)
        draws, judged, calls = 1, drawn.judged, drawn.calls
        while not drawn.decision.passes and draws <= again:
            try:
                drawn = await self._draw(call, asked, draws)
            except (UpstreamRefusal, BackendError, Problem):
                drawn = replace(drawn, notes=(*drawn.notes, "resampling_failed"))
                break
            draws, judged, calls = draws + 1, judged + drawn.judged, calls + drawn.calls
        return await self._act(call, asked, drawn, attempts=judged, calls=calls)

    async def judge(
        self,
        call: Call,
        asked: Asked | NotScorable,
        choices: Sequence[Mapping[str, Any]],
        samples: Sequence[Mapping[str, Any]] = (),
    ) -> GateDecision:
        """Decide on the choices of an answer, which was charged; what cannot be scored is answered by the policy."""
        scored = asked if isinstance(asked, NotScorable) else to_request(asked, choices, call.upstream.id, samples)
        fail = self._fail_of(call, scored)
        plain = Conditions(fail=fail, terms=DEFAULT_TERMS)
        if isinstance(scored, NotScorable):
            return self._gate.fall_back(f"not_scorable:{scored.why}", plain)
        try:
            async with call.visit.working(scored, n_traces=0) as terms:
                budget_ms = self._settings.gate_budget_ms
                within = terms.within(None if budget_ms is None else budget_ms / 1000, None)
                return await self._gate.decide(scored, Conditions(fail=fail, terms=within))
        except OverloadedError:
            return self._gate.fall_back("overloaded", plain)
        except InputError:
            return self._gate.fall_back("not_scorable:too_long", plain)

    def _fail_of(self, call: Call, scored: ScoreRequest | NotScorable) -> FailPolicy:
        """Return the fail policy of an answer; a caller cannot open it by its own deadline, budget or choices."""
        is_own_doing = call.visit.is_hurried or scored == NotScorable(why="several_choices")
        closes = is_own_doing and not self._settings.gate_fail_may_loosen
        return FailPolicy.FAIL_CLOSED if closes else call.order.fail

    async def _draw(self, call: Call, asked: Asked | NotScorable, draw: int) -> _Drawn:
        """Draw an answer and, beside it, the samples that it is held against."""
        n, name = call.order.n_samples, call.upstream.served_name
        can_sample = not isinstance(asked, NotScorable) and call.chat.n in (None, 1) and call.chat.temperature != 0
        first = draw * (1 + n)
        bodies = [call.chat.to_upstream(name, draw=first)]
        bodies += [call.chat.to_upstream(name, draw=first + k, n=1) for k in range(1, n + 1)] if can_sample else []
        async with call.visit.charged(len(bodies) if call.order.policy is Handling.RESAMPLE else 1):
            answer, *more = await _ask(call.upstream, bodies)
        usable = [one for one in more if one.sample is not None]
        judged = await self._judge_all(call, asked, [answer, *usable])
        chosen, decision = max(judged, key=lambda pair: _rank(pair[1]))
        notes = asked.notes if isinstance(asked, Asked) else ()
        lacking = (f"samples:{len(usable)} of {n}",) if len(usable) < n else ()
        return _Drawn(
            completion=chosen.completion,
            decision=decision,
            judged=len(judged),
            calls=len(bodies),
            notes=(*notes, *lacking),
        )

    async def _judge_all(
        self, call: Call, asked: Asked | NotScorable, drawn: Sequence[_Candidate]
    ) -> list[tuple[_Candidate, GateDecision]]:
        """Judge the answer that comes first against the others, and by the policy `resample` each of the others too."""
        may_pass = drawn if call.order.policy is Handling.RESAMPLE else drawn[:1]
        judged = []
        for one in may_pass:
            samples = [other.sample for other in drawn if other is not one and other.sample is not None]
            judged.append((one, await self.judge(call, asked, one.completion["choices"], samples)))
        return judged

    async def _act(
        self, call: Call, asked: Asked | NotScorable, drawn: _Drawn, *, attempts: int, calls: int
    ) -> dict[str, Any]:
        policy, decision = call.order.policy, drawn.decision
        report = Report(
            policy=policy,
            action="passed",
            attempts=attempts,
            upstream_calls=calls,
            notes=list(drawn.notes),
            decision=decision,
        )
        if decision.passes or policy is Handling.PASS:
            return with_report(drawn.completion, report)
        if policy is Handling.ANNOTATE:
            noted = None if call.chat.is_structured else annotated(drawn.completion, note_of(decision))
            if noted is None:
                return with_report(drawn.completion, report.model_copy(update={"notes": [*report.notes, "no_note"]}))
            return with_report(noted, report.model_copy(update={"action": "annotated"}))
        hidden = {"decision": without_quotes(decision), "action": "abstained"}
        if policy is Handling.HOLD:
            problem = asked.problem if isinstance(asked, Asked) else ""
            tenant, model = call.visit.principal.tenant, call.upstream.id
            kept = await self._shelf.keep(tenant, model, problem, drawn.completion["choices"], decision)
            hidden |= {"action": "held", "held_id": kept}
            return with_report(replaced(drawn.completion, HELD_TEXT.format(id=kept)), report.model_copy(update=hidden))
        text = self._settings.proxy_abstention
        return with_report(replaced(drawn.completion, text), report.model_copy(update=hidden))


def without_quotes(decision: GateDecision) -> GateDecision:
    """Return a decision that says nothing of the answer's own words."""
    if decision.suspect_step is None:
        return decision
    return decision.model_copy(update={"suspect_step": decision.suspect_step.model_copy(update={"reason": ""})})


async def _ask(upstream: Upstream, bodies: Sequence[Mapping[str, Any]]) -> list[_Candidate]:
    """Ask for an answer and, at the same time, for samples; one of these that is lost does not end the answer.

    Raises:
        UpstreamRefusal: The answer itself was refused; BackendError and Problem likewise.
    """
    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(_caught(upstream, body)) for body in bodies]
    answer, *more = [task.result() for task in asking]
    if isinstance(answer, Exception):
        raise answer
    replies = [answer, *(reply for reply in more if not isinstance(reply, Exception))]
    return [_Candidate(completion=reply, sample=_sample(reply)) for reply in replies]


async def _caught(upstream: Upstream, body: Mapping[str, Any]) -> Completion | Exception:
    try:
        return await upstream.complete(body)
    except (UpstreamRefusal, BackendError, Problem) as error:
        return error


def _sample(reply: Completion) -> Mapping[str, Any] | None:
    """Return the first choice of a reply where it can be a sample."""
    sample = {key: reply["choices"][0].get(key) for key in ("message", "finish_reason")}
    try:
        text = to_sampled(Choice.model_validate_json(to_json(sample))).text
    except ValidationError:
        return None
    return sample if text.strip() and len(text) <= MAX_TRACE_CHARS else None


def _rank(decision: GateDecision) -> tuple[bool, bool, float]:
    """Return what is larger for the better answer: accepted ones first, of these judged ones, then by score."""
    return decision.passes, decision.decided_by == "rafs", -1.0 if decision.score is None else decision.score
