"""Engines in front of a scripted server, and the replies that servers of several kinds give."""

import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from rafs.contracts import PromptPart
from rafs.engines.prompt_tokens import PartTokenizer
from rafs.engines.server_generator import ServerGenerator
from rafs.engines.server_prober import ServerProber
from rafs.types import LabelMass
from tests.rafs.engines.scripted_server import Answer, Reply, Request, ScriptedServer, at, reply_json, serve
from tests.rafs.engines.tiny_models import TINY, tiny_tokenizer

COMPLETIONS = "/v1/completions"
CHAT = "/v1/chat/completions"
TOKENIZE = "/tokenize"
HEAD = [PromptPart(text="P: ", trusted=True), PromptPart(text="one")]
STEPS = [[PromptPart(text=f" s{n}")] for n in range(3)]
TAIL = [PromptPart(text=" ok?", trusted=True)]
TOP = {" Yes": math.log(0.6), " No": math.log(0.3), "x": math.log(0.1)}


def spent(usage: Mapping[str, object]) -> dict[str, object]:
    return {"total_tokens": 9, **usage}


def probed(top: object = None, **usage: object) -> Reply:
    listed = {"top_logprobs": [TOP if top is None else top]}
    return reply_json({"choices": [{"logprobs": listed}], "usage": spent(usage)})


def chatted(*texts: str | None, finish: str | None = "stop", **usage: object) -> Reply:
    choices = [{"message": {"content": text}, "finish_reason": finish} for text in texts]
    return reply_json({"choices": choices, "usage": spent(usage)})


def chat_probed(listed: object = None) -> Reply:
    top = [{"token": token, "logprob": value} for token, value in TOP.items()] if listed is None else listed
    return reply_json({"choices": [{"message": {"content": "Yes"}, "logprobs": {"content": [{"top_logprobs": top}]}}]})


def refused(*fields: str) -> Reply:
    said = f"Unrecognized request arguments supplied: {', '.join(fields)}"
    return reply_json({"error": {"message": said}}, status=400)


def strict(answer: Answer, *unknown: str) -> Answer:
    """Refuse requests with unknown fields, as some servers do."""

    def check(request: Request) -> Reply:
        found = [name for name in unknown if name in request.body]
        return refused(*found) if found else answer(request)

    return check


def tokenized_by(local: PartTokenizer) -> Answer:
    """Answer as vLLM's `/tokenize` does."""
    tokenizer = local.tokenizer

    def answer(request: Request) -> Reply:
        body = request.body
        if "messages" in body:
            text = tokenizer.apply_chat_template(
                body["messages"], tokenize=False, add_generation_prompt=body["add_generation_prompt"]
            )
            ids = tokenizer(text, add_special_tokens=body.get("add_special_tokens", False))["input_ids"]
        else:
            ids = tokenizer(body["prompt"], add_special_tokens=body["add_special_tokens"])["input_ids"]
        return reply_json({"tokens": ids, "token_strs": tokenizer.convert_ids_to_tokens(ids), "max_model_len": 512})

    return answer


tokenized = tokenized_by(tiny_tokenizer())


def listing_labels(request: Request) -> Reply:
    """Answer as vLLM does: the sampled token and the labels asked for, by id."""
    ids = request.body["logprob_token_ids"]
    return probed(
        {"token_id:1": -0.5, **{f"token_id:{index}": math.log(0.01 * (n + 1)) for n, index in enumerate(ids)}}
    )


def vllm(completions: Answer = listing_labels, **others: Answer) -> Answer:
    """Answer as vLLM does."""
    return at({TOKENIZE: tokenized, COMPLETIONS: completions, **others})


def yes_no(opinion: object) -> list[float]:
    """Return the masses of an opinion that must have some."""
    assert isinstance(opinion, LabelMass)
    return [opinion.yes, opinion.no]


class Engines:
    def __init__(self, server: ScriptedServer, settings: dict[str, Any]) -> None:
        self.server = server
        self.connection = server.connection(**settings)
        self.generator = ServerGenerator(self.connection, TINY)
        self.prober = ServerProber(self.connection, TINY)


@asynccontextmanager
async def engines(answer: Answer, **settings: Any) -> AsyncIterator[Engines]:
    with serve(answer) as server:
        made = Engines(server, settings)
        try:
            yield made
        finally:
            await made.connection.close()
