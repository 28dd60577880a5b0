"""How control tokens are spelled, for where no tokenizer says which they are."""

import re

LOOKS_CONTROL = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
"""A whole token that may be one: `<|im_end|>`, `</s>`, `[INST]`. To treat a plain token as one costs nothing."""
_OPENS_CONTROL = re.compile(
    r"[<＜](?=[|｜](?:\"|/?[\w▁:.-]{2,64})[|｜>＞]|/?[A-Za-z_][\w:.-]{0,64}[|｜]?[>＞]|0x[0-9A-Fa-f]{2}[>＞])"
    r"|\[(?=\|\w|/?(?:[A-Z]+_[A-Z_]+|INST|SYSTEM|TOOL|THINK|ARGS|IMG|AUDIO|PREFIX|MIDDLE|SUFFIX)\])"
    r"|\[(?=(?:[gs]?MASK|CLS|SEP|PAD|UNK|BOS|EOS)\])"
    r"|\](?=~!?b[\[\]])|\[(?=e~\[)"
)
"""How the families spell them; `a<b`, `<|x|>` and the area `[ABC]` are mathematics."""


def defuse(text: str) -> str:
    """Break up whatever looks like a control token, such as `<|im_end|>` or `[INST]`, with a space."""
    return _OPENS_CONTROL.sub(lambda match: f"{match.group()} ", text)


def break_up(text: str, spelled: set[str]) -> str:
    """Put a space after the first character of each of these spellings, also of those that overlap (`<<s>s>`)."""
    starts = re.compile("(?=" + "|".join(map(re.escape, sorted(spelled))) + ").", re.DOTALL)
    return starts.sub(lambda match: f"{match.group()} ", text)
