"""Made-up citations: an id of the registry, and the same one with a character changed so that it is in it no more."""

import string
from collections.abc import Sequence
from random import Random

from rafs.errors import InputError
from rafs.types import Truth
from verifiers.oracles.audit_items import Made, make
from verifiers.oracles.citations import CitationOracle, Style

MAX_LISTED = 30
"""Ids that a problem lists, so that a judge can know which there are."""
MAX_TRIES = 200
TOPICS = ("storage", "labels", "safety", "payment", "transport", "records")
_WRITTEN = {
    Style.BRACKETED: ("[{}]", "{}"),
    Style.ARXIV: ("arXiv:{}", "{}"),
    Style.CASE_NUMBER: ("{}", "No. {}"),
    Style.PUBMED: ("PMID {}", "{}"),
}


def make_citations(ids: Sequence[str], style: Style, n: int, seed: int) -> list[Made]:
    """Return n problems that list ids of the registry, each with a citation of one of them and of none.

    Raises:
        InputError: The ids are not written as citations of that style, or none can be changed into another.
    """
    oracle = CitationOracle(ids, style)

    def draw(random: Random) -> Made:
        for _ in range(MAX_TRIES):
            id = random.choice(ids)
            right, wrong = _cite(id, style, oracle), _changed(id, style, oracle, random)
            if right is not None and wrong is not None:
                others = random.sample(ids, min(len(ids), MAX_LISTED))
                listed = sorted({id, *others[: MAX_LISTED - 1]})
                problem = (
                    "Only the documents listed here exist. Name one that may be cited on "
                    f"{random.choice(TOPICS)}.\n" + "\n".join(listed)
                )
                return Made(domain=style.value, problem=problem, right=f"See {right}.", wrong=f"See {wrong}.")
        message = f"no id of the registry, such as {ids[0]!r}, could be cited in style {style.value!r} and changed"
        raise InputError(message, field="--style", got=style.value, allowed="the style in which the ids are written")

    return make([(style.value, draw)], n, seed, lambda made: oracle)


def _cite(id: str, style: Style, oracle: CitationOracle, truth: Truth = Truth.TRUE) -> str | None:
    """Return an id as it is cited, where the oracle then says of it what it should."""
    written = [form.format(id) for form in _WRITTEN.get(style, ("{}",))]
    return next((one for one in written if oracle.decide("", f"See {one}.").truth is truth), None)


def _changed(id: str, style: Style, oracle: CitationOracle, random: Random) -> str | None:
    """Return a citation that is not in the registry and differs in one character."""
    places = [t for t, char in enumerate(id) if char.isascii() and char.isalnum()]
    for _ in range(MAX_TRIES // 10 if places else 0):
        t = random.choice(places)
        char = random.choice(string.digits if id[t].isdigit() else string.ascii_lowercase)
        if (wrong := _cite(id[:t] + char + id[t + 1 :], style, oracle, Truth.FALSE)) is not None:
            return wrong
    return None
