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
from rafs.usage import Caller, Priority

UNMEASURED_RETRY_AFTER_S = 1.0
"""Told to a refused caller before the first batch has finished, when no rate is known yet."""
RATE_MEMORY = 0.8
"""Weight of the past in the moving average of tokens per second: about the last five batches."""
SLICE_TOKENS = 512
"""Bound of a batch of priority BATCH: a more urgent caller waits for one such slice, about 2 s of one core at 135 M."""


Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)  # two callers may ask the same
class _Entry(Generic[Item, Result]):
    item: Item
    tokens: int
    priority: Priority
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

    Whatever is queued is batched at once; there is no waiting window. The most urgent priority goes first, and within
    one the first come; a batch holds one priority, so that nobody's pass is lengthened by less urgent work. While
    urgent work keeps the model busy, batch work does not move at all: it is meant to wait, and its callers' deadlines
    bound how long. Items whose caller has left are skipped.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        *,
        name: str,
        batch_tokens: int,
        queue_tokens: int,
        slice_tokens: int = SLICE_TOKENS,
    ) -> None:
        """Keep the settings; the thread starts with the first item.

        Args:
            run: Blocking; maps items to as many results, in order. One that runs long calls `give_way` in between.
            name: Name of the model, for the thread and for messages.
            batch_tokens: Bound of (longest item) x (number of items) in one batch: the padded size. An item
                that is larger runs alone.
            queue_tokens: Bound of the tokens waiting or running that are as urgent as the caller's or more. So a
                backlog of batch work refuses no gate request, and all together are at most three times as many.
            slice_tokens: Bound of a batch of priority BATCH, where that is less. A function that often gives way has
                no need of it.
        """
        self._run = run
        self._name = name
        self._batch_tokens = batch_tokens
        self._queue_tokens = queue_tokens
        self._slice_tokens = min(batch_tokens, slice_tokens)
        self._waiting: dict[Priority, deque[_Entry[Item, Result]]] = {each: deque() for each in Priority}
        self._tokens = dict.fromkeys(Priority, 0)
        self._rate = math.nan
        self._running: Priority | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, items: Sequence[tuple[Item, int]], caller: Caller) -> list[Result]:
        """Queue (item, tokens) pairs and return their results, in order.

        All are admitted or none. A request larger than the whole bound is admitted when nothing as urgent waits, so
        that it can be served at all.

        Raises:
            OverloadedError: The queue is full; nothing was queued.
            BackendError: The function failed, or the batcher is closed.
        """
        entries: list[_Entry[Item, Result]] = [
            _Entry(item=item, tokens=tokens, priority=caller.priority) for item, tokens in items
        ]
        self._admit(entries, caller.priority)
        try:
            return await asyncio.gather(*(asyncio.wrap_future(entry.future) for entry in entries))
        except (asyncio.CancelledError, RafsError):  # What failed in part is worth no more passes.
            self._forget(entries)
            raise

    def give_way(self) -> None:
        """Run whatever waits and is more urgent than the batch that is running.

        For `run` to call, on the inference thread, between two slices of a long batch.

        Raises:
            BackendError: The batcher is being closed, so the batch is given up.
        """
        if self._closed:
            raise BackendError(f"{self._name}: shut down while the call was running")
        while batch := self._take_batch():
            self._finish(batch)

    def close(self) -> None:
        """Refuse new items, fail the waiting ones, and wait until the running batch ends or next gives way.

        Blocks for one slice, so an event loop calls it on another thread.
        """
        with self._changed:
            self._closed = True
            dropped = [entry for waiting in self._waiting.values() for entry in waiting]
            for entry in dropped:
                self._waiting[entry.priority].popleft()
                self._tokens[entry.priority] -= entry.tokens
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
                if entry in self._waiting[entry.priority] and entry.future.cancel():
                    self._waiting[entry.priority].remove(entry)
                    self._tokens[entry.priority] -= entry.tokens

    def _admit(self, entries: Sequence[_Entry[Item, Result]], priority: Priority) -> None:
        asked = sum(entry.tokens for entry in entries)
        with self._changed:
            if self._closed:
                raise BackendError(f"{self._name}: already shut down")
            ahead = sum(tokens for each, tokens in self._tokens.items() if each <= priority)
            if ahead and ahead + asked > self._queue_tokens:
                raise OverloadedError(
                    f"{self._name}: {ahead} tokens are queued, {asked} more would pass the bound of "
                    f"{self._queue_tokens}",
                    retry_after_s=UNMEASURED_RETRY_AFTER_S if math.isnan(self._rate) else ahead / self._rate,
                )
            self._waiting[priority].extend(entries)
            self._tokens[priority] += asked
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=f"infer-{self._name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: any(self._waiting.values()) or self._closed)
                if not any(self._waiting.values()):
                    return
            if batch := self._take_batch():
                self._finish(batch)

    def _take_batch(self) -> list[_Entry[Item, Result]]:
        """Take what fits one batch of the most urgent priority; empty where none waits that may interrupt."""
        batch: list[_Entry[Item, Result]] = []
        longest = 0
        with self._changed:
            for priority, waiting in self._waiting.items():
                if batch or (self._running is not None and priority >= self._running):
                    break
                bound = self._slice_tokens if priority is Priority.BATCH else self._batch_tokens
                while waiting and (not batch or max(longest, waiting[0].tokens) * (len(batch) + 1) <= bound):
                    entry = waiting.popleft()
                    if entry.future.set_running_or_notify_cancel():
                        batch.append(entry)
                        longest = max(longest, entry.tokens)
                    else:
                        self._tokens[priority] -= entry.tokens
        return batch

    def _finish(self, batch: Sequence[_Entry[Item, Result]]) -> None:
        """Run a batch and hand its results out."""
        interrupted, self._running = self._running, batch[0].priority
        started = perf_counter()
        outcome = self._results(batch)
        tokens = sum(entry.tokens for entry in batch)
        rate = tokens / max(perf_counter() - started, 1e-6)
        # Room first, then the results: a caller may ask again the moment it has them.
        with self._changed:
            self._tokens[batch[0].priority] -= tokens
            known = not math.isnan(self._rate)
            self._rate = RATE_MEMORY * self._rate + (1 - RATE_MEMORY) * rate if known else rate
            self._running = interrupted
        if isinstance(outcome, RafsError):
            for entry in batch:
                entry.future.set_exception(outcome)
        else:
            for entry, result in zip(batch, outcome, strict=True):
                entry.future.set_result(result)

    def _results(self, batch: Sequence[_Entry[Item, Result]]) -> Sequence[Result] | RafsError:
        try:
            results = self._run([entry.item for entry in batch])
        except RafsError as error:
            return error
        except BaseException as error:  # Task boundary: a failed batch (or a panic in Rust) fails its callers alone.
            failure = BackendError(f"{self._name}: {error}")
            failure.__cause__ = error
            return failure
        if len(results) != len(batch):
            return BackendError(f"{self._name}: {len(batch)} items gave {len(results)} results")
        return results
