"""Keys and values that are written behind those held."""

from typing import Any

from rafs.engines.growing_cache import ROOM, growing_cache


def states(n: int) -> Any:
    import torch

    return torch.randn(3, 2, n, 4)


def test_what_is_appended_stands_behind_what_was_there_however_often_it_grows() -> None:
    import torch

    torch.manual_seed(0)
    cache, keys = growing_cache(), [states(5)]
    cache.update(keys[0], keys[0], 0)
    for _ in range(2 * ROOM + 3):
        keys.append(states(1))
        held, _ = cache.update(keys[-1], keys[-1], 0)
    assert torch.equal(held, torch.cat(keys, dim=2))
    assert cache.get_seq_length() == held.shape[2]


def test_rows_that_were_chosen_go_on_by_themselves() -> None:
    import torch

    torch.manual_seed(0)
    cache, first, second = growing_cache(), states(5), states(1)
    cache.update(first, first, 0)
    cache.update(second, second, 0)
    chosen = torch.tensor([2, 0])
    cache.reorder_cache(chosen)
    third = states(1)[:2]
    held, _ = cache.update(third, third, 0)
    assert torch.equal(held, torch.cat([torch.cat([first, second], dim=2)[chosen], third], dim=2))
