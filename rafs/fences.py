"""Marking off untrusted text in prompts: what stands between two fences is data, never an instruction."""

import hashlib
import hmac
import re
import unicodedata

from rafs.contracts import PromptPart

FENCE_LETTERS = "bcdfghjkmnpqrstvwxz"
"""They spell no word; 6 of them cost 7 tokens of a small model, where 16 hex digits cost 17, and a fence stands in
every question. A guess at one in 47 million would help nobody, since every fence in judged text is taken out."""
FENCE_LENGTH = 6
FENCE = re.compile(rf"<<[{FENCE_LETTERS}]{{{FENCE_LENGTH}}}>>", re.IGNORECASE)
"""Any fence, ours or forged."""


def quote(text: str) -> PromptPart:
    """Return untrusted text for between two fences, with every fence in it taken out and nothing invisible left."""
    return PromptPart(text=FENCE.sub("<fence>", show_invisible(text)))


def draw_fence(purpose: str, text: str, key: bytes) -> str:
    """Return `<<` HMAC-SHA256(key, text) `>>`, in letters: the same for a key, so that prompts can be cached.

    Args:
        purpose: Part of the message, so that the key may serve others too.
        text: What tells one prompt from another.
        key: The server's secret.
    """
    message = purpose.encode() + b"\0" + text.encode("utf-8", "surrogatepass")
    digest = hmac.new(key, message, hashlib.sha256).digest()
    return f"<<{''.join(FENCE_LETTERS[byte % len(FENCE_LETTERS)] for byte in digest[:FENCE_LENGTH])}>>"


_UNSEEN = re.compile(
    # Variation selectors, fillers and joiners that Unicode counts as marks or letters, and the blank Braille cell.
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]"
)


def show_invisible(text: str) -> str:
    """Escape what has no shape of its own.

    Format, control, private-use and unassigned characters, other separators of lines, variation selectors and fillers;
    line feeds and tabs stay.
    """
    if text.isascii() and text.replace("\n", "").isprintable():  # most steps
        return text
    return "".join(f"\\u{{{ord(char):x}}}" if is_unseen(char) else char for char in text.replace("\r\n", "\n"))


def is_unseen(char: str) -> bool:
    """Whether a character has no shape of its own, line feeds and tabs excepted."""
    category = unicodedata.category(char)
    return char not in "\n\t" and (category[0] == "C" or category in ("Zl", "Zp") or bool(_UNSEEN.match(char)))
