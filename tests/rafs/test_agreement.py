"""Consensus and stability of resampled samples are those of the samples themselves, drawn again."""

from collections.abc import Sequence

import pytest

from rafs.agreement import Agreement, measure_agreement, resampled_agreement
from rafs.outcomes import ComponentName, Measured, Unmeasured
from rafs.reading import read_text
from rafs.sampling import Samples
from rafs.types import Sampled
from rafs.usage import Meter

PROBLEM = "What is 40 + 2 * 3?"
TRACE = "2 * 3 = 6.\n40 + 6 = 46.\nThe answer is 46."
RIGHT, IN_ONE, WRONG = "6 + 40 = 46.\nThe answer is 46.", "40 + 2 * 3 = 46.\n#### 46", "42 * 3 = 126.\n#### 126"
SILENT = ["They are to be added.", "One is to be multiplied first."]


async def agreement_of(texts: Sequence[str]) -> Agreement:
    samples = Samples(texts=tuple(Sampled(text=text, truncated=False) for text in texts))
    return await measure_agreement(read_text(PROBLEM, TRACE, None), samples, None, Meter())


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([RIGHT, IN_ONE, WRONG], id="one wrong"),
        pytest.param([RIGHT, *SILENT], id="more without an answer than with the modal one"),
    ],
)
async def test_a_resample_of_every_sample_once_measures_the_same(texts: list[str]) -> None:
    agreement = await agreement_of(texts)
    found = resampled_agreement(agreement, range(len(texts)))
    assert isinstance(agreement.stability.component, Measured)
    assert found[ComponentName.STABILITY] == agreement.stability.component
    assert found[ComponentName.CONSENSUS] == agreement.consensus.component


async def test_a_resample_with_another_modal_class_measures_no_stability() -> None:
    agreement = await agreement_of([RIGHT, IN_ONE, WRONG])
    wrong = next(at for at, text in enumerate(sorted([RIGHT, IN_ONE, WRONG])) if text == WRONG)
    found = resampled_agreement(agreement, [wrong] * 3)
    assert found[ComponentName.STABILITY] == Unmeasured(reason="another_modal_class")


async def test_resamples_do_not_depend_on_the_order_of_samples() -> None:
    texts = [RIGHT, IN_ONE, WRONG, TRACE.replace("\n", "\n\n") + " Done."]
    one, other = await agreement_of(texts), await agreement_of(texts[::-1])
    assert resampled_agreement(one, [0, 0, 1, 3]) == resampled_agreement(other, [0, 0, 1, 3])
