"""Drawing many continuations together: one batch, and a random stream for each row."""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rafs.engines.row_cache import Prefill, prefill, prefill_tokens
from rafs.errors import BackendError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

FAST_ROWS = 4
"""Two or three rows are run as four: on a CPU torch multiplies four faster (80 ms a token of a 135 M model; 85 for two
and 93 for three), and on a GPU it makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One continuation to draw."""

    prompt: tuple[int, ...]
    seed: int
    max_new_tokens: int
    """At least 1."""

    @property
    def n_tokens(self) -> int:
        """Of the prompt and what may be drawn."""
        return len(self.prompt) + self.max_new_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeJob:
    """Rows of one request; what their prompts share is run once."""

    rows: tuple[Row, ...]
    abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when the caller has left; its rows then end at the next token."""

    @property
    def size(self) -> tuple[int, int]:
        """Rows, and tokens of the longest with what may be drawn."""
        return len(self.rows), max(row.n_tokens for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What was drawn for one job."""

    rows: tuple[tuple[int, ...], ...]
    """New tokens of each row, without the end token."""
    ended: tuple[bool, ...]
    """Whether each row ended by itself; False where a length limit cut it."""
    logprobs: tuple[float, ...]
    """Natural log-probability of each row's tokens at temperature 1, the end token included."""
    lengths: tuple[int, ...]
    """Tokens of each row, the end token included."""
    tokens: int
    """Tokens that went through the model for this job, prefill and decoding, less copies that fill a batch up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """How rows are drawn, the same for all rows of a batch."""

    temperature: float
    """0 is greedy."""
    end_ids: frozenset[int]
    """Tokens that end a text."""
    top_p: float = 1.0
    """Tokens are drawn from the fewest likeliest ones with at least this probability together, in (0, 1]."""
    is_stopped: Callable[[Sequence[int]], bool] | None = None
    """Says of the tokens drawn so far whether the text has come to its stop; None where nothing but a token ends it."""
    prefill: Prefill
    """One that is exact for the model."""
    give_way: Callable[[], None] = lambda: None
    """Called between two tokens, to let more urgent work run first."""


@dataclass(slots=True, kw_only=True)
class _Line:
    """A row while it is drawn."""

    row: Row
    abandoned: threading.Event
    stream: random.Random
    drawn: list[int] = field(default_factory=list)
    ended: bool = False
    logprob: float = 0.0
    length: int = 0

    def goes_on_after(self, token: int, logprob: float, how: Decoding) -> bool:
        """Take a token, and say whether another one is wanted."""
        self.logprob += logprob
        self.length += 1
        self.ended = token in how.end_ids
        if not self.ended:
            self.drawn.append(token)
            self.ended = how.is_stopped is not None and how.is_stopped(self.drawn)
        return not (self.ended or len(self.drawn) == self.row.max_new_tokens or self.abandoned.is_set())


def decode(model: "PreTrainedModel", jobs: Sequence[DecodeJob], how: Decoding) -> list[Decoded]:
    """Draw every row of every job, all in one batch.

    A row has its own random stream, so what it draws depends on its prompt and seed, not on the rows beside it. Its
    logits do in their last digits (about 1e-6 in fp32, 1e-2 in bf16: sums are ordered by batch), which changes a token
    only where two are that close.

    Args:
        model: Causal language model in evaluation mode.
        jobs: At least one row each.
        how: What is the same for all of them.

    Raises:
        BackendError: The model gave what are no numbers.
    """
    import torch

    if how.prefill is Prefill.ALONE and sum(len(job.rows) for job in jobs) > 1:
        return [_merge([decode(model, [replace(job, rows=(row,))], how)[0] for row in job.rows]) for job in jobs]
    batch = [
        [_Line(row=row, abandoned=job.abandoned, stream=random.Random(row.seed)) for row in job.rows] for job in jobs
    ]
    tokens = [prefill_tokens([row.prompt for row in job.rows], how.prefill) for job in jobs]
    with torch.inference_mode():
        rows = prefill(model, [[row.prompt for row in job.rows] for job in jobs], how.prefill, how.give_way)
        active = [(place, line) for place, lines in enumerate(batch) for line in lines]
        while True:
            chosen = _draw(rows.logits[: len(active)], how, [line.stream for _, line in active])
            taken = enumerate(zip(active, chosen, strict=True))
            keep = [at for at, ((_, line), (token, logprob)) in taken if line.goes_on_after(token, logprob, how)]
            if not keep:
                break
            rows.select(filled_up(keep, len(active), len(rows.mask)))
            active = [active[at] for at in keep]
            how.give_way()
            new = [line.drawn[-1] for _, line in active]
            rows.advance(model, new + new[-1:] * (len(rows.mask) - len(new)))
            for place, _ in active:
                tokens[place] += 1
    return [_decoded(lines, count) for lines, count in zip(batch, tokens, strict=True)]


def filled_up(keep: Sequence[int], n_active: int, n_rows: int) -> list[int]:
    """Return the rows to run next: those kept, and copies of the last one where few rows are faster for one more.

    Args:
        keep: Places of the rows that go on; at least one.
        n_active: Rows that were drawn from; copies stand behind them.
        n_rows: All rows, copies included.
    """
    width = FAST_ROWS if 1 < len(keep) < FAST_ROWS else len(keep)
    if len(keep) == n_active and n_rows == width:
        return list(range(n_rows))  # nothing is copied
    return [*keep, *[keep[-1]] * (width - len(keep))]


def _decoded(lines: Sequence[_Line], tokens: int) -> Decoded:
    return Decoded(
        rows=tuple(tuple(line.drawn) for line in lines),
        ended=tuple(line.ended for line in lines),
        logprobs=tuple(line.logprob for line in lines),
        lengths=tuple(line.length for line in lines),
        tokens=tokens,
    )


def _merge(parts: Sequence[Decoded]) -> Decoded:
    return Decoded(
        rows=tuple(row for part in parts for row in part.rows),
        ended=tuple(ended for part in parts for ended in part.ended),
        logprobs=tuple(logprob for part in parts for logprob in part.logprobs),
        lengths=tuple(length for part in parts for length in part.lengths),
        tokens=sum(part.tokens for part in parts),
    )


def _draw(logits: "torch.Tensor", how: Decoding, streams: Sequence[random.Random]) -> list[tuple[int, float]]:
    """Draw one token per row, with its log-probability by the model itself: at temperature 1, of all tokens."""
    import torch

    if logits.isnan().any():
        raise BackendError("the model's logits are no numbers")
    logits = logits.float()  # (rows, V)
    if how.temperature == 0:
        drawn = logits.argmax(dim=-1)
    else:
        uniform = torch.tensor([[stream.random()] for stream in streams], dtype=torch.double, device=logits.device)
        drawn = _place((logits.double() / how.temperature).softmax(dim=-1), how.top_p, uniform)
    logprobs = logits.gather(1, drawn[:, None])[:, 0] - logits.logsumexp(dim=-1)
    return list(zip(drawn.tolist(), logprobs.tolist(), strict=True))


def _place(shares: "torch.Tensor", top_p: float, uniform: "torch.Tensor") -> "torch.Tensor":
    """Return the first token of each row whose cumulative probability passes the row's uniform number.

    Args:
        shares: Probabilities, shape (rows, V).
        top_p: Less likely tokens are left out once those before them have this probability together.
        uniform: In [0, 1), shape (rows, 1).
    """
    import torch

    if top_p < 1:
        ordered, order = shares.sort(dim=-1, descending=True, stable=True)
        ordered[ordered.cumsum(dim=-1) - ordered >= top_p] = 0
        shares = torch.zeros_like(shares).scatter(1, order, ordered)
    mass = shares.cumsum(dim=-1)
    places = torch.searchsorted(mass, uniform * mass[:, -1:], right=True)[:, 0]
    return places.clamp(max=mass.shape[-1] - 1)
