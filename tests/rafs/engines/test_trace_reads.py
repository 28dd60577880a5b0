"""A trace is read in slices, and what is known of it is not read again, where that gives the numbers of one pass."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rafs.engines.packed import SLICE_TOKENS
from rafs.engines.trace_reads import sliced_limit
from rafs.types import Judged, Verdict
from rafs.usage import Caller, Meter, StageUsage
from tests.rafs.engines.published_prms import PUBLISHED
from tests.rafs.engines.test_transformers_prm import PROBLEM, STEPS
from tests.rafs.engines.tiny_models import (
    tiny_bloom,
    tiny_hybrid,
    tiny_llama,
    tiny_mamba,
    tiny_mixed_gemma3,
    tiny_rwkv,
    tiny_sliding_mistral,
)
from tests.rafs.engines.tiny_prms import FAMILIES, QWEN, load_tiny, save_tiny


def scores(verdicts: Sequence[Verdict]) -> list[float]:
    found = [verdict.p_correct for verdict in verdicts if isinstance(verdict, Judged)]
    assert len(found) == len(verdicts)
    return found


@pytest.mark.parametrize("family", FAMILIES)
async def test_an_appended_step_costs_its_own_tokens_and_scores_as_in_a_fresh_pass(tmp_path: Path, family: str) -> None:
    save_tiny(family, tmp_path)
    rewarder, meter = load_tiny(family, tmp_path), Meter()
    published, n_tokens = PUBLISHED[family](tmp_path, PROBLEM, STEPS)
    _, n_before = PUBLISHED[family](tmp_path, PROBLEM, STEPS[:3])
    await rewarder.reward(PROBLEM, STEPS[:3], range(3), Meter())
    last = await rewarder.reward(PROBLEM, STEPS, [3], meter)
    rewarder.close()
    assert scores(last) == pytest.approx(published[3:], abs=1e-5)
    assert meter.stages["verify"] == StageUsage(calls=1, tokens=n_tokens - n_before)


async def test_what_is_known_of_one_tenants_trace_is_run_again_for_another(tmp_path: Path) -> None:
    save_tiny(QWEN, tmp_path)
    rewarder = load_tiny(QWEN, tmp_path)
    meters = [Meter(caller=Caller(tenant=name)) for name in ("this", "that")]
    for meter in meters:
        await rewarder.reward(PROBLEM, STEPS, [3], meter)
    rewarder.close()
    assert meters[0].stages == meters[1].stages


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_long_trace_runs_in_slices_and_scores_as_in_one_pass(tmp_path: Path, family: str) -> None:
    save_tiny(family, tmp_path, window=2048)
    rewarder = load_tiny(family, tmp_path)
    meter, steps = Meter(), STEPS * 15
    verdicts = await rewarder.reward(PROBLEM, steps, range(len(steps)), meter)
    rewarder.close()
    published, n_tokens = PUBLISHED[family](tmp_path, PROBLEM, steps)
    assert scores(verdicts) == pytest.approx(published, abs=1e-4)
    assert (meter.stages["verify"].calls, meter.stages["verify"].tokens) == (-(-n_tokens // SLICE_TOKENS), n_tokens)
    assert meter.stages["verify"].calls > 1


@pytest.mark.parametrize(
    ("make", "limit"),
    [
        pytest.param(tiny_llama, 512, id="llama"),
        pytest.param(lambda: tiny_sliding_mistral(16), 512, id="sliding mistral"),
        pytest.param(lambda: tiny_mixed_gemma3(16), 512, id="mixed gemma3"),
        pytest.param(tiny_bloom, 0, id="takes no positions"),
        pytest.param(tiny_hybrid, 0, id="recurrent hybrid"),
        pytest.param(tiny_mamba, 0, id="state space"),
        pytest.param(tiny_rwkv, 0, id="state of its own"),
        pytest.param(lambda: tiny_llama().bfloat16(), 512, id="llama in bfloat16"),
        pytest.param(lambda: tiny_sliding_mistral(16).bfloat16(), 0, id="a window that rounding could hide"),
    ],
)
def test_only_what_reads_in_slices_as_in_one_pass_is_sliced(make: Callable[[], Any], limit: int) -> None:
    assert sliced_limit(make(), 512) == limit


def test_a_model_that_forgets_its_cache_is_not_sliced() -> None:
    model = tiny_llama()

    def forget(_: object, args: Any, given: dict[str, Any]) -> Any:
        return args, {name: None if name in ("cache", "past_key_values") else value for name, value in given.items()}

    model.model.register_forward_pre_hook(forget, with_kwargs=True)
    assert sliced_limit(model, 512) == 0
