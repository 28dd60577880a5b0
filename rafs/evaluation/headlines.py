"""The figures that a reader asks for first, out of a whole report."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rafs.evaluation.families import Item
from rafs.evaluation.run_folder import RunFacts
from rafs.evaluation.summary import PLANTED, POOLED, Json, Report, report_json

PLAIN = ("n", "n_problems", "n_unscored", "n_label_suspect", "status_counts", "cost")
LIFTED = {
    "processbench_f1": "first_error",
    "accuracy_erroneous": "first_error",
    "accuracy_correct": "first_error",
    "accepted_risk": "gate",
}
"""Figures that stand at the top, and the family each is of."""
GRADING = (
    *("n", "n_unscored", "accuracy", "by_people", "agreement", "kappa"),
    *("control_itself", "control_other", "control_difference"),
)
GROUPED = {
    "silent_failure": (
        *("n", "n_unscored", "prevalence", "auprc", "auroc", "length_auprc", "length_auroc"),
        *("auprc_over_length", "auprc_length_matched", "auroc_within_problem"),
    ),
    "extraction_failure": ("n", "n_unscored", "precision", "recall", "f1", "prevalence"),
    "match": ("n", "n_unscored", "f1", "recall", "specificity", "accuracy"),
    "match_all": ("n", "n_unscored", "f1", "recall", "specificity", "accuracy"),
    "error_grading": GRADING,
    "grade_all": GRADING,
}
"""Figures of each family; one that a run did not measure is left out."""


def headlines(report: Report, sections: Mapping[str, Sequence[Item]], facts: RunFacts) -> dict[str, Json]:
    """Return the headlines as JSON: `pooled`, `planted` where there are planted errors, and `subsets` by name."""
    whole = report_json(report)
    figures = whole.pop("sections")
    assert isinstance(figures, dict)
    short: dict[str, Json] = {
        name: {**_of_section(section), "reasons": dict(count_reasons(sections[name]))}
        for name, section in figures.items()
        if isinstance(section, dict)
    }
    apart = {name: short.pop(name) for name in (POOLED, PLANTED) if name in short}
    run: Json = facts.model_dump(mode="json")
    return {"run": run, **whole, **apart, "subsets": short}


def count_reasons(items: Sequence[Item]) -> Counter[str]:
    """Count why items were not accepted; one may have several reasons, and one that failed has `failed`."""
    records = [item.record for item in items if item.record is not None]
    return Counter(reason for one in records for reason in (one.reasons if one.error is None else ("failed",)))


def _of_section(section: Mapping[str, Json]) -> dict[str, Json]:
    def family(name: str) -> Mapping[str, Json]:
        found = section[name]
        assert isinstance(found, dict)
        return found

    return {
        **{name: section[name] for name in PLAIN},
        **{name: family(of)[name] for name, of in LIFTED.items()},
        **{of: {name: family(of)[name] for name in names} for of, names in GROUPED.items() if of in section},
    }
