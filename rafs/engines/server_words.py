"""What a judge says where its server gives no probabilities: a word, shown and never counted."""

from collections.abc import Mapping, Sequence

from rafs.engines.judge_reply import read_reply
from rafs.engines.judge_words import Said
from rafs.engines.known_server import KnownServer, choices_of, message_of, tokens_run
from rafs.engines.label_mass import Labels
from rafs.engines.server_connection import Json
from rafs.types import Abstained, Why
from rafs.usage import Meter, Stage

WORDS_TOKENS = 256
"""Room for a model that explains itself although it was asked for one word."""


async def ask_in_words(server: KnownServer, prompt: str, labels: Labels, meter: Meter) -> Abstained:
    """Ask for one of the labels, and once more where the reply was neither.

    The server is asked to allow nothing else, but may ignore that: the reply is read as if it were free.

    Returns:
        `Abstained(WORD_ONLY)` that says the word, or `Abstained(UNPARSED)`.

    Raises:
        BackendError: See `ServerConnection.post`.
    """
    asked = [prompt, f"{prompt}\nReply with one word, {labels[0]} or {labels[1]}, and nothing else."]
    for text in asked:
        match read_reply(await _reply(server, text, labels, meter), labels).verdict:
            case Said.YES:
                return _said(labels[0])
            case Said.NO:
                return _said(labels[1])
            case Said.UNKNOWN:
                continue
    return Abstained(why=Why.UNPARSED, detail=f"neither {labels[0]} nor {labels[1]}, asked {len(asked)} times")


async def _reply(server: KnownServer, text: str, labels: Labels, meter: Meter) -> str:
    body: dict[str, Json] = {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": WORDS_TOKENS,
        "temperature": 0,
    }
    reply = await server.post("/v1/chat/completions", body, _menu(labels, server.features.refused), meter.caller)
    meter.add(Stage.VERIFY, calls=1, tokens=tokens_run(reply))
    _, content = message_of(choices_of(reply)[0])
    return content


def _menu(labels: Sequence[str], refused: set[str]) -> Mapping[str, Json]:
    """Return the constraint, spelled for vLLM of today and before 0.12, or for servers that refuse both."""
    choices = list(labels)
    if not {"structured_outputs", "guided_choice"} <= refused:
        return {"structured_outputs": {"choice": choices}, "guided_choice": choices}
    verdict: Json = {"type": "string", "enum": choices}
    schema: Json = {
        "type": "object",
        "properties": {"verdict": verdict},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}
    }


def _said(label: str) -> Abstained:
    return Abstained(why=Why.WORD_ONLY, detail=f"said {label}, without a probability")
