import math
from typing import Any

import pytest

from rafs.contracts import PromptPart
from rafs.engines.remembered_probes import is_lasting
from rafs.engines.server_prober import ServerProber
from rafs.errors import BackendError
from rafs.types import Abstained, LabelMass, Why
from rafs.usage import Caller, Meter, Priority
from tests.rafs.engines.scripted_server import Answer, Reply, at, in_turn, reply_json
from tests.rafs.engines.served_engines import (
    CHAT,
    COMPLETIONS,
    HEAD,
    STEPS,
    TAIL,
    TOKENIZE,
    chat_probed,
    chatted,
    engines,
    listing_labels,
    probed,
    strict,
    tokenized,
    vllm,
    yes_no,
)
from tests.rafs.engines.tiny_models import TINY, tiny_tokenizer


def text_only(completions: Answer) -> Answer:
    """A server without a tokenizer to ask."""
    return at({COMPLETIONS: completions})


def acme(**caller: Any) -> Meter:
    return Meter(caller=Caller(**caller))


async def test_probes_are_sent_shortest_first_with_one_new_token() -> None:
    async with engines(text_only(in_turn(probed())), max_concurrent=1) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [2, 0, 1], Meter())
    bodies = made.server.bodies(COMPLETIONS)
    assert [body["prompt"] for body in bodies] == ["P: one s0 ok?", "P: one s0 s1 ok?", "P: one s0 s1 s2 ok?"]
    assert (bodies[0]["max_tokens"], bodies[0]["temperature"], bodies[0]["logprobs"]) == (1, 0, 20)


async def test_mass_is_read_from_the_listed_tokens() -> None:
    async with engines(text_only(in_turn(probed()))) as made:
        (mass,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert yes_no(mass) == pytest.approx([0.6, 0.3])


async def test_tokens_found_in_the_prefix_cache_are_not_counted() -> None:
    meter = Meter()
    async with engines(text_only(in_turn(probed(prompt_tokens_details={"cached_tokens": 5})))) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [0, 1], meter)
    assert (meter.stages["verify"].calls, meter.stages["verify"].tokens) == (2, 8)


async def test_more_tokens_in_the_cache_than_there_are_is_no_negative_cost() -> None:
    meter = Meter()
    async with engines(in_turn(probed(total_tokens=5, prompt_tokens_details={"cached_tokens": 9}))) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, [0], meter)
    assert meter.stages["verify"].tokens == 0


async def test_the_servers_ids_are_those_of_a_local_tokenizer() -> None:
    async with engines(vllm()) as made:
        local = ServerProber(made.connection, TINY, tokenizer=tiny_tokenizer())
        for prober in (made.prober, local):
            await prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter())
    bodies = made.server.bodies(COMPLETIONS)
    assert bodies[:2] == bodies[2:]
    assert bodies[0]["prompt"] == tiny_tokenizer().join([*HEAD, *STEPS[0], *TAIL])


async def test_the_labels_are_asked_for_by_id_and_summed() -> None:
    async with engines(vllm()) as made:
        (mass,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    (body,) = made.server.bodies(COMPLETIONS)
    yes, no = (tiny_tokenizer().single_ids([*spelled]) for spelled in (["Yes", "yes", " Yes"], ["No", " No"]))
    assert set(body["logprob_token_ids"]) >= {*yes, *no}
    n = len(body["logprob_token_ids"])
    assert sum(yes_no(mass)) == pytest.approx(0.01 * n * (n + 1) / 2)


async def test_ids_are_listed_as_ids_where_a_server_ignores_the_request_for_the_labels() -> None:
    yes, no = (tiny_tokenizer().single_ids([f" {label}"])[0] for label in ("Yes", "No"))
    top = {f"token_id:{yes}": math.log(0.5), f"token_id:{no}": math.log(0.25), "token_id:7": math.log(0.2)}
    async with engines(vllm(in_turn(probed(top)))) as made:
        (mass,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert yes_no(mass) == pytest.approx([0.5, 0.25])


async def test_prompt_logprobs_are_never_asked_for() -> None:
    async with engines(vllm()) as made:
        await made.prober.probe(HEAD, STEPS, TAIL, range(3), Meter())
    assert not any({"prompt_logprobs", "echo"} & set(request.body) for request in made.server.requests)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(probed({" Yes": -0.1, "x": -3.0}), id="one label missing"),
        pytest.param(probed({"x": -0.1}), id="both missing"),
    ],
)
async def test_labels_that_did_not_come_back_are_no_verdict(reply: Reply) -> None:
    async with engines(text_only(in_turn(reply))) as made:
        (opinion,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.NO_LABELS


@pytest.mark.parametrize(
    "top",
    [
        pytest.param({" Yes": math.nan, " No": -1.0}, id="NaN"),
        pytest.param({" Yes": 0.5, " No": -1.0}, id="above 0"),
        pytest.param({" Yes": 10**400, " No": -1.0}, id="beyond floats"),
        pytest.param({" Yes": "-0.1", " No": -1.0}, id="a text"),
        pytest.param({" Yes": None, " No": -1.0}, id="nothing"),
        pytest.param({" Yes": True, " No": -1.0}, id="a truth value"),
        pytest.param({" Yes": -0.1, " No": -0.1}, id="sums to more than 1"),
    ],
)
async def test_what_is_no_probability_is_a_backend_error(top: object) -> None:
    async with engines(text_only(in_turn(probed(top)))) as made:
        with pytest.raises(BackendError, match="probability"):
            await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())


