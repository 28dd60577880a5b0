"""The report as one HTML page that loads nothing; every text of a trace is escaped by the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rafs.evaluation.baselines import RAFS, Comparison
from rafs.evaluation.families import Item, Suspicion
from rafs.evaluation.intervals import Figure, Measurement
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.libraries import jinja2
from rafs.evaluation.plots import draw_plots
from rafs.evaluation.run_folder import RunFacts
from rafs.evaluation.summary import PLANTED, POOLED, Report
from rafs.outcomes import Status

TEMPLATE = Path(__file__).with_name("page.html.j2")
MAX_SHOWN = 25
MAX_TEXT_CHARS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A trace that was got wrong, for a reader to look at."""

    kind: str
    id: str
    score: str
    problem: str
    step: str
    note: str


def render_page(
    report: Report,
    sections: Mapping[str, Sequence[Item]],
    compared: Mapping[str, Mapping[str, Comparison]],
    others: Mapping[str, Suspicion],
    facts: RunFacts,
    *,
    with_texts: bool,
) -> str:
    """Return the page.

    Args:
        report: What was measured.
        sections: The items it was measured on.
        compared: The baselines of every section.
        others: Scorers that stand beside RAFS in the precision-recall plot, by name.
        facts: What ran.
        with_texts: Whether texts of traces may stand in it; not those of an archive that is kept encrypted.

    Raises:
        ConfigError: jinja2 or matplotlib is not installed.
    """
    library = jinja2()
    environment = library.Environment(autoescape=True, undefined=library.StrictUndefined, trim_blocks=True)
    environment.filters["figure"] = show_figure
    page: str = environment.from_string(TEMPLATE.read_text("utf-8")).render(
        report=report,
        facts=facts,
        compared=compared,
        rafs=RAFS,
        plots=draw_plots(report, sections, others),
        misses=_misses(sections) if with_texts else None,
    )
    return page


def show_figure(figure: Measurement | None, digits: int = 2) -> str:
    """Return `0.62 [0.55, 0.70]`, or why there is no number."""
    if figure is None:
        return ""
    if not isinstance(figure, Figure):
        return figure.reason.replace("_", " ")
    if figure.low is None or figure.high is None:
        return f"{figure.value:.{digits}f}"
    return f"{figure.value:.{digits}f} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def _misses(sections: Mapping[str, Sequence[Item]]) -> list[Miss]:
    """Return accepted traces that are not faithful, then silent failures of the highest scores."""
    items = [item for name in (POOLED, PLANTED) for item in sections.get(name, ())]
    scored = [(item.record.score, item) for item in items if item.record is not None and item.record.score is not None]
    by_score = [item for _, item in sorted(scored, key=lambda pair: -pair[0])]
    accepted = [item for item in by_score if _is_wrong(item.trace) and _status(item) is Status.ACCEPT]
    silent = [item for item in by_score if item.trace.silent_failure is True and _status(item) is not Status.ACCEPT]
    return [
        *(_miss("accepted, not faithful", item) for item in accepted[:MAX_SHOWN]),
        *(_miss("silent failure, high score", item) for item in silent[:MAX_SHOWN]),
    ]


def _is_wrong(trace: LabelledTrace) -> bool:
    return trace.faithful is False or trace.answer_correct is False


def _status(item: Item) -> Status | None:
    return item.record.status if item.record is not None else None


def _miss(kind: str, item: Item) -> Miss:
    trace, record = item.trace, item.record
    at = trace.first_error
    return Miss(
        kind=kind,
        id=_cut(trace.id),
        score="" if record is None or record.score is None else f"{record.score:.1f}",
        problem=_cut(trace.problem),
        step="not located" if at is None else _cut(f"step {at}: {trace.steps[at]}"),
        note=_cut(trace.label_suspect or trace.error_note or ""),
    )


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
