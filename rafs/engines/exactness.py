"""Choosing, at load time, how prompts may be packed: only what gives this architecture's own logits.

Silent traps that this catches: eager attention with a boolean mask, sliding-window and linear-attention layers under
a plain mask, models that ignore position ids.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rafs.engines.packed import PACKED_MAX_TOKENS, Branch, Packed, Strategy, last_logits

if TYPE_CHECKING:
    from transformers import PreTrainedModel

MAX_LOGIT_DIFFERENCE = 1e-4
"""In fp32 a right mask differs by rounding (about 1e-5); every wrong one seen differed by 0.2 or more."""
CHECK_TRUNK_TOKENS = 96
CHECK_LEAVES_AT = (20, 41, 96)
"""Uneven on purpose: a wrong position or an off-by-one mask shows."""
CHECK_BRANCH_TOKENS = 9
CHECK_SEED = 20

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingPlan:
    """What was found exact for one loaded model."""

    exact: tuple[Strategy, ...]
    """Strategies to use, NAIVE always among them."""
    differences: tuple[tuple[Strategy, float], ...]
    """Max |logit difference| against NAIVE of each strategy that ran."""
    sliding_window: int | None
    """A plain mask lets a token see beyond this window, so longer prompts go the naive way."""

    def choose(self, packed: Packed) -> Strategy:
        """Return the strategy for these prompts."""
        if self.sliding_window is not None and packed.longest > self.sliding_window:
            return Strategy.NAIVE
        ladder = [Strategy.PACKED, Strategy.TWO_PASS]
        if packed.n_tokens > PACKED_MAX_TOKENS:
            ladder.reverse()
        return next((strategy for strategy in ladder if strategy in self.exact), Strategy.NAIVE)


def plan_packing(model: "PreTrainedModel", name: str) -> PackingPlan:
    """Compare every strategy with separate prompts on random tokens, and keep the exact ones.

    Run on the fp32 model, before any cast: bf16 rounding would hide a wrong mask.
    """
    window = _sliding_window(model)
    trunk = CHECK_TRUNK_TOKENS if window is None else min(CHECK_TRUNK_TOKENS, window - CHECK_BRANCH_TOKENS)
    if trunk <= 0:
        return PackingPlan(exact=(Strategy.NAIVE,), differences=(), sliding_window=window)
    packed = _random_prompts(int(model.config.get_text_config().vocab_size), trunk)
    expected = last_logits(model, packed, Strategy.NAIVE).logits
    differences: list[tuple[Strategy, float]] = []
    for strategy in (Strategy.PACKED, Strategy.TWO_PASS):
        try:
            logits = last_logits(model, packed, strategy, slice_tokens=trunk // 3 + 1).logits
        except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            logger.warning("%s: strategy %s does not run on this architecture: %s", name, strategy, error)
            continue
        differences.append((strategy, float((logits - expected).abs().max())))
    exact = tuple(strategy for strategy, difference in differences if difference < MAX_LOGIT_DIFFERENCE)
    plan = PackingPlan(exact=(*exact, Strategy.NAIVE), differences=tuple(differences), sliding_window=window)
    report: Callable[..., None] = logger.info if exact else logger.warning
    report("%s: prompts run %s; max |logit difference| %s", name, plan.exact[0], dict(differences))
    return plan


def _random_prompts(vocabulary: int, n_trunk: int) -> Packed:
    draw = random.Random(CHECK_SEED)

    def ids(n: int) -> tuple[int, ...]:
        return tuple(draw.randrange(vocabulary) for _ in range(n))

    branches = [
        Branch(leaves_at=min(end, n_trunk), ids=ids(CHECK_BRANCH_TOKENS + extra))
        for extra, end in enumerate(CHECK_LEAVES_AT, start=-len(CHECK_LEAVES_AT))
    ]
    return Packed(trunk=ids(n_trunk), branches=tuple(branches))


def _sliding_window(model: "PreTrainedModel") -> int | None:
    """Return the shortest attention window of any layer; None when every layer sees everything."""
    config = model.config.get_text_config()
    if getattr(config, "use_sliding_window", True) is False:
        return None
    windows = [getattr(config, name, None) for name in ("sliding_window", "attention_chunk_size")]
    known = [int(window) for window in windows if window]
    return min(known) if known else None
