"""The log-probabilities of a reply's first token, checked, and the labels' mass in them."""

from collections.abc import Mapping

from rafs.engines.known_server import choices_of
from rafs.engines.label_mass import Labels, read_label_mass
from rafs.engines.server_connection import Json
from rafs.errors import BackendError
from rafs.types import Abstained, LabelMass

ROUNDING = 1e-3
"""By which servers that compute in half precision may pass a probability of 1."""
LEAST = -9999.0
"""What vLLM writes for log 0."""
MAX_DIGITS = 9
"""Of a token id."""
_ID = "token_id:"
"""Before an id, where vLLM is told to name tokens so."""


def completion_logprobs(reply: Mapping[str, Json]) -> Mapping[str, float] | None:
    """Return token -> log-probability of a completion's first token; None where the server gives none.

    Raises:
        BackendError: What it gives are no log-probabilities.
    """
    given = choices_of(reply)[0].get("logprobs")
    listed = given.get("top_logprobs") if isinstance(given, dict) else None
    first = listed[0] if isinstance(listed, list) and listed else None
    if not isinstance(first, dict) or not first:
        return None
    return {token: _checked(value) for token, value in first.items()}


def chat_logprobs(reply: Mapping[str, Json]) -> Mapping[str, float] | None:
    """Return the same of a chat reply.

    Raises:
        BackendError: What it gives are no log-probabilities.
    """
    given = choices_of(reply)[0].get("logprobs")
    tokens = given.get("content") if isinstance(given, dict) else None
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    if not isinstance(listed, list) or not listed:
        return None
    found: dict[str, float] = {}
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(token := entry.get("token"), str):
            raise BackendError("the model server lists a token without a name")
        found.setdefault(token, _checked(entry.get("logprob")))
    return found


def read_listed_mass(
    listed: Mapping[str, float], labels: Labels, spellings: Mapping[int, str]
) -> LabelMass | Abstained:
    """Sum the labels' spellings; see `read_label_mass`.

    Args:
        listed: Token -> log-probability; a token is a text, or `token_id:` and its id.
        labels: The two labels.
        spellings: Id -> text of the tokens that spell a label.

    Raises:
        BackendError: The probabilities sum to more than 1.
    """
    mass = read_label_mass({_name(token, spellings): value for token, value in listed.items()}, labels)
    if isinstance(mass, LabelMass) and mass.yes + mass.no > 1 + ROUNDING:
        raise BackendError(f"the model server gives both labels together a probability of {mass.yes + mass.no:.3g}")
    return mass


def _name(token: str, spellings: Mapping[int, str]) -> str:
    number = token.removeprefix(_ID)
    is_id = token.startswith(_ID) and number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS
    return spellings.get(int(number), token) if is_id else token


def _checked(value: Json) -> float:
    """Return a log-probability, no greater than 0 and no less than `LEAST`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value <= ROUNDING:  # nor NaN
        got = "a number above 0, or none" if isinstance(value, float | int) else type(value).__name__
        raise BackendError(f"the model server gives no log-probability but {got}")  # not the value: it may be the key
    return float(min(0.0, max(LEAST, value)))
