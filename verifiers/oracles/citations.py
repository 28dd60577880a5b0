"""The oracle of citations: one is right if, and only if, its id is in the registry."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rafs.errors import ConfigError
from rafs.types import ANSWER_PLACEHOLDER, COVERED_PLACEHOLDER, Span, Truth
from verifiers.oracles.oracle import Decision, all_hold, is_too_long

MAX_REGISTRY_BYTES = 64 << 20
MAX_ID_CHARS = 200
MAX_SHOWN_CITATIONS = 5


class Style(StrEnum):
    """How citations are written."""

    BRACKETED = "bracketed"
    """`[smith2020]`, `[12]`, `[a; b]`; not the text of a link, nor what brackets mean in LaTeX and in `array[0]`. An id
    holds no comma and no semicolon."""
    DOI = "doi"
    ARXIV = "arxiv"
    """`arXiv:2305.20050`; the version counts for nothing."""
    CASE_NUMBER = "case_number"
    """Of United States courts: `1:19-cv-01234`, `No. 19-1392`."""
    CLAUSE = "clause"
    """Of acquisition regulations: `52.204-21`, `252.204-7012(b)`, the paragraph left out."""
    STATUTE = "statute"
    """`42 U.S.C. § 1983`, `48 CFR 9.104`."""
    PUBMED = "pubmed"


# Every repetition is bounded and begins with what nothing else can be, so that reading is linear.
_PATTERNS = {
    Style.BRACKETED: r"(?<!\\)\[(?P<id>[^\W_][^\[\]\n]{0,399})\](?!\()",
    Style.DOI: r"(?<![\w.])(?P<id>10\.\d{4,9}/[^\s\"'<>\[\]{}|\\^`]{1,190})",
    Style.ARXIV: r"\barxiv\s{0,3}:?\s{0,3}(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,10}(?:\.[a-z]{2})?/\d{7})(?:v\d{1,2})?\b",
    Style.CASE_NUMBER: r"(?<![\w:-])(?:No\.\s{0,2})(?P<id>\d{2}-\d{1,5})(?![\w-])"
    r"|(?<![\w:-])(?P<docket>\d{1,2}:\d{2}-[a-z]{2,4}-\d{1,6})(?![\w])",
    Style.CLAUSE: r"(?<![\w.])(?P<id>(?:52|252)\.\d{3}-\d{1,4})(?![\d-])",
    Style.STATUTE: r"\b(?P<id>\d{1,3}\s{1,2}(?:U\.\s?S\.\s?C\.|USC|C\.\s?F\.\s?R\.|CFR)\s{0,2}(?:§{1,2}|Sec\.|Part)?"
    r"\s{0,2}\d{1,6}[a-z]{0,2}(?:[.-]\d{1,6}[a-z]{0,2}){0,3})\b",
    Style.PUBMED: r"\bPMID\s{0,2}:?\s{0,2}(?P<id>\d{1,9})\b",
}
_READERS = {style: re.compile(pattern, re.IGNORECASE) for style, pattern in _PATTERNS.items()}
_BEHIND_A_DOI = ".,;:!?)"
_VERSION = re.compile(r"v\d{1,2}\Z")
_STATUTE = re.compile(r"(\d+)(\D+)(.*)")
_RUN = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A citation in a text."""

    id: str
    """As it is looked up."""
    span: Span
    certain: bool = True
    """False where the same characters may mean something else, as in `row[12]` and `[0, 1]`."""


def read_citations(text: str, style: Style) -> Iterator[Citation]:
    """Yield the citations of a text, in order, in time linear in its length."""
    for match in _READERS[style].finditer(text):
        span = Span(start=match.start(), end=match.end())
        if style is not Style.BRACKETED:
            found = next(value for value in match.groupdict().values() if value is not None)
            yield Citation(id=normalised(found, style), span=span)
        elif match[0] not in (ANSWER_PLACEHOLDER, COVERED_PLACEHOLDER):
            certain = "," not in match[0] and not (match.start() and text[match.start() - 1].isalnum())
            for part in re.split("[;,]", match["id"]):
                if part.strip():
                    yield Citation(id=normalised(part, style), span=span, certain=certain)


