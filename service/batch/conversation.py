"""What was asked and what was replied, out of the shapes in which chats are logged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.batch.fields import unfold
from service.request_body import Fault, RequestError
from service.visible import show_value

Turn = Mapping[str, object]

ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""Names that some logs have for the roles."""
REPLYING = ("assistant", "tool", "function")
"""Roles of what comes after a question: a reply, and the calls on its way."""
SPOKEN = ("content", "reasoning_content", "reasoning")
TEXTS = ("text", "completion", "output_text", "output", "response")
"""Keys under which a reply that is an object may hold its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A question as the model saw it, and its reply."""

    problem: str
    trace: object
    """Text, a message, or the turns of a reply with calls in between: as `ScoreRequest.trace` takes them."""
    samples: Sequence[object] = ()
    """Further choices of the same reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    turns: Sequence[Turn]
    samples: Sequence[object] = ()


def refused(field: str, got: object, allowed: str) -> RequestError:
    """Return the error that says which field of a row is wrong."""
    return RequestError([Fault(field=field, got="nothing" if got is None else show_value(got), allowed=allowed)])


def read_exchange(asked: object, replied: object, *, asked_in: str, replied_in: str | None) -> Exchange:
    """Read a question and its reply.

    The problem is the conversation up to the last turn that no model wrote: the text of a lone user as it is, more
    turns each after its role. The trace is what came after it.

    Args:
        asked: Text, messages, or an object with `messages`, `input` or `prompt`.
        replied: Text, a message, messages, an object with `choices`, or None where the messages end in the reply.
        asked_in: The field's name, for the error.
        replied_in: The other one's; None where the row has no such field.

    Raises:
        InputError: There is no question, or no reply.
    """
    turns = _asked(unfold(asked), asked_in)
    reply = _replied(unfold(replied), replied_in or asked_in)
    last = max((at for at, turn in enumerate(turns) if turn["role"] not in REPLYING), default=None)
    if last is None:
        raise refused(asked_in, asked, "messages with one of a user among them")
    said = [*turns[last + 1 :], *reply.turns]
    if not any(turn["role"] == "assistant" for turn in said):
        raise _unanswered(asked_in) if replied_in is None else refused(replied_in, replied, "the reply of an assistant")
    problem = _transcript(turns[: last + 1])
    if not problem:
        raise refused(asked_in, asked, "a question with text in it")
    return Exchange(problem=problem, trace=_trace(said), samples=reply.samples)


def _unanswered(field: str) -> RequestError:
    got = "messages in which the reply of an assistant is missing"
    allowed = "messages that end in it, or a key beside them with it, such as `response`"
    return RequestError([Fault(field=field, got=got, allowed=allowed)])


def read_problem(value: object, field: str) -> str:
    """Return a question as one text.

    Raises:
        InputError: There is none.
    """
    turns = _asked(unfold(value), field)
    if not (problem := _transcript(turns)):
        raise refused(field, value, "a question with text in it")
    return problem


def read_reply(value: object, field: str) -> tuple[object, Sequence[object]]:
    """Return a reply as a request takes a trace, and further choices as it takes samples; a list of texts are steps.

    Raises:
        InputError: There is none.
    """
    found = unfold(value)
    if isinstance(found, list) and found and all(isinstance(step, str) for step in found):
        return found, ()
    reply = _replied(found, field)
    if not reply.turns:
        raise refused(field, value, "text, a list of steps, a message or messages")
    return _trace(reply.turns), reply.samples


def _asked(asked: object, field: str) -> list[Turn]:
    if isinstance(asked, str):
        return [{"role": "user", "content": asked}]
    if isinstance(asked, list) and (turns := _turns(asked)):
        return turns
    if isinstance(asked, Mapping):
        if isinstance(asked.get("role"), str):
            return _turns([asked])
        for name in ("messages", "input", "prompt"):
            if (inner := asked.get(name)) is not None:
                said = asked.get("instructions")
                before: list[Turn] = [{"role": "system", "content": said}] if isinstance(said, str) else []
                return [*before, *_asked(unfold(inner), f"{field}.{name}")]
    raise refused(field, asked, "text, messages, or an object with `messages`, `input` or `prompt`")


def _replied(replied: object, field: str) -> _Reply:
    if replied is None or replied == []:
        return _Reply(turns=[])
    if isinstance(replied, str):
        return _Reply(turns=[{"role": "assistant", "content": replied}])
    items = replied if isinstance(replied, list) else None
    if isinstance(replied, Mapping):
        found = (replied.get(name) for name in ("choices", "output", "messages"))
        items = next((one for one in found if isinstance(one, list) and one), None)
    if items:
        first, *others = items
        if isinstance(first, Mapping) and ("message" in first or ("text" in first and "role" not in first)):
            return _Reply(turns=_of_choice(first), samples=others)
        if turns := _turns(items):
            return _Reply(turns=turns)
    if isinstance(replied, Mapping):
        if isinstance(message := replied.get("message"), Mapping | str):
            return _replied(message, f"{field}.message")
        if "role" in replied or "content" in replied:
            return _Reply(turns=_turns([{"role": "assistant", **replied}]))
        if text := next((replied[key] for key in TEXTS if isinstance(replied.get(key), str)), None):
            return _Reply(turns=[{"role": "assistant", "content": text}])
    raise refused(field, replied, "text, a message, messages, or an object with `choices`")


def _of_choice(choice: Mapping[str, object]) -> list[Turn]:
    message = choice.get("message")
    if isinstance(message, Mapping):
        return _turns([{"role": "assistant", **message}])
    return [{"role": "assistant", "content": choice.get("text")}]


def _turns(items: object) -> list[Turn]:
    """Return the messages of a list; items without a role are calls and their results, or reasoning."""
    turns: list[Turn] = []
    for item in items if isinstance(items, list) else []:
        match item:
            case {"role": str() as role}:
                turns.append({"role": ROLES.get(role, role)} | {key: item[key] for key in SPOKEN if key in item})
            case {"type": "reasoning"}:
                turns.append({"role": "assistant", "content": [item]})
    return turns


def _trace(said: Sequence[Turn]) -> object:
    """Return a lone reply as the text or the message it is, and more turns as they came."""
    if len(said) != 1:
        return list(said)
    spoken = {key: value for key, value in said[0].items() if key != "role" and value is not None}
    return spoken["content"] if list(spoken) == ["content"] and isinstance(spoken["content"], str) else said[0]


def _transcript(turns: Sequence[Turn]) -> str:
    told = [(str(turn["role"]), text) for turn in turns if (text := _text(turn.get("content"))).strip()]
    if len(told) == 1 and told[0][0] == "user":
        return told[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in told)


def _text(content: object) -> str:
    """Return the text of a message; images and calls have none."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
