"""Few rows through layers with more outputs than inputs."""

import pytest

from rafs.engines.tall_linear import MOST_ROWS, speed_up_few_rows


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("n_rows", [1, 2, MOST_ROWS, MOST_ROWS + 1])
def test_the_product_is_that_of_the_plain_layer(n_rows: int, has_bias: bool) -> None:
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(24, 96, bias=has_bias))
    rows = torch.randn(n_rows, 1, 24)
    plain = model(rows)
    speed_up_few_rows(model)
    assert torch.allclose(model(rows), plain, atol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 2, MOST_ROWS, MOST_ROWS + 1])
def test_the_product_can_be_viewed_in_any_shape_as_that_of_the_plain_layer(n_rows: int) -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(24, 96, bias=False))
    speed_up_few_rows(model)
    assert model(torch.randn(1, n_rows, 24)).is_contiguous()


def test_layers_that_give_less_than_they_take_stay_as_they_are() -> None:
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(96, 24), torch.nn.Linear(24, 96))
    speed_up_few_rows(model)
    assert [type(layer) is torch.nn.Linear for layer in model] == [True, False]
