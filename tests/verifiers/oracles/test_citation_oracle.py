"""A citation is right if its id is in the registry; what may be no citation decides nothing against a text."""

from pathlib import Path

import pytest

from rafs.errors import ConfigError
from rafs.types import Truth
from verifiers.oracles import citations
from verifiers.oracles.citations import CitationOracle, Style, load_ids, read_citations

WRITTEN = {
    Style.BRACKETED: ("as was shown [kiln-4; Oven9]", ["kiln-4", "oven9"]),
    Style.DOI: ("(https://doi.org/10.5555/Clay.77), doi:10.5555/mud-1.", ["10.5555/clay.77", "10.5555/mud-1"]),
    Style.ARXIV: ("arXiv:1911.00123v3 and arxiv math.GT/0212345", ["1911.00123", "math.gt/0212345"]),
    Style.CASE_NUMBER: ("No. 21-456; 3:18-cv-00912", ["21-456", "3:18-cv-00912"]),
    Style.CLAUSE: ("FAR 52.219-8(d) and 252.225-7001", ["52.219-8", "252.225-7001"]),
    Style.STATUTE: (
        "15 U.S.C. § 78j, 15 USC Sec. 78j, 29 C.F.R. 1910.12",
        ["15 usc 78j", "15 usc 78j", "29 cfr 1910.12"],
    ),
    Style.PUBMED: ("PMID: 7654321", ["7654321"]),
}
NONE = {
    Style.BRACKETED: r"the [page](http://clay), \[x\] and [answer]",
    Style.DOI: "version 10.5 of 110.5555/clay",
    Style.ARXIV: "1911.00123 litres",
    Style.CASE_NUMBER: "pages 21-456",
    Style.CLAUSE: "52.2 and 152.219-8",
    Style.STATUTE: "15 users",
    Style.PUBMED: "7654321",
}


def test_every_style_is_tried() -> None:
    assert WRITTEN.keys() == NONE.keys() == set(Style)


@pytest.mark.parametrize("style", list(Style))
def test_citations_are_read_as_the_style_writes_them(style: Style) -> None:
    text, ids = WRITTEN[style]
    assert [citation.id for citation in read_citations(text, style)] == ids


@pytest.mark.parametrize("style", list(Style))
def test_what_only_looks_like_a_citation_is_none(style: Style) -> None:
    assert list(read_citations(NONE[style], style)) == []


@pytest.mark.parametrize("style", list(Style))
def test_a_citation_is_right_however_the_registry_writes_it(style: Style) -> None:
    text, _ = WRITTEN[style]
    listed = [text[one.span.start : one.span.end] for one in read_citations(text, style)]
    ids = listed if style is not Style.BRACKETED else ["KILN-4", " oven9 "]
    assert CitationOracle(ids, style).decide("", text).truth is Truth.TRUE


def test_a_registry_may_name_the_collection_before_the_id() -> None:
    assert CitationOracle(["FAR 52.219-8"], Style.CLAUSE).decide("", "See 52.219-8(d).").truth is Truth.TRUE
    assert CitationOracle(["1911.00123"], Style.ARXIV).decide("", "See arXiv:1911.00123v2.").truth is Truth.TRUE


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        pytest.param("Fire it slowly [kiln-4].", Truth.TRUE, id="listed"),
        pytest.param("Fire it slowly [kiln-4], then glaze [kiln-5].", Truth.FALSE, id="one is not listed"),
        pytest.param("Let row[3] stand.", Truth.UNKNOWN, id="an index"),
        pytest.param("Let x lie in [0, 1].", Truth.UNKNOWN, id="an interval"),
        pytest.param("Fire it [see below].", Truth.UNKNOWN, id="a remark"),
        pytest.param("Fire it.", Truth.UNKNOWN, id="none"),
    ],
)
def test_a_text_is_wrong_by_a_certain_citation_alone(text: str, truth: Truth) -> None:
    assert CitationOracle(["kiln-4"], Style.BRACKETED).decide("", text).truth is truth


def test_words_in_brackets_are_citations_where_ids_look_like_them() -> None:
    oracle = CitationOracle(["Potter 2019"], Style.BRACKETED)
    assert oracle.decide("", "Clay shrinks [Potter 2021].").truth is Truth.FALSE
    assert oracle.decide("", "Clay shrinks [see below].").truth is Truth.UNKNOWN


def test_a_registry_is_one_id_a_line(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("\ufeffkiln-4\n\n  kiln-5\n", encoding="utf-8")
    assert load_ids(tmp_path / "ids.txt") == ["kiln-4", "kiln-5"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b"\n \n", "holds no id", id="blank"),
        pytest.param(b"a\n" + b"b" * 201, "id 2 has 201 characters", id="long id"),
        pytest.param(b"\xff\xfe\xff", "cannot be read", id="no text"),
    ],
)
def test_a_registry_that_is_none_is_refused(tmp_path: Path, content: bytes, complaint: str) -> None:
    (tmp_path / "ids.txt").write_bytes(content)
    with pytest.raises(ConfigError, match=complaint):
        load_ids(tmp_path / "ids.txt")


def test_a_registry_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_ids(tmp_path / "none.txt")


def test_no_pattern_repeats_without_a_bound() -> None:
    patterns = "".join(citations._PATTERNS.values())
    assert not any(mark in patterns for mark in ("*", "+"))
