"""`@rafs.gate` in front of plain and of async functions, on the real application."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any

import pytest

import rafs
from rafs.client import AsyncClient, Client, ProblemError, UnreachableError
from rafs.errors import BackendError, InputError
from rafs.wire import ScoreResponse
from tests.service.stand_in import StandIn, make_response, make_step

TRACE = "2 + 2 = 4"
Call = Callable[..., Any]


def accepted() -> ScoreResponse:
    steps = [make_step(0, TRACE, 0.98)]
    return make_response(status="Accept", score=91.0, reasons=["all_checks_passed"], steps=steps, suspect_step=None)


@pytest.fixture(params=["plain", "async"])
def gated(request: pytest.FixtureRequest, url: str, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Put the decorator on a function that returns `output`, and call it with a question."""
    monkeypatch.setenv("RAFS_URL", url)

    def plain(output: object = TRACE, question: object = "What is 2 + 2?", **options: Any) -> Any:
        @rafs.gate(**{"problem": "asked", **options})
        def solve(asked: object) -> object:
            return output

        return solve(question)

    def awaited(output: object = TRACE, question: object = "What is 2 + 2?", **options: Any) -> Any:
        @rafs.gate(**{"problem": "asked", **options})
        async def solve(asked: object) -> object:
            return output

        async def run() -> object:
            return await solve(question)

        return asyncio.run(run())

    return plain if request.param == "plain" else awaited


def test_an_accepted_answer_comes_back_as_it_is(gated: Call, scorer: StandIn) -> None:
    scorer.response = accepted()
    completion = {"choices": [{"message": {"role": "assistant", "content": TRACE}}]}
    assert gated(completion) is completion
    assert (scorer.seen[0].problem, scorer.seen[0].trace_text()) == ("What is 2 + 2?", TRACE)


def test_an_answer_that_is_not_accepted_is_an_error_that_says_why(gated: Call) -> None:
    with pytest.raises(rafs.NotAccepted) as caught:
        gated()
    assert str(caught.value).endswith(
        "solve is not accepted: status Review; reasons refuted_step, score_below_threshold; "
        "suspect step 1 (55 - 40 is 15, not 10)"
    )
    assert caught.value.output == TRACE
    assert caught.value.decision is not None
    assert caught.value.decision.suspect_step is not None


@pytest.mark.parametrize("instead", ["I do not know.", None], ids=["text", "None"])
def test_a_fallback_stands_in_for_it(gated: Call, instead: object) -> None:
    assert gated(on_reject=instead) == instead


def test_a_fallback_may_be_called_with_the_refusal(gated: Call) -> None:
    assert gated(on_reject=lambda refusal: refusal.decision.status) == "Review"


def test_a_review_passes_where_that_is_allowed(gated: Call) -> None:
    assert gated(allow_review=True) == TRACE


def test_an_abstention_passes_nowhere(gated: Call, scorer: StandIn) -> None:
    scorer.response = accepted().model_copy(update={"status": "Abstain", "score": None, "reasons": ["no_steps"]})
    with pytest.raises(rafs.NotAccepted, match="status Abstain"):
        gated(allow_review=True)


def test_the_problem_may_be_made_of_the_arguments(gated: Call, scorer: StandIn) -> None:
    gated(question=["What", "is", "it?"], problem=" ".join, on_reject=None)
    assert scorer.seen[0].problem == "What is it?"


def test_choices_of_the_request_are_sent(gated: Call, scorer: StandIn) -> None:
    gated(on_reject=None, generator="gpt-4o-mini", preset="deep", seed=3, budget_ms=9000)
    seen = scorer.seen[0]
    assert (seen.preset, seen.seed, seen.generator and seen.generator.model) == ("deep", 3, "gpt-4o-mini")
    assert scorer.terms[0].deadline_s is not None


def test_a_problem_that_is_no_text_is_the_callers_mistake(gated: Call) -> None:
    with pytest.raises(InputError, match="solve: got a value of type int, allowed text"):
        gated(question=4)


