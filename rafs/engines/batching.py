"""One inference thread per model: many awaiting callers, few blocking model calls."""

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from time import perf_counter
from typing import Generic, TypeVar

from rafs.errors import BackendError, OverloadedError, RafsError

UNMEASURED_RETRY_AFTER_S = 1.0
"""Told to a refused caller before the first batch has finished, when no rate is known yet."""
RATE_MEMORY = 0.8
"""Weight of the past in the moving average of tokens per second: about the last five batches."""


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)  # two callers may ask the same
class _Entry(Generic[Item, Result]):
    item: Item
    tokens: int
    future: Future[Result] = field(default_factory=Future)


def cut_batches(sizes: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Cut the inputs of one call into padded batches, decided by that call alone.

    A float sum depends on the shape of its batch, so a model that pads runs each of these as one item, alone: who
    else is queued then changes no bit of a result.

    Args:
        sizes: Tokens of each input.
        batch_tokens: Bound of (longest input) x (number of inputs); a larger input is a batch of its own.

    Returns:
        Positions in `sizes`, shortest input first; equal ones in order.
    """
    batches: list[list[int]] = []
    for at in sorted(range(len(sizes)), key=sizes.__getitem__):
        if not batches or sizes[at] * (len(batches[-1]) + 1) > batch_tokens:
            batches.append([])
        batches[-1].append(at)
    return batches


class MicroBatcher(Generic[Item, Result]):
    """Runs a blocking function over queued items, on a thread of its own, in batches bounded in tokens.

    Whatever is queued is batched at once; there is no waiting window. Items whose caller has left are skipped.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        *,
        name: str,
        batch_tokens: int,
        queue_tokens: int,
    ) -> None:
        """Keep the settings; the thread starts with the first item.

        Args:
            run: Blocking; maps items to as many results, in order.
            name: Name of the model, for the thread and for messages.
            batch_tokens: Bound of (longest item) x (number of items) in one batch: the padded size. An item
                that is larger runs alone.
            queue_tokens: Bound of the tokens waiting or running.
        """
        self._run = run
        self._name = name
        self._batch_tokens = batch_tokens
        self._queue_tokens = queue_tokens
        self._waiting: deque[_Entry[Item, Result]] = deque()
        self._tokens = 0
        self._rate = math.nan
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, items: Sequence[tuple[Item, int]]) -> list[Result]:
        """Queue (item, tokens) pairs and return their results, in order.

        All are admitted or none. A request larger than the whole bound is admitted when nothing else waits, so
        that it can be served at all.

        Raises:
            OverloadedError: The queue is full; nothing was queued.
            BackendError: The function failed, or the batcher is closed.
        """
        entries: list[_Entry[Item, Result]] = [_Entry(item=item, tokens=tokens) for item, tokens in items]
        self._admit(entries)
        try:
            return await asyncio.gather(*(asyncio.wrap_future(entry.future) for entry in entries))
        except asyncio.CancelledError:
            self._forget(entries)
            raise

    def close(self) -> None:
        """Refuse new items, fail the waiting ones, and let the running batch end."""
        with self._changed:
            self._closed = True
            dropped = list(self._waiting)
            self._waiting.clear()
            self._tokens -= sum(entry.tokens for entry in dropped)
            self._changed.notify()
        for entry in dropped:
            if entry.future.set_running_or_notify_cancel():
                entry.future.set_exception(BackendError(f"{self._name}: shut down while the call was waiting"))
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _forget(self, entries: Sequence[_Entry[Item, Result]]) -> None:
        """Give the room of entries that still wait back at once; those that run give theirs back when they are done."""
        with self._changed:
            for entry in entries:
                if entry in self._waiting and entry.future.cancel():
                    self._waiting.remove(entry)
                    self._tokens -= entry.tokens

    def _admit(self, entries: Sequence[_Entry[Item, Result]]) -> None:
        asked = sum(entry.tokens for entry in entries)
        with self._changed:
            if self._closed:
                raise BackendError(f"{self._name}: already shut down")
            if self._tokens and self._tokens + asked > self._queue_tokens:
                raise OverloadedError(
                    f"{self._name}: {self._tokens} tokens are queued, {asked} more would pass the bound of "
                    f"{self._queue_tokens}",
                    retry_after_s=self._retry_after_s(),
                )
            self._waiting.extend(entries)
            self._tokens += asked
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=f"infer-{self._name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _retry_after_s(self) -> float:
        return UNMEASURED_RETRY_AFTER_S if math.isnan(self._rate) else self._tokens / self._rate

    def _serve(self) -> None:
        while batch := self._next_batch():
            started = perf_counter()
            outcome = self._results(batch)
            tokens = sum(entry.tokens for entry in batch)
            rate = tokens / max(perf_counter() - started, 1e-6)
            # Room first, then the results: a caller may ask again the moment it has them.
            with self._changed:
                self._tokens -= tokens
                known = not math.isnan(self._rate)
                self._rate = RATE_MEMORY * self._rate + (1 - RATE_MEMORY) * rate if known else rate
            if isinstance(outcome, RafsError):
                for entry in batch:
                    entry.future.set_exception(outcome)
            else:
                for entry, result in zip(batch, outcome, strict=True):
                    entry.future.set_result(result)

    def _next_batch(self) -> list[_Entry[Item, Result]]:
        """Wait for items and take those that fit one batch; an empty list means closed."""
        batch: list[_Entry[Item, Result]] = []
        longest = 0
        with self._changed:
            while not batch:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    break
                while self._waiting:
                    entry = self._waiting[0]
                    longest = max(longest, entry.tokens)
                    if batch and longest * (len(batch) + 1) > self._batch_tokens:
                        break
                    self._waiting.popleft()
                    if entry.future.set_running_or_notify_cancel():
                        batch.append(entry)
                    else:
                        self._tokens -= entry.tokens
        return batch

    def _results(self, batch: Sequence[_Entry[Item, Result]]) -> Sequence[Result] | RafsError:
        try:
            results = self._run([entry.item for entry in batch])
        except RafsError as error:
            return error
        except Exception as error:  # Task boundary: a failed batch fails its own callers, not the thread.
            failure = BackendError(f"{self._name}: {error}")
            failure.__cause__ = error
            return failure
        if len(results) != len(batch):
            return BackendError(f"{self._name}: {len(batch)} items gave {len(results)} results")
        return results