def normalised(written: str, style: Style) -> str:
    """Return an id as it is looked up: letter case and spaces count for nothing, nor what a style says does not."""
    plain = " ".join(written.split()).casefold()
    match style:
        case Style.DOI:
            return plain.removeprefix("https://doi.org/").removeprefix("doi:").strip().rstrip(_BEHIND_A_DOI)
        case Style.ARXIV:
            return _VERSION.sub("", plain.removeprefix("arxiv").lstrip(": "))
        case Style.CASE_NUMBER:
            return plain.removeprefix("no.").strip()
        case Style.STATUTE:
            if (parts := _STATUTE.fullmatch(plain)) is None:
                return plain
            code = "".join(filter(str.isalpha, parts[2])).removesuffix("sec").removesuffix("part")
            return f"{parts[1]} {code} {parts[3]}"
        case Style.PUBMED:
            return plain.removeprefix("pmid").lstrip(": ")
        case _:
            return plain.strip("[] ")


class CitationOracle:
    """A text is right if every citation in it is in the registry, and wrong if one is not."""

    name = "oracle:citations"

    def __init__(self, ids: Iterable[str], style: Style) -> None:
        """Keep the valid ids, written as in a text or bare; blank ones are left out."""
        self._registry = frozenset(_listed_id(one, style) for one in ids if one.strip())
        self._style = style
        self._shapes = frozenset(map(_shape, self._registry))

    def decide(self, problem: str, text: str) -> Decision:
        """Decide by the citations of the text; see `oracle.Oracle`."""
        if (refusal := is_too_long(text)) is not None:
            return refusal
        found = {(citation.id, citation.certain) for citation in read_citations(text, self._style)}
        decided = all_hold((self._decide(*one) for one in sorted(found)), "no citation")
        shown = decided.reason.split("; ")
        more = f"; and {len(shown) - MAX_SHOWN_CITATIONS} more" if len(shown) > MAX_SHOWN_CITATIONS else ""
        return Decision(truth=decided.truth, reason="; ".join(shown[:MAX_SHOWN_CITATIONS]) + more)

    def _decide(self, id: str, certain: bool) -> Decision:
        if id in self._registry:
            return Decision(truth=Truth.TRUE, reason=f"{id!r} is in the registry")
        if certain and (" " not in id or _shape(id) in self._shapes):  # `[see below]` is none, unless ids look like it
            return Decision(truth=Truth.FALSE, reason=f"{id!r} is not in the registry")
        return Decision(truth=Truth.UNKNOWN, reason=f"{id!r} is not in the registry, but may be no citation")


def _listed_id(line: str, style: Style) -> str:
    written = next(read_citations(line, style), None)
    return normalised(line, style) if written is None else written.id


def _shape(id: str) -> str:
    """Return an id with every run of digits as one 0, and of letters as one a."""
    return _RUN.sub(lambda run: "0" if run[0].isdigit() else "a", id)


def load_ids(path: Path) -> list[str]:
    """Read the valid ids, one a line, as written and in their order.

    Raises:
        ConfigError: The file cannot be read, holds no id, or a line is no id.
    """
    try:
        if path.stat().st_size > MAX_REGISTRY_BYTES:
            raise ConfigError(f"{path}: got {path.stat().st_size} bytes, at most {MAX_REGISTRY_BYTES} are read")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a list of ids: {error}") from error
    ids = [line.strip() for line in lines if line.strip()]
    for number, one in enumerate(ids, 1):
        if len(one) > MAX_ID_CHARS:
            raise ConfigError(f"{path}: id {number} has {len(one)} characters, at most {MAX_ID_CHARS} are allowed")
    if not ids:
        raise ConfigError(f"{path}: holds no id; one a line is needed")
    return ids