@pytest.mark.parametrize("least", [-math.inf, -9999.0, -(10**400)], ids=["infinite", "vLLM's", "beyond floats"])
async def test_no_mass_at_all_on_one_label_is_read_as_none(least: float) -> None:
    async with engines(text_only(in_turn(probed({" Yes": -0.1, " No": least})))) as made:
        (mass,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(mass, LabelMass)
    assert mass.no == 0


@pytest.mark.parametrize(
    "said",
    [
        "This model's maximum context length is 2048 tokens. However, your prompt has 4000 input tokens.",
        "Input length (90) exceeds model's maximum context length (80).",
        "the request exceeds the available context size",
    ],
)
async def test_a_prompt_beyond_the_servers_window_is_too_long(said: str) -> None:
    refusal = reply_json({"error": {"message": said}}, status=400)
    async with engines(text_only(in_turn(refusal))) as made:
        (opinion,) = await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter())
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.TOO_LONG


@pytest.mark.parametrize("said", [8, 512], ids=["the server's", "given"])
async def test_a_known_window_refuses_before_asking(said: int) -> None:
    def with_window(request: Any) -> Reply:
        return Reply(body=tokenized(request).body.replace(b'"max_model_len": 512', b'"max_model_len": %d' % said))

    async with engines(at({TOKENIZE: with_window, COMPLETIONS: listing_labels})) as made:
        prober = ServerProber(made.connection, TINY, window=7 if said == 512 else None)
        opinions = await prober.probe(HEAD, STEPS * 3, TAIL, [8], Meter())
    assert isinstance(opinions[0], Abstained)
    assert opinions[0].why is Why.TOO_LONG
    assert made.server.bodies(COMPLETIONS) == []


async def test_untrusted_text_is_broken_up_where_text_must_be_sent() -> None:
    async with engines(text_only(in_turn(probed()))) as made:
        await made.prober.probe([PromptPart(text="<|im_end|>")], STEPS, TAIL, [0], Meter())
    assert made.server.bodies(COMPLETIONS)[0]["prompt"].startswith("< |im_end|>")


async def test_a_server_that_refuses_token_ids_is_sent_text_from_then_on() -> None:
    def no_ids(request: Any) -> Reply:
        return probed() if isinstance(request.body["prompt"], str) else reply_json({"error": "no text"}, status=422)

    async with engines(vllm(no_ids)) as made:
        opinions = await made.prober.probe(HEAD, STEPS, TAIL, range(3), Meter())
    prompts = [type(body["prompt"]) for body in made.server.bodies(COMPLETIONS)]
    assert prompts == [list, str, str, str]
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


async def test_fields_that_a_server_refuses_are_left_out_from_then_on() -> None:
    unknown = ("logprob_token_ids", "return_tokens_as_token_ids", "priority", "cache_salt")
    async with engines(vllm(strict(in_turn(probed()), *unknown))) as made:
        opinions = await made.prober.probe(HEAD, STEPS, TAIL, range(3), acme(tenant="acme"))
    assert len(made.server.bodies(COMPLETIONS)) == 1 + 3
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


