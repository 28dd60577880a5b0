"""Which model families an id belongs to; independence means that two sets of families are disjoint."""

import re
import unicodedata
from collections.abc import Mapping
from fnmatch import translate
from functools import lru_cache
from urllib.parse import unquote

MAX_DECODINGS = 3
"""Of percent signs; an id that went through more systems than that is not one."""
UNNAMED = "unnamed"
"""Stands for the teacher or the pupil of a distilled model whose id tells only the other one."""
_LOOK_ALIKES = str.maketrans("аеорсхуіјѕԛԝһвкмнтɡαβεζηικμνορτυχıł", "aeopcxyijsqwhbkmhtgabezhikmvoptyxil")
"""Lower-case Cyrillic, Greek and other letters that are drawn as a Latin one."""
_DISTILLED = re.compile(r"-distil(?:l(?:ed|ation)?)?-")


def find_families(model_id: str, patterns: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return every family that a model id names, in whichever part of it.

    A pattern is a glob over whole words of the lower-cased id: `qwen*` finds `My-Qwen2.5-7B-GGUF`, `yi` does not find
    `tiny`; with a leading `^` it must start the id, or what follows a slash or colon in it, and with a trailing `$`
    it must end there.

    A family too many costs a verifier that could have judged; a family too few lets one judge its own kin. So the hub
    prefix, a folder, a tag and a revision count like the name itself, percent signs are decoded, and letters that only
    look Latin are read as they look.

    Args:
        model_id: Any spelling: `deepseek-ai/DeepSeek-R1-Distill-Qwen-7B`, `openai:o3-mini`, `llama3.1:8b`.
        patterns: Globs of each family.

    Returns:
        All families found: a distilled model has two, `UNNAMED` being the second where the id tells only one; empty
        means unknown.
    """
    plain = _fold(model_id)
    whole = _hyphenate(plain)
    parts = (f"^{_hyphenate(part)}$" for part in re.split(r"[/\\:\s]+", plain))
    readings = "\n".join((whole, *parts))
    found = {family for family, globs in patterns.items() if _compile(globs).search(readings)}
    return frozenset(found | {UNNAMED}) if len(found) == 1 and _DISTILLED.search(whole) else frozenset(found)


@lru_cache(maxsize=1024)
def _compile(globs: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for all globs of a family: a registry has dozens, and every request asks all of them."""
    return re.compile(f"-(?:{'|'.join(map(_translate, globs))})")


def _translate(glob: str) -> str:
    """Return a glob as a pattern for what follows a hyphen."""
    start, end = r"(?<=\^-)" if glob.startswith("^") else "", r"-\$" if glob.endswith("$") else "-"
    words = translate(glob.removeprefix("^").removesuffix("$"))
    return start + words[len("(?s:") : words.rindex(")")] + end  # without its flag a star ends with the line


def _hyphenate(name: str) -> str:
    """Return the words of a name, each between hyphens: `-qwen2-5-7b-`."""
    return "-" + "-".join(re.findall(r"[a-z0-9]+", name)) + "-"


def _fold(model_id: str) -> str:
    """Return an id as it looks: decoded, in lower case, without accents and characters that are not seen."""
    for _ in range(MAX_DECODINGS):
        model_id = unquote(model_id)
    letters = unicodedata.normalize("NFKD", model_id).casefold().translate(_LOOK_ALIKES)
    return "".join(letter for letter in letters if unicodedata.category(letter) not in ("Mn", "Cf"))
