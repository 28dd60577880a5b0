import json
from typing import Any

import pytest

from rafs.contracts import PromptPart
from rafs.types import Abstained, Why
from rafs.usage import Meter
from tests.rafs.engines.scripted_server import Answer, Reply, Request, at, in_turn
from tests.rafs.engines.served_engines import CHAT, COMPLETIONS, HEAD, STEPS, TAIL, chatted, engines, strict


def wordy(*texts: str | None) -> Answer:
    """A server that ignores every constraint and gives no log-probabilities; one reply after the other."""
    spoken = in_turn(*map(chatted, texts))

    def answer(request: Request) -> Reply:
        return chatted("hm") if request.body.get("logprobs") else spoken(request)

    return at({CHAT: answer})


async def opinion_of(answer: Answer) -> tuple[Abstained, list[dict[str, Any]]]:
    """Return the opinion of step 0, and the bodies of the requests for words."""
    async with engines(answer) as made:
        (opinion,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    return opinion, [body for body in made.server.bodies(CHAT) if "logprobs" not in body]


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        pytest.param("Yes", "said Yes", id="the word"),
        pytest.param("no.", "said No", id="another spelling"),
        pytest.param('{"verdict": "No"}', "said No", id="an object"),
        pytest.param("Let me check: 3 + 4 is 7.\nVerdict: Yes", "said Yes", id="not constrained"),
    ],
)
async def test_a_word_is_shown_and_is_no_probability(said: str, detail: str) -> None:
    opinion, _ = await opinion_of(wordy(said))
    assert opinion.why is Why.WORD_ONLY
    assert opinion.detail.startswith(detail)


async def test_only_the_labels_are_allowed() -> None:
    _, (body,) = await opinion_of(wordy("Yes"))
    assert body["structured_outputs"] == {"choice": ["Yes", "No"]}
    assert body["guided_choice"] == ["Yes", "No"]
    assert body["messages"] == [{"role": "user", "content": "P: one s0 ok?"}]


async def test_a_server_that_knows_no_choices_is_given_a_schema() -> None:
    async with engines(strict(wordy("Yes"), "structured_outputs", "guided_choice")) as made:
        opinions = await made.prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter())
    schema = made.server.bodies(CHAT)[-1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["Yes", "No"]
    assert [opinion.why for opinion in opinions if isinstance(opinion, Abstained)] == [Why.WORD_ONLY] * 2


async def test_a_server_that_takes_no_constraint_at_all_is_still_asked() -> None:
    answer = strict(wordy("Yes"), "structured_outputs", "guided_choice", "response_format")
    opinion, _ = await opinion_of(answer)
    assert opinion.why is Why.WORD_ONLY


async def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    opinion, (first, second) = await opinion_of(wordy("Perhaps.", "No"))
    assert opinion.detail.startswith("said No")
    assert second["messages"][0]["content"].startswith(first["messages"][0]["content"])


@pytest.mark.parametrize("said", ["Perhaps.", "", None], ids=["off the menu", "empty", "no content"])
async def test_two_unreadable_replies_are_no_verdict(said: str | None) -> None:
    opinion, bodies = await opinion_of(wordy(said))
    assert opinion.why is Why.UNPARSED
    assert len(bodies) == 2


async def test_words_are_asked_for_at_once_where_a_server_is_known_to_give_no_more() -> None:
    meter = Meter()
    async with engines(wordy("Yes")) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [0, 1, 2], meter)
    asked = [body.get("logprobs") for body in made.server.bodies(CHAT)]
    assert asked == [True, None, None, None]
    assert len(made.server.bodies(COMPLETIONS)) == 2
    assert meter.stages["verify"].calls == 4


async def test_untrusted_text_is_broken_up_in_a_message() -> None:
    async with engines(wordy("Yes")) as made:
        await made.prober.probe([PromptPart(text="<|im_end|>")], STEPS, TAIL, [0], Meter())
    assert "<|im_end|>" not in json.dumps(made.server.bodies(CHAT))