async def test_a_refusal_over_something_else_unlearns_no_field() -> None:
    quoting = reply_json({"error": "bad request: {'cache_salt': ...}"}, status=400)
    async with engines(text_only(in_turn(quoting, quoting, probed()))) as made:
        with pytest.raises(BackendError):
            await made.prober.probe(HEAD, STEPS, TAIL, [0], acme(tenant="acme"))
        await made.prober.probe(HEAD, STEPS, TAIL, [0], acme(tenant="acme"))
    assert "cache_salt" in made.server.bodies(COMPLETIONS)[-1]


async def test_each_tenant_has_a_cache_of_its_own_under_a_name_that_tells_nothing() -> None:
    async with engines(vllm()) as made:
        for tenant in ("acme", "acme", "other", ""):
            await made.prober.probe(HEAD, STEPS, TAIL, [0], acme(tenant=tenant))
    first, again, other, none = (body.get("cache_salt") for body in made.server.bodies(COMPLETIONS))
    assert first == again
    assert len({first, other, none}) == 3
    assert none is None
    assert "acme" not in str(first)
    assert len(str(first)) <= 128


async def test_nobody_can_foretell_the_name_of_a_tenants_cache() -> None:
    names = set()
    for _ in range(2):
        async with engines(vllm()) as made:
            await made.prober.probe(HEAD, STEPS, TAIL, [0], Meter(caller=Caller(tenant="acme")))
        names.add(made.server.bodies(COMPLETIONS)[0]["cache_salt"])
    assert len(names) == 2


async def test_priority_is_the_callers() -> None:
    async with engines(vllm()) as made:
        for priority in Priority:
            await made.prober.probe(HEAD, STEPS, TAIL, [0], acme(priority=priority))
    assert [body.get("priority", 0) for body in made.server.bodies(COMPLETIONS)] == [0, 1, 2]


async def test_a_server_that_lists_few_tokens_is_asked_for_few() -> None:
    def few(request: Any) -> Reply:
        few = request.body["logprobs"] <= 5
        return probed() if few else reply_json({"error": "logprobs must be at most 5"}, status=400)

    async with engines(text_only(few)) as made:
        opinions = await made.prober.probe(HEAD, STEPS, TAIL, range(3), Meter())
    assert [body["logprobs"] for body in made.server.bodies(COMPLETIONS)] == [20, 5, 5, 5]
    assert all(isinstance(opinion, LabelMass) for opinion in opinions)


@pytest.mark.parametrize(
    "completions",
    [
        pytest.param(reply_json({"error": "not found"}, status=404), id="no completions"),
        pytest.param(reply_json({"choices": [{"text": " Yes", "logprobs": None}]}), id="no log-probabilities"),
        pytest.param(reply_json({"choices": [{"logprobs": {"top_logprobs": []}}]}), id="an empty list"),
    ],
)
async def test_where_completions_give_no_probabilities_a_chat_is_asked_for_them(completions: Reply) -> None:
    answer = at({COMPLETIONS: in_turn(completions), CHAT: in_turn(chat_probed())})
    async with engines(answer) as made:
        opinions = await made.prober.probe(HEAD, STEPS, TAIL, range(3), Meter())
    assert [yes_no(opinion) for opinion in opinions] == [pytest.approx([0.6, 0.3])] * 3
    assert len(made.server.bodies(COMPLETIONS)) <= 2
    assert made.server.bodies(CHAT)[0]["messages"] == [{"role": "user", "content": "P: one s0 ok?"}]


async def test_a_reply_without_probabilities_from_a_server_that_gave_them_is_no_verdict() -> None:
    answer = text_only(in_turn(probed(), chatted("Yes")))
    async with engines(answer) as made:
        mass, opinion = await made.prober.probe(HEAD, STEPS, TAIL, [0, 1], Meter())
    assert isinstance(mass, LabelMass)
    assert isinstance(opinion, Abstained)
    assert opinion.why is Why.UNPARSED
    assert not is_lasting(opinion)  # the next reply may list them


async def test_one_failed_probe_fails_the_call_as_itself() -> None:
    async with engines(text_only(in_turn(probed(), Reply(status=401)))) as made:
        with pytest.raises(BackendError, match="401"):
            await made.prober.probe(HEAD, STEPS, TAIL, [0, 1, 2], Meter())
