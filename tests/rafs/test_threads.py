import asyncio

import pytest

from rafs.threads import in_thread


async def test_an_iterator_that_ends_too_soon_is_an_error_and_no_endless_wait() -> None:
    with pytest.raises(RuntimeError, match="more than it has"):
        await asyncio.wait_for(in_thread(next, iter(())), 10)


async def test_results_and_other_errors_come_back_as_they_are() -> None:
    assert await in_thread(int, "17", base=8) == 15
    with pytest.raises(ValueError, match="invalid literal"):
        await in_thread(int, "nine")