def test_what_the_service_could_not_judge_is_not_accepted(gated: Call, scorer: StandIn) -> None:
    scorer.error = BackendError("the judge is down")
    with pytest.raises(rafs.NotAccepted, match="undecided backend_failed"):
        gated()


def test_a_wrong_request_is_an_error_whatever_the_policy(gated: Call) -> None:
    with pytest.raises(ProblemError) as caught:
        gated(on_reject=None, seed=-1)
    assert caught.value.status == 422


@pytest.fixture
def down(gated: Call, closed_port: int) -> Call:
    """The same, with a client of an address where nobody answers."""
    kind = AsyncClient if gated.__name__ == "awaited" else Client
    client = kind(f"http://127.0.0.1:{closed_port}", attempts=1)
    return partial(gated, client=client)


def test_a_service_that_is_down_lets_no_answer_pass(down: Call) -> None:
    with pytest.raises(rafs.NotAccepted, match="could not be judged: nobody answers at") as caught:
        down()
    assert caught.value.decision is None
    assert isinstance(caught.value.__cause__, UnreachableError)


def test_the_fallback_stands_in_where_the_service_is_down(down: Call) -> None:
    assert down(on_reject="I do not know.") == "I do not know."


def test_a_service_that_is_down_lets_every_answer_pass_where_that_is_asked_for(down: Call) -> None:
    assert down(fail="fail_open") == TRACE


def test_an_operator_may_forbid_to_fail_open(gated: Call) -> None:
    with pytest.raises(ProblemError, match="fail") as caught:
        gated(fail="fail_open")
    assert caught.value.status == 422


def test_a_fallback_of_an_async_function_may_be_async(url: str) -> None:
    async def ask_a_person(refusal: rafs.NotAccepted) -> str:
        return f"checked by hand: {refusal.output}"

    async def run() -> object:
        async with AsyncClient(url) as client:

            @rafs.gate(problem="question", on_reject=ask_a_person, client=client)
            async def solve(question: str) -> str:
                return TRACE

            return await solve("What is 2 + 2?")

    assert asyncio.run(run()) == f"checked by hand: {TRACE}"


def test_a_client_that_was_given_stays_open(url: str, scorer: StandIn) -> None:
    with Client(url) as client:

        @rafs.gate(problem="question", client=client)
        def solve(question: str = "What is 2 + 2?") -> str:
            return TRACE

        scorer.response = accepted()
        assert [solve(), solve()] == [TRACE, TRACE]


def test_a_gated_function_keeps_its_name_and_kind() -> None:
    async def solve(question: str) -> str:
        """Solve it."""
        return question

    gated = rafs.gate(problem="question", client=AsyncClient())(solve)
    assert (gated.__name__, gated.__doc__, inspect.iscoroutinefunction(gated)) == ("solve", "Solve it.", True)


def plain(question: str) -> str:
    return question


async def awaited(question: str) -> str:
    return question


def generating(question: str) -> Iterator[str]:
    yield question


async def generating_async(question: str) -> AsyncIterator[str]:
    yield question


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        pytest.param(plain, {"problem": "task"}, "no parameter 'task', its parameters are: question", id="parameter"),
        pytest.param(plain, {"client": AsyncClient()}, "plain is not async: give rafs.gate a Client", id="plain"),
        pytest.param(awaited, {"client": Client()}, "awaited is async: give rafs.gate an AsyncClient", id="async"),
        pytest.param(generating, {}, "yields its answer bit by bit", id="generator"),
        pytest.param(generating_async, {}, "yields its answer bit by bit", id="async generator"),
    ],
)
def test_a_function_that_it_does_not_fit_is_refused_at_once(function: Call, options: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        rafs.gate(**{"problem": "question", **options})(function)


def test_of_several_answers_none_is_shown_since_one_alone_would_be_judged(gated: Call) -> None:
    choices = [{"message": {"role": "assistant", "content": text}} for text in (TRACE, "2 + 2 = 5")]
    with pytest.raises(InputError, match="2 choices"):
        gated({"choices": choices})
