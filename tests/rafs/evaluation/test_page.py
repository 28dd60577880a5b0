import base64
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from rafs.evaluation.baselines import compare
from rafs.evaluation.headlines import headlines
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.page import render_page
from rafs.evaluation.records import ItemRecord, record_failure
from rafs.evaluation.summary import sections_of, summarise
from rafs.outcomes import Status
from rafs.registry import load_registry
from tests.rafs.evaluation.made import record, trace
from tests.rafs.evaluation.test_run_folder import facts

ATTACK = "<script>alert('$x$')</script>&\"{{ 7 * 7 }}"
POLICY = load_registry().policy.to_policy()


def labelled(n: int) -> LabelledTrace:
    made = trace(f"{ATTACK} {n}", steps=(ATTACK, ATTACK), first_error=1 if n % 2 else None, solution_correct=not n % 2)
    return replace(made, source=ATTACK, subset=f"_{ATTACK} 平", problem=ATTACK, error_note=ATTACK)


TRACES = [labelled(n) for n in range(8)]
RECORDS: list[ItemRecord] = [
    *(record(one.id, score=50.0 + n, status=Status.ACCEPT) for n, one in enumerate(TRACES[:7])),
    record_failure(TRACES[7], ATTACK),
]


def page(*, with_texts: bool = True) -> str:
    sections = sections_of(RECORDS, TRACES)
    compared = compare(sections, POLICY, seed=0, n_resamples=20)
    report = summarise(RECORDS, TRACES, n_resamples=20)
    return render_page(
        report, sections, compared, {"length": lambda one, _: one.length}, facts(), with_texts=with_texts
    )


@pytest.fixture(scope="module")
def shown() -> str:
    return page()


def plots(shown: str) -> list[bytes]:
    return [base64.b64decode(found) for found in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)]


def test_no_text_of_a_trace_is_markup(shown: str) -> None:
    assert "<script" not in shown and "&lt;script&gt;" in shown
    assert "{{ 7 * 7 }}" in shown


def test_a_page_loads_nothing(shown: str) -> None:
    assert re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?!data:)[^"'\s>]+""", shown) == []
    assert "default-src 'none'" in shown


def test_every_plot_is_a_picture_without_scripts(shown: str) -> None:
    assert len(plots(shown)) == 5
    for plot in plots(shown):
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(plot).iter()}
        assert tags.isdisjoint({"script", "foreignObject", "image"})


def test_equal_runs_are_equal_pages(shown: str) -> None:
    assert page() == shown


def test_texts_of_an_encrypted_archive_stay_in_it() -> None:
    assert "Traces to look at" not in page(with_texts=False)


def test_headlines_name_pooled_and_subsets_with_what_was_not_scored() -> None:
    sections = sections_of(RECORDS, TRACES)
    document = json.loads(json.dumps(headlines(summarise(RECORDS, TRACES, n_resamples=20), sections, facts())))
    pooled = document["pooled"]
    assert (pooled["n"], pooled["n_unscored"]) == (8, 1)
    assert pooled["status_counts"] == {"Accept": 7, "failed": 1} and pooled["reasons"] == {"failed": 1}
    for figure in (
        *(pooled[name] for name in ("processbench_f1", "accuracy_erroneous", "accuracy_correct", "accepted_risk")),
        *(pooled["silent_failure"][name] for name in ("auprc", "auroc", "prevalence", "length_auprc")),
        *(pooled["extraction_failure"][name] for name in ("precision", "recall")),
    ):
        assert figure.keys() >= {"value", "low", "high"} or figure.keys() >= {"value", "reason"}
    (subset,) = document["subsets"].values()
    assert subset["n"] == 8
