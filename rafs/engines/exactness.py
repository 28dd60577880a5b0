"""Choosing, at load time, how prompts go through a model: only what gives this architecture's own logits.

Silent traps that this catches: position ids that a model ignores, windows that a mask leaves out, recurrent states
that a mask does not reach or that do not go on from a cache.
"""

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rafs.engines.loading import MAX_WINDOW_TOKENS
from rafs.engines.packed import SLICE_TOKENS, Branch, Packed
from rafs.engines.row_cache import Prefill, prefill
from rafs.engines.strategies import KEEPS_TRUNK, Strategy, head_of, last_logits

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

MAX_LOGIT_DIFFERENCE = 1e-4
"""In fp32 a right mask differs by rounding (about 1e-5); every wrong one seen differed by 0.01 or more."""
CHECK_TRUNK_TOKENS = 96
"""Of a model without windows."""
CHECK_BEYOND_WINDOW = 40
"""How far the trunk of the check goes on behind the longest window."""
CHECK_BRANCH_TOKENS = 9
CHECK_DRAWN = (3, 5)
"""Tokens that the check of decoding draws."""
CHECK_SEED = 20
DOES_NOT_RUN = (TypeError, ValueError, RuntimeError, AttributeError, IndexError, KeyError, NotImplementedError)
"""What models raise on a mask, a position or a cache that they cannot take."""
PACKED_MAX_TOKENS = SLICE_TOKENS
"""More tokens go in slices, so that urgent work waits for one slice at most; at 400 to 530 tokens of a 135 M model one
pass and several were measured within 3 % of each other, and further up the dense mask of one pass costs more."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackingPlan:
    """What was found exact for one loaded model."""

    exact: tuple[Strategy, ...]
    """Strategies to use, best first, NAIVE always among them."""
    differences: tuple[tuple[Strategy, float], ...]
    """Max |logit difference| against NAIVE of each strategy that ran; lower ones are not tried below an exact one."""

    def choose(self, n_tokens: int) -> Strategy:
        """Return the strategy for prompts of so many new tokens."""
        if Strategy.TWO_PASS in self.exact and n_tokens > PACKED_MAX_TOKENS:
            return Strategy.TWO_PASS
        return self.exact[0]


def plan_packing(model: "PreTrainedModel", name: str, max_tokens: int = MAX_WINDOW_TOKENS) -> PackingPlan:
    """Compare strategies with separate prompts on random tokens, best first, until one is exact; log the choice.

    The prompts are longer than every window of the model. Run on the fp32 model, before any cast: bf16 rounding would
    hide a wrong mask.

    Args:
        model: In fp32, in evaluation mode.
        name: For the log.
        max_tokens: Longest prompt that will be run; windows beyond it are not reached.
    """
    packed = _random_prompts(model, min(check_tokens(model), max_tokens - CHECK_BRANCH_TOKENS))
    expected = last_logits(model, packed, Strategy.NAIVE).logits
    differences: dict[Strategy, float] = {}
    for strategy in list(Strategy)[:-1]:
        if strategy not in KEEPS_TRUNK and min(differences.values(), default=1.0) < MAX_LOGIT_DIFFERENCE:
            break
        try:
            differences[strategy] = _difference(model, packed, strategy, expected)
        except DOES_NOT_RUN as error:
            logger.info("%s: strategy %s does not run on this architecture: %s", name, strategy, error)
    exact = [strategy for strategy, difference in differences.items() if difference < MAX_LOGIT_DIFFERENCE]
    plan = PackingPlan(exact=(*exact, Strategy.NAIVE), differences=tuple(differences.items()))
    report: Callable[..., None] = logger.info if exact else logger.warning
    report("%s: prompts run %s; max |logit difference| %s", name, plan.exact[0], differences)
    return plan


def check_tokens(model: "PreTrainedModel") -> int:
    """Return how many tokens show every window of this model."""
    config = model.config.get_text_config()
    windows = [getattr(config, name, None) or 0 for name in ("sliding_window", "attention_chunk_size")]
    return max(CHECK_TRUNK_TOKENS, max(windows) + CHECK_BEYOND_WINDOW)


def random_ids(model: "PreTrainedModel", n: int) -> tuple[int, ...]:
    """Return n token ids, the same for every call."""
    draw = random.Random(CHECK_SEED)
    vocabulary = int(model.config.get_text_config().vocab_size)
    return tuple(draw.randrange(vocabulary) for _ in range(n))


def _random_prompts(model: "PreTrainedModel", n_trunk: int) -> Packed:
    """Return branches of uneven length that leave at uneven places: a wrong position or an off-by-one mask shows."""
    ids = random_ids(model, n_trunk + 3 * CHECK_BRANCH_TOKENS)
    leaves = (n_trunk // 5 + 1, n_trunk // 2 - 7, n_trunk)
    starts = [n_trunk + CHECK_BRANCH_TOKENS * place for place in range(len(leaves))]
    return Packed(
        trunk=ids[:n_trunk],
        branches=tuple(
            Branch(leaves_at=end, ids=ids[start : start + CHECK_BRANCH_TOKENS - place])
            for place, (end, start) in enumerate(zip(leaves, starts, strict=True))
        ),
    )


def _difference(model: "PreTrainedModel", packed: Packed, strategy: Strategy, expected: "torch.Tensor") -> float:
    """Return max |logit difference| of a run, and of one that goes on from a kept trunk where the strategy keeps it."""
    third = len(packed.trunk) // 3 + 1
    first = last_logits(model, packed, strategy, slice_tokens=third)
    found = [first.logits]
    if first.trunk_cache is not None:
        known = head_of(first.trunk_cache, third)
        found.append(last_logits(model, packed, strategy, known=known, slice_tokens=third).logits)
    return max(float((logits - expected).abs().max()) for logits in found)


def plan_prefill(model: "PreTrainedModel", name: str, packing: PackingPlan, max_tokens: int) -> Prefill:
    """Return the best way of prefilling a batch whose rows then decode as they would alone; log the choice.

    Args:
        model: In fp32, in evaluation mode.
        name: For the log.
        packing: What is exact for prompts; only masks that are can share a prefill.
        max_tokens: Longest prompt that will be run.
    """
    ids = random_ids(model, min(check_tokens(model), max_tokens - len(CHECK_DRAWN)))
    half = len(ids) // 2
    prompts = [ids, (*ids[:half], *ids[: half - 11]), ids[:half]]
    for how in (Prefill.SHARED, Prefill.PADDED):
        if how is Prefill.SHARED and Strategy.PACKED not in packing.exact:
            continue
        try:
            difference = _decode_difference(model, prompts, how)
        except DOES_NOT_RUN as error:
            logger.info("%s: prefill %s does not run on this architecture: %s", name, how, error)
            continue
        logger.info("%s: prefill %s, max |logit difference| %.1e", name, how, difference)
        if difference < MAX_LOGIT_DIFFERENCE:
            return how
    logger.warning("%s: texts are drawn one after the other; nothing faster is exact on this architecture", name)
    return Prefill.ALONE


def _decode_difference(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]], how: Prefill) -> float:
    """Return max |logit difference| between a batch that draws given tokens and the same texts as prompts."""
    import torch

    with torch.inference_mode():
        rows = prefill(model, [prompts[:2], prompts[2:]], how)
        found, texts = [rows.logits], list(prompts)
        for token in CHECK_DRAWN:
            rows.advance(model, [token] * len(prompts))
            found.append(rows.logits)
            texts += [(*text, token) for text in texts[-len(prompts) :]]
    expected = last_logits(model, Packed(trunk=(), branches=_whole(texts)), Strategy.NAIVE).logits
    return float((torch.cat(found).float() - expected).abs().max())


def _whole(texts: Sequence[tuple[int, ...]]) -> tuple[Branch, ...]:
    return tuple(Branch(leaves_at=0, ids=text) for text in texts)
