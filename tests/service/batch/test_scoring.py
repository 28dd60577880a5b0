import asyncio
from collections.abc import Callable

import pytest

from rafs.errors import BackendError, ConfigError, InputError, OverloadedError, RafsError
from rafs.request import ScoreRequest
from rafs.usage import Priority
from rafs.wire import MemberOut, ScoreResponse
from service.batch.canonical import canonical
from service.batch.outcome import Failed, Item, Kind, Scored
from service.batch.scoring import score_item
from service.terms import DEFAULT_TERMS, Terms
from tests.service.batch.logs import Scripted, row_of
from tests.service.stand_in import INTERVENTIONS, make_component, make_cut_consensus, make_response


def item_of(**changes: object) -> Item:
    fields = {name: value for name, value in row_of(1, **changes).items() if name != "id"}
    return Item(number=1, request=canonical(ScoreRequest.model_validate(fields)))


def member(name: str, judged: int = 0, **silent: int) -> MemberOut:
    return MemberOut(member=name, family="llama", asked=2, judged=judged, silent=silent)


class Answering:
    """Gives one response."""

    def __init__(self, response: ScoreResponse) -> None:
        self._response = response

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        return self._response


class Busy(Scripted):
    """Is full a few times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._times = times

    async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
        if self._times > 0:
            self._times -= 1
            raise OverloadedError("the queue is full", retry_after_s=0.001)
        return await super().score(request, terms)


def failing(error: RafsError) -> Callable[[ScoreRequest], Exception]:
    return lambda request: error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(InputError("too many steps", field="trace", got="500", allowed="400"), Kind.INPUT, id="input"),
        pytest.param(BackendError("down"), Kind.BACKEND, id="backend"),
        pytest.param(BackendError("slow", timed_out=True), Kind.TIMEOUT, id="timeout"),
        pytest.param(ValueError("a bug"), Kind.INTERNAL, id="internal"),
    ],
)
async def test_every_failure_has_its_kind(error: Exception, kind: Kind) -> None:
    finished = await score_item(Scripted(lambda request: error), item_of())
    assert isinstance(finished.result, Failed)
    assert finished.result.kind is kind


async def test_a_fault_of_ours_tells_nothing_of_the_text() -> None:
    finished = await score_item(Scripted(lambda request: ValueError("secret")), item_of())
    assert finished.result == Failed(kind=Kind.INTERNAL, message="ValueError")


async def test_a_wrong_configuration_is_no_failure_of_the_item() -> None:
    with pytest.raises(ConfigError):
        await score_item(Scripted(failing(ConfigError("no weights"))), item_of())


async def test_a_full_queue_is_waited_for() -> None:
    finished = await score_item(Busy(3), item_of())
    assert isinstance(finished.result, Scored)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"reasons": ["verifier_down"]}, id="no verifier"),
        pytest.param(
            {"reasons": ["required_component_unmeasured:P"], "members": [member("judge", backend_down=2)]},
            id="no verifier, so that P is missing",
        ),
        pytest.param(
            {
                "components": [
                    make_component("C", "answer consensus", None).model_copy(update={"unmeasured": "generator_down"})
                ]
            },
            id="no generator",
        ),
        pytest.param({"consensus": make_cut_consensus()}, id="a generator that ended"),
        pytest.param(
            {"interventions": INTERVENTIONS.model_copy(update={"writer_failed": True})},
            id="a generator that ended among the edits",
        ),
    ],
)
async def test_a_score_without_a_model_of_the_preset_is_no_score(changes: dict[str, object]) -> None:
    finished = await score_item(Answering(make_response(**changes)), item_of())  # type: ignore[arg-type]
    assert isinstance(finished.result, Failed)
    assert finished.result.kind is Kind.BACKEND


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"members": [member("judge", not_needed=2)]}, id="nobody had to be asked"),
        pytest.param({"members": [member("one", backend_down=2), member("two", judged=2)]}, id="another was heard"),
        pytest.param({"members": [member("judge", timeout=2)], "reasons": ["deadline"]}, id="time was over"),
    ],
)
async def test_a_score_for_which_no_model_was_missing_is_kept(changes: dict[str, object]) -> None:
    finished = await score_item(Answering(make_response(**changes)), item_of())  # type: ignore[arg-type]
    assert isinstance(finished.result, Scored)


async def test_the_bounds_of_a_request_narrow_the_terms() -> None:
    scorer = Scripted()
    await score_item(scorer, item_of(deadline_s=2.0, token_budget=100))
    assert scorer.terms == [Terms(priority=Priority.BATCH, deadline_s=2.0, token_budget=100)]


async def test_a_record_holds_what_the_response_says() -> None:
    finished = await score_item(Answering(make_response()), item_of(), full=True)
    assert isinstance(finished.result, Scored)
    record = finished.result.record
    assert (record.status, record.outcome, record.score, record.interval_low) == (
        "Review",
        "silent_failure",
        42.5,
        30.0,
    )
    assert (record.suspect_step, record.tokens, record.models) == (1, 512, ("judge:judge-1@b179c9523d0e6a0f",))
    assert ScoreResponse.model_validate_json(finished.result.response or "") == make_response()


async def test_a_cancelled_item_is_not_finished() -> None:
    class Endless(Scripted):
        async def score(self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS) -> ScoreResponse:
            await asyncio.Event().wait()
            raise AssertionError

    task = asyncio.create_task(score_item(Endless(), item_of()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
