"""An editor on any engine that writes text."""

from collections.abc import Sequence
from typing import Protocol

from rafs.contracts import HasIdentity, PromptPart
from rafs.engines.edit_prompt import edit_parts, read_edit
from rafs.types import Abstained, ModelIdentity, Sampled
from rafs.usage import Meter

CHARS_A_TOKEN = 2
"""Fewer than in prose, as many as in formulas (ours)."""
EXTRA_TOKENS = 24
"""Of a reply, beside the longest sentence: words that are added, and what models put around one (ours)."""
MAX_NEW_TOKENS = 256


class Instructed(HasIdentity, Protocol):
    """An engine that does what it is told in words: every generator is one."""

    async def reply(
        self, tasks: Sequence[Sequence[PromptPart]], n: int, seed: int, meter: Meter, max_new_tokens: int
    ) -> Sequence[Sequence[Sampled]]:
        """Return n replies to every task, in order, each of at most so many tokens.

        Raises:
            BackendError: Nothing was generated.
            OverloadedError: The model's bounded queue is full.
        """
        ...


class ModelEditor:
    """An `Editor` that asks a language model; the sentence is fenced off as data."""

    def __init__(self, model: Instructed, *, fence_key: bytes = b"") -> None:
        """Stand on an engine, which may be shared.

        Args:
            model: Writes the proposals.
            fence_key: Draws the marks around a sentence; it is the server's secret.
        """
        self.model = model
        self._fence_key = fence_key

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""
        return self.model.identity

    async def propose(
        self, sentences: Sequence[str], k: int, seed: int, meter: Meter
    ) -> Sequence[Sequence[str | Abstained]]:
        """See `Editor.propose`. All proposals are drawn together; a model that thinks aloud first is cut."""
        tasks = [edit_parts(sentence, self._fence_key) for sentence in sentences]
        longest = max(map(len, sentences), default=0)
        bound = min(MAX_NEW_TOKENS, EXTRA_TOKENS + longest // CHARS_A_TOKEN)
        replies = await self.model.reply(tasks, k, seed, meter, bound)
        return [[read_edit(reply) for reply in each] for each in replies]
