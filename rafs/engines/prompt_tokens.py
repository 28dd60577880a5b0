"""From prompt parts to token ids: each part once, untrusted text never a control token."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rafs.contracts import PromptPart
from rafs.errors import BackendError, ConfigError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

USER_SLOT = "\x00rafs-user-content\x00"
"""Rendered through a chat template in the user's place to see what stands before and after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFrame:
    """What stands around a prompt: what a chat template puts around the user's message, or what starts a plain text."""

    before: PromptPart
    after: PromptPart
    """Of a chat, it ends where the assistant's reply begins."""


class PartTokenizer:
    """Tokenises prompt parts; ids are joined, never strings, since BPE merges across seams.

    Control tokens are the tokenizer's added tokens with a visible character (`<|im_end|>`, `<think>`). Untrusted
    text that spells one is cut after its first character, so that it is read as plain characters.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase") -> None:
        """Read the control tokens of `tokenizer`."""
        self._tokenizer = tokenizer
        added = {token.content: index for index, token in tokenizer.added_tokens_decoder.items()}
        spelled = sorted((text for text in added if len(text.strip()) > 1), key=len, reverse=True)
        self._control_ids = frozenset(added[text] for text in spelled)
        # A lookahead finds spellings that overlap, such as `<<s>s>`.
        self._spelled = re.compile("(?=" + "|".join(map(re.escape, spelled)) + ")") if spelled else None

    @property
    def tokenizer(self) -> "PreTrainedTokenizerBase":
        """The tokenizer itself, for decoding."""
        return self._tokenizer

    def ids(self, part: PromptPart) -> list[int]:
        """Return the token ids of one part; no beginning-of-text token is added."""
        if part.trusted:
            return self._encode(part.text)
        cuts = [match.start() + 1 for match in self._spelled.finditer(part.text)] if self._spelled else []
        pieces = [part.text[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
        ids = [index for piece in pieces for index in self._encode(piece)]
        # A tokenizer that normalises (NFKC) may still spell one out of look-alike characters.
        return [index for index in ids if index not in self._control_ids]

    def join(self, parts: Sequence[PromptPart]) -> list[int]:
        """Return the joined ids of several parts."""
        return [index for part in parts for index in self.ids(part)]

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of generated ids, control tokens left out."""
        decoded: Any = self._tokenizer.decode(list(ids), skip_special_tokens=True)
        return str(decoded)

    def single_ids(self, texts: Sequence[str], after: str = "") -> tuple[int, ...]:
        """Return the ids of those texts that are exactly one token where they go on from `after`, and a known one."""
        start = self._encode(after)
        encoded = [self._encode(after + text) for text in texts]
        singles = dict.fromkeys(ids[-1] for ids in encoded if ids and ids[:-1] == start)
        return tuple(index for index in singles if index != self._tokenizer.unk_token_id)

    def plain_frame(self) -> ChatFrame:
        """Return what the tokenizer itself puts before a plain text, such as `<s>`; nothing for many."""
        whole: Any = self._tokenizer("a")["input_ids"]
        before = whole[: whole.index(self._encode("a")[0])]
        start = "".join(self._tokenizer.convert_ids_to_tokens(before))
        return ChatFrame(before=PromptPart(text=start, trusted=True), after=PromptPart(text="", trusted=True))

    def chat_frame(self) -> ChatFrame | None:
        """Return what the chat template puts around a user's message; None when the model has no template."""
        if not self._tokenizer.chat_template:
            return None
        messages = [{"role": "user", "content": USER_SLOT}]
        rendered = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        if not isinstance(rendered, str) or rendered.count(USER_SLOT) != 1:
            raise ConfigError("the model's chat template does not render the user's message exactly once")
        before, _, after = rendered.partition(USER_SLOT)
        return ChatFrame(before=PromptPart(text=before, trusted=True), after=PromptPart(text=after, trusted=True))

    def _encode(self, text: str) -> list[int]:
        ids: Any = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return list(ids)


def load_tokenizer(folder: Path) -> PartTokenizer:
    """Load the tokenizer of a model folder.

    Raises:
        BackendError: The folder has no tokenizer that transformers can read.
    """
    from transformers import AutoTokenizer

    try:
        return PartTokenizer(AutoTokenizer.from_pretrained(folder, local_files_only=True))
    except Exception as error:  # The reader of tokenizer.json raises nothing more special.
        raise BackendError(f"no tokenizer in {str(folder)!r}: {error}") from error
