"""One run of `rafs eval`: what it scores, what it asks beside, and the report that it writes."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from rafs.evaluation.baselines import Comparison, baselines, compare, comparisons_json
from rafs.evaluation.families import Item
from rafs.evaluation.flaw_families import FlawId, FlawProtocol
from rafs.evaluation.headlines import headlines
from rafs.evaluation.intervals import N_RESAMPLES
from rafs.evaluation.labels import LabelledTrace
from rafs.evaluation.named_flaws import Grading, notes_of_others
from rafs.evaluation.page import render_page
from rafs.evaluation.people_grades import FILE, read_grades, to_be_graded
from rafs.evaluation.records import ItemRecord
from rafs.evaluation.run_folder import RunFacts
from rafs.evaluation.summary import Report, report_json, sections_of, summarise
from rafs.model_entry import ModelEntry
from rafs.policy import Policy
from rafs.registry import Registry
from service.evaluation_table import print_report
from service.labelled_scoring import Beside, TracesFolder, score_into
from service.one_model import order_of
from service.scorer import Scorer
from service.settings import Settings
from service.stock import build_prober
from verifiers.equivalence import EquivalenceJudge

PLOTTED = ("length", "weakest_step", "arithmetic_mean")
"""Baselines in the plot of precision and recall; more lines would hide each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is measured, and where the results go."""

    folder: TracesFolder
    facts: RunFacts
    traces: Sequence[LabelledTrace]
    policy: Policy
    with_texts: bool
    """Whether texts of traces may be written; not those of an archive that is kept encrypted."""

    def finish(self, scorer: Scorer, concurrency: int, beside: Beside, *, as_json: bool) -> str:
        """Score what is left, write the report, and return what goes to standard output.

        Raises:
            RafsError: A model failed, or the folder holds another run or is being written to.
        """
        with self.folder.held():
            finished = self.folder.begin(self.facts)
            by_people = read_grades(self.folder.path / FILE)
            scoring = score_into(scorer, self.traces, finished, self.folder, self.facts, concurrency, beside)
            return self._write_report(asyncio.run(scoring), by_people, as_json=as_json)

    def grading_by(
        self, judge: ModelEntry, registry: Registry, settings: Settings
    ) -> Callable[[AsyncExitStack], Grading]:
        """Return what loads the judge that grades named flaws."""

        def load(closing: AsyncExitStack) -> Grading:
            order = order_of(judge, registry, settings, closing)
            return Grading(
                grader=EquivalenceJudge(build_prober(order), fence_key=order.fence_key),
                others=notes_of_others(self.traces),
                keep_texts=self.with_texts,
            )

        return load

    def _write_report(self, records: Sequence[ItemRecord], by_people: dict[FlawId, bool], *, as_json: bool) -> str:
        seed, graded = self.facts.provenance.seed, self.facts.grader is not None
        sections = sections_of(records, self.traces)
        protocol = FlawProtocol(tau_step=self.policy.tau_step, graded=graded, by_people=by_people)
        report = summarise(records, self.traces, seed=seed, flaws=protocol)
        compared = compare(sections, self.policy, seed=seed, n_resamples=N_RESAMPLES)
        short = headlines(report, sections, self.facts)
        whole = {
            "run": short["run"],
            **report_json(report),
            "baselines": {name: comparisons_json(rows) for name, rows in compared.items()},
        }
        self.folder.write("report.json", json.dumps(whole, indent=1, allow_nan=False))
        page = self._write_page(records, report, sections, compared)
        if graded:
            every = [item for name in sections for item in sections[name] if "/" in name]
            self.folder.write(FILE, to_be_graded(every, by_people, with_texts=self.with_texts))
        return json.dumps(short, allow_nan=False) + "\n" if as_json else _tables(report, sections, compared, page)

    def _write_page(
        self,
        records: Sequence[ItemRecord],
        report: Report,
        sections: Mapping[str, Sequence[Item]],
        compared: Mapping[str, Mapping[str, Comparison]],
    ) -> Path:
        beside = (one for one in baselines(records, self.policy) if one.name in PLOTTED)
        others = {one.name: one.suspicion for one in beside if one.suspicion}
        page = render_page(report, sections, compared, others, self.facts, with_texts=self.with_texts)
        return self.folder.write("report.html", page)


def _tables(
    report: Report,
    sections: Mapping[str, Sequence[Item]],
    compared: Mapping[str, Mapping[str, Comparison]],
    page: Path,
) -> str:
    console = Console(markup=False, emoji=False, highlight=False)
    with console.capture() as printed:
        print_report(report, sections, compared, console)
        console.print(f"written: {page}", soft_wrap=True)
    return printed.get()
