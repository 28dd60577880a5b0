"""Choosing, at load time, how prompts go through a model: only what gives this architecture's own logits.

Silent traps that this catches: position ids that a model ignores, windows that a mask leaves out, recurrent states
that a mask does not reach or that do not go on from a cache.
"""

import logging
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rafs.engines.loading import MAX_WINDOW_TOKENS
from rafs.engines.packed import SLICE_TOKENS, Branch, Packed
from rafs.engines.row_cache import Prefill, prefill
from rafs.engines.strategies import KEEPS_TRUNK, Strategy, head_of, last_logits
from rafs.errors import ConfigError

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

MAX_LOGIT_DIFFERENCE = 1e-4
"""In fp32 a right mask differs by rounding (about 1e-5); every wrong one seen differed by 0.01 or more."""
CHECK_TRUNK_TOKENS = 96
"""Of a model without windows."""
CHECK_BEYOND_WINDOW = 40
"""How far the trunk of the check goes on behind the longest window."""
MAX_CHECK_TOKENS = 640
"""Bound of the check's longest prompt, for time: windows of 512 and less are passed, which takes about 10 000 tokens in
all. A longer window is not reached; prompts that do reach it go through one by one, as the model itself would do it."""
CHECK_BRANCH_TOKENS = 9
CHECK_DRAWN = (3, 5)
"""Tokens that the check of decoding draws."""
CHECK_SEED = 20
_NAMES_A_WINDOW = re.compile("window|chunk|local")
"""In names of settings: `sliding_window`, `attention_chunk_size`, GPT-Neo's `window_size`, `local_attention`."""
DOES_NOT_RUN = (
    *(TypeError, ValueError, RuntimeError, AttributeError, IndexError, KeyError, NotImplementedError),
    AssertionError,  # and a cache that a pass has not filled
)
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
    max_tokens: int
    """Longest prompt for which that was found; for longer ones there is NAIVE."""

    def choose(self, n_tokens: int, longest: int = 0) -> Strategy:
        """Return the strategy for prompts of so many new tokens, the longest prompt of `longest` tokens in all."""
        if longest > self.max_tokens:
            return Strategy.NAIVE
        if Strategy.TWO_PASS in self.exact and n_tokens > PACKED_MAX_TOKENS:
            return Strategy.TWO_PASS
        return self.exact[0]


def plan_packing(model: "PreTrainedModel", name: str, max_tokens: int = MAX_WINDOW_TOKENS) -> PackingPlan:
    """Compare strategies with separate prompts on random tokens, best first, until one is exact; log the choice.

    The prompts are longer than every window that `MAX_CHECK_TOKENS` allows to pass. Run on the fp32 model, before any
    cast: bf16 rounding would hide a wrong mask.

    Args:
        model: In fp32, in evaluation mode.
        name: For the log.
        max_tokens: Longest prompt that will be run; windows beyond it are not reached.
    """
    packed = _random_prompts(model, min(check_tokens(model, max_tokens), max_tokens - CHECK_BRANCH_TOKENS))
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
    plan = PackingPlan(
        exact=(*exact, Strategy.NAIVE),
        differences=tuple(differences.items()),
        max_tokens=checked_tokens(model, max_tokens),
    )
    report: Callable[..., None] = logger.info if exact else logger.warning
    report("%s: prompts run %s; max |logit difference| %s", name, plan.exact[0], differences)
    return plan


def check_tokens(model: "PreTrainedModel", max_tokens: int) -> int:
    """Return how many tokens show every window that prompts of `max_tokens` reach and the check may pass."""
    passed = [
        end for window in _windows(model, max_tokens) if (end := window + CHECK_BEYOND_WINDOW) <= MAX_CHECK_TOKENS
    ]
    return max([CHECK_TRUNK_TOKENS, *passed])


def checked_tokens(model: "PreTrainedModel", max_tokens: int) -> int:
    """Return the longest prompt, `max_tokens` at most, that reaches no window which the check does not pass."""
    left = [each for each in _windows(model, max_tokens) if each + CHECK_BEYOND_WINDOW > MAX_CHECK_TOKENS]
    return min([max_tokens, *left])


def _windows(model: "PreTrainedModel", max_tokens: int) -> list[int]:
    settings = model.config.get_text_config().to_dict().items()
    named = [value for name, value in settings if _NAMES_A_WINDOW.search(name) and isinstance(value, int)]
    return [value for value in named if value < max_tokens]


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
    import torch

    third = len(packed.trunk) // 3 + 1
    first = last_logits(model, packed, strategy, slice_tokens=third)
    found = [first.logits]
    if first.trunk_cache is not None:
        known = head_of(first.trunk_cache, third)
        found.append(last_logits(model, packed, strategy, known=known, slice_tokens=third).logits)
    return float((torch.stack(found) - expected).abs().max())  # NaN, where one of them is


def plan_prefill(model: "PreTrainedModel", name: str, packing: PackingPlan, max_tokens: int) -> Prefill:
    """Return the best way of prefilling a batch whose rows then decode as they would alone; log the choice.

    Args:
        model: In fp32, in evaluation mode.
        name: For the log.
        packing: What is exact for prompts; only masks that are can share a prefill.
        max_tokens: Longest text that will be run; what is longer than `checked_tokens` is to be drawn ALONE.

    Raises:
        ConfigError: No way is exact, so that this engine cannot draw from the model.
    """
    ids = random_ids(model, min(check_tokens(model, max_tokens), max_tokens - len(CHECK_DRAWN)))
    half = len(ids) // 2
    prompts = [ids, (*ids[:half], *ids[: half - 11]), ids[:half]]
    for how in Prefill:
        if how is Prefill.SHARED and Strategy.PACKED not in packing.exact:
            continue
        try:
            difference = _decode_difference(model, prompts, how)
        except DOES_NOT_RUN as error:
            logger.info("%s: prefill %s does not run on this architecture: %s", name, how, error)
            continue
        if difference < MAX_LOGIT_DIFFERENCE:
            report: Callable[..., None] = logger.warning if how is Prefill.ALONE else logger.info
            report("%s: prefill %s, max |logit difference| %.1e", name, how, difference)
            return how
    raise ConfigError(f"model {name!r}: no way of drawing texts with a cache is exact on this architecture")


def _decode_difference(model: "PreTrainedModel", prompts: Sequence[tuple[int, ...]], how: Prefill) -> float:
    """Return max |logit difference| between a batch that draws given tokens and the same texts as prompts."""
    import torch

    if how is Prefill.ALONE and len(prompts) > 1:
        return max(_decode_difference(model, [prompt], how) for prompt in prompts)
    with torch.inference_mode():
        jobs = [part for part in (prompts[:2], prompts[2:]) if part]
        rows = prefill(model, jobs, how)
        found, texts = [rows.logits], list(prompts)
        for token in CHECK_DRAWN:
            prefill(model, [[CHECK_DRAWN]], Prefill.ALONE)  # as urgent work does: a state beside the cache then shows
            rows.advance(model, [token] * len(prompts))
            found.append(rows.logits)
            texts += [(*text, token) for text in texts[-len(prompts) :]]
    expected = last_logits(model, Packed(trunk=(), branches=_whole(texts)), Strategy.NAIVE).logits
    return float((torch.cat(found).float() - expected).abs().max())


def _whole(texts: Sequence[tuple[int, ...]]) -> tuple[Branch, ...]:
    return tuple(Branch(leaves_at=0, ids=text) for text in texts)
