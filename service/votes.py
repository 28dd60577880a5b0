"""The vote of the samples in lines for people."""

from collections.abc import Iterator

from rafs.consensus_wire import ConsensusOut
from rafs.wire import ScoreResponse
from service.visible import show_text

MAX_CLASSES = 4
MAX_ANSWER_CHARS = 30


def describe_votes(response: ScoreResponse) -> Iterator[str]:
    """Yield how many samples there are and voted, and then what for."""
    votes = response.consensus
    if votes is None:
        yield f"{response.samples}" if response.samples else "none"
        return
    yield _counts(votes)
    shown = [f"{_plain(group.answers[0])} x {group.size}" for group in votes.classes[:MAX_CLASSES]]
    shown += [f"{len(votes.classes) - MAX_CLASSES} others"] if len(votes.classes) > MAX_CLASSES else []
    if shown:
        yield ", ".join(shown) + _spread(votes)


def describe_ways(response: ScoreResponse) -> Iterator[str]:
    """Yield how far the traces behind the modal answer go different ways, and how often they contradict each other."""
    found, parts = response.stability, list[str]()
    if found.method_diversity is not None:
        parts.append(f"{found.method_diversity:.0%} of the calculations have no counterpart in another trace")
    if found.contradiction is not None:
        parts.append(f"{found.contradiction:.0%} of the pairs of traces contradict each other")
    if parts:
        yield "; ".join(parts)


def _counts(votes: ConsensusOut) -> str:
    there = f"{votes.k_drawn} of {votes.k_planned} drawn" if votes.k_planned else f"{votes.k_sent} sent"
    early = "" if votes.stopped_because in (None, "all_drawn") else f" ({_words(votes.stopped_because)})"
    parts = [f"{there}{early}, {votes.k} voted"]
    parts += [f"{len(votes.copies)} no more than copies"] if votes.copies else []
    parts += [f"{len(votes.truncated)} cut"] if votes.truncated else []
    parts += [f"{len(votes.missing)} without an answer"] if votes.missing else []
    return "; ".join(parts)


def _spread(votes: ConsensusOut) -> str:
    entropy = "" if votes.entropy is None else f"; entropy {votes.entropy:.2f} nats"
    interval = "" if votes.interval is None else ", C {:.2f} to {:.2f} in 95 %".format(*votes.interval)
    return (
        entropy + interval + ("" if votes.bounds is None else ", of all planned {:.2f} to {:.2f}".format(*votes.bounds))
    )


def _words(code: str | None) -> str:
    return (code or "").replace("_", " ")


def _plain(text: str) -> str:
    return show_text(" ".join(text.split()), MAX_ANSWER_CHARS)
