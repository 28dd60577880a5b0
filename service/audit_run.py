"""One audit: what is asked, what a judge says, and what follows from it."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rafs import __version__
from rafs.contracts import StepProber
from rafs.errors import InputError
from rafs.evaluation.audit import AuditRecord, admit, pass_rates, ranking
from rafs.evaluation.audit_biases import PairRecord, pair_rates, self_preference
from rafs.evaluation.audit_file import AuditEntry, OracleName, Origin
from rafs.evaluation.data_files import read_files
from rafs.evaluation.intervals import Figure
from rafs.evaluation.rows import read_rows
from rafs.families import UNNAMED
from rafs.model_entry import ModelEntry
from rafs.registry import Registry
from service.audits import asked_with
from service.identity import revision_of
from service.one_model import order_of
from service.settings import Settings
from service.stock import Order, build_prober
from verifiers.judge import JudgeVerifier
from verifiers.oracles.arithmetic_items import make_arithmetic
from verifiers.oracles.asking import ask_items, ask_pairs
from verifiers.oracles.audit_items import AuditItem, AuditPair, to_items, to_pairs
from verifiers.oracles.citation_items import make_citations
from verifiers.oracles.citations import CitationOracle, Style, load_ids
from verifiers.oracles.instruction_items import make_instructions
from verifiers.oracles.instructions import InstructionOracle, parse_rules
from verifiers.oracles.natural_items import Gathered, Reply, gather_replies, gather_steps
from verifiers.pairwise import PairwiseJudge

Advancing = Callable[[str, int], Callable[[], None]]
"""Begins to show the progress of so many questions, and returns what to call after each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the items of an audit come from."""

    n: int
    """Problems made up, and at most as many wrong and right items of files."""
    seed: int
    natural: Sequence[Path] = ()
    registry: Path | None = None
    """Valid citations."""
    style: Style = Style.BRACKETED
    password: str | None = None
    """Of encrypted archives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that one audit asks."""

    oracle: OracleName
    items: Sequence[AuditItem]
    pairs: Sequence[AuditPair]
    left_out: dict[str, int]

    def hashed(self) -> str:
        """Return the hash of all questions and of what is right."""
        asked = [
            [one.id, one.right, one.trace.problem, *(step.text for step in one.trace.steps), one.ask, one.answer]
            for one in self.items
        ]
        return hashlib.sha256(json.dumps([asked, [asdict(pair) for pair in self.pairs]]).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """A verdict, and the opinions that it was reached by."""

    entry: AuditEntry
    records: Sequence[AuditRecord]
    pairs: Sequence[PairRecord]


def prepare(oracle: OracleName, sources: Sources) -> Sheet:
    """Make up the problems of an oracle and gather what files hold for it.

    Raises:
        InputError: A file is wrong, or one is missing.
        ConfigError: The registry of citations is wrong.
    """
    match oracle:
        case OracleName.ARITHMETIC:
            made = make_arithmetic(sources.n, sources.seed)
            traces = read_files(sources.natural, sources.password) if sources.natural else []
            gathered = gather_steps(traces, sources.n, sources.seed)
        case OracleName.CITATIONS:
            ids = load_ids(_required(sources.registry))
            made = make_citations(ids, sources.style, sources.n, sources.seed)
            known = CitationOracle(ids, sources.style)
            gathered = _replies(sources, lambda reply: known)
        case OracleName.INSTRUCTIONS:
            made = make_instructions(sources.n, sources.seed)
            gathered = _replies(sources, lambda reply: InstructionOracle(parse_rules(reply.rules)))
    return Sheet(
        oracle=oracle,
        items=(*to_items(made), *gathered.items),
        pairs=to_pairs(made),
        left_out=dict(gathered.left_out),
    )


def _required(registry: Path | None) -> Path:
    if registry is None:
        message = "the oracle of citations needs --registry, a file of valid ids"
        raise InputError(message, field="--registry", got="nothing", allowed="a file, one id a line")
    return registry


def _replies(sources: Sources, oracle_of: Callable[[Reply], CitationOracle | InstructionOracle]) -> Gathered:
    rows = (row for path in sources.natural for row in read_rows(path, sources.password))
    return gather_replies(rows, oracle_of, sources.n, sources.seed)


async def run_audits(
    judge: ModelEntry, models: Registry, settings: Settings, sheets: Sequence[Sheet], seed: int, show: Advancing
) -> list[Audit]:
    """Put the questions of every sheet to a judge.

    Raises:
        ConfigError: The model's weights are not here.
        BackendError: The model failed: then there is no verdict.
    """
    async with AsyncExitStack() as closing:
        order = order_of(judge, models, settings, closing)
        prober = await asyncio.to_thread(build_prober, order)
        return [await _run(prober, order, models, sheet, seed, show) for sheet in sheets]


async def _run(prober: StepProber, order: Order, models: Registry, sheet: Sheet, seed: int, show: Advancing) -> Audit:
    def is_own(generator: str | None) -> bool | None:
        families = models.families_of(generator) if generator else frozenset[str]()
        return None if not families or UNNAMED in families else not families.isdisjoint(order.identity.families)

    judge = JudgeVerifier(prober, fence_key=order.fence_key)
    advance = show(sheet.oracle, len(sheet.items) + len(sheet.pairs))
    records = await ask_items(judge, judge, sheet.items, is_own, advance)
    pairs = await ask_pairs(PairwiseJudge(prober, fence_key=order.fence_key), sheet.pairs, advance)
    return Audit(entry=_conclude(order.entry, sheet, records, pairs, seed).sealed(), records=records, pairs=pairs)


def _conclude(
    judge: ModelEntry, sheet: Sheet, records: Sequence[AuditRecord], pairs: Sequence[PairRecord], seed: int
) -> AuditEntry:
    parts: dict[Origin, list[AuditRecord]] = {
        "natural": [record for record in records if record.natural],
        "synthetic": [record for record in records if not record.natural],
    }
    rates = {origin: pass_rates(part, seed=seed) for origin, part in parts.items() if part}
    natural = rates.get("natural", [])
    decided_on: Origin = "natural" if any(isinstance(rate.discrimination, Figure) for rate in natural) else "synthetic"
    preference = self_preference(parts["natural"], seed=seed)
    return AuditEntry(
        model=judge.id,
        revision=revision_of(judge),
        asked_with=asked_with(judge),
        oracle=sheet.oracle,
        verdict=admit(rates.get(decided_on, [])),
        decided_on=decided_on,
        date=datetime.now(UTC).date().isoformat(),
        rafs_version=__version__,
        seed=seed,
        items_sha256=sheet.hashed(),
        rates={origin: tuple(part) for origin, part in rates.items()},
        rankings={origin: ranking(parts[origin], seed=seed) for origin in rates},
        pairs=pair_rates(pairs, seed=seed) if pairs else None,
        self_preference=preference if preference.n_questions else None,
        left_out=sheet.left_out,
    )


def to_report(audits: Iterable[Audit]) -> str:
    """Return audits as JSON, with every item by its id; no text of any file is in it."""
    content = [
        {
            **audit.entry.model_dump(mode="json"),
            "items": [asdict(record) for record in audit.records],
            "pair_items": [asdict(pair) for pair in audit.pairs],
        }
        for audit in audits
    ]
    return json.dumps(content, indent=1, allow_nan=False)
