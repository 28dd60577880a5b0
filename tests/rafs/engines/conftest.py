"""A queue in front of a function that can be held back."""

from collections.abc import Iterator

import pytest

from rafs.engines.batching import MicroBatcher
from tests.rafs.engines.doubler import Doubler


@pytest.fixture
def doubler() -> Doubler:
    return Doubler()


@pytest.fixture
def batcher(doubler: Doubler) -> Iterator[MicroBatcher[int, int]]:
    batcher = MicroBatcher(doubler, name="doubler", batch_tokens=100, queue_tokens=300)
    yield batcher
    doubler.may_go_on.set()
    batcher.close()
