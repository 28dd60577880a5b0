"""From settings and registry to a pipeline; with stock.py, all that names concrete classes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from counterfactuals.probe import CounterfactualProber
from rafs.algebra import AlgebraWorker
from rafs.calibration import DEFAULT_CALIBRATION, Calibration
from rafs.calibration_file import Artefact
from rafs.contracts import Algebra, AnswerJudge, Editor, Embedder, Generator, Nli, Verifier
from rafs.engines.scripted import ScriptedAlgebra, ScriptedEditor, ScriptedGenerator, ScriptedNli
from rafs.engines.weights import locate
from rafs.errors import ConfigError
from rafs.model_entry import ModelEntry
from rafs.pipeline import Pipeline
from rafs.policy import Policy, Preset
from rafs.reading import read_text, settle_reading
from rafs.record import Record
from rafs.recording import to_script
from rafs.registry import Registry, load_registry
from rafs.request import ScoreRequest
from rafs.types import Reading, Truth
from service.audits import apply_audits
from service.calibrations import choose_artefacts
from service.scorer import Scorer
from service.settings import Settings
from service.stock import Stock
from verifiers.ensemble import VerifierEnsemble
from verifiers.oracles.checkers import OracleChecker
from verifiers.oracles.citations import CitationOracle, load_ids
from verifiers.recorded import RecordedAnswerJudge, RecordedVerifier
from verifiers.symbolic import SymbolicVerifier

REPLAY_DEADLINE_S = 600.0
"""A replay reads and computes, and waits for nobody: what the record's own deadline cut off is on its tape."""


def assemble(
    policy: Policy,
    preset: Preset,
    calibration: Calibration,
    *,
    algebra: Algebra,
    checkers: Sequence[Verifier],
    models: Sequence[Verifier],
    validators: Sequence[Nli],
    generators: Mapping[str, Generator],
    answer_judges: Sequence[AnswerJudge] = (),
    editors: Sequence[Editor] = (),
    embedders: Sequence[Embedder] = (),
) -> Pipeline:
    """Put a pipeline together from its parts; scoring and replay share it."""
    return Pipeline(
        policy=policy,
        preset=preset,
        algebra=algebra,
        ensemble=VerifierEnsemble(checkers, models, calibration, policy.q_refuted, n_judges=preset.n_judges),
        generators=generators,
        validators=validators,
        editors=editors,
        embedders=embedders,
        prober=CounterfactualProber(
            n_edits=preset.n_edits,
            n_continuations=preset.n_continuations,
            m_min=policy.m_min,
            probes=preset.probes,
            with_ablation=preset.name != "gate",
        ),
        calibration=calibration,
        answer_judges=answer_judges,
    )


async def read_alone(request: ScoreRequest) -> Reading:
    """Read the trace of a request: steps, claims and graph, without any model.

    Raises:
        InputError: The trace has too many steps, or one of them is too long.
    """
    algebra = AlgebraWorker()
    try:
        reading = read_text(request.problem, request.trace_text(), request.answer)
        return await settle_reading(reading, algebra)
    finally:
        await algebra.close()


def build_scorer(settings: Settings) -> Scorer:
    """Return the scorer of this process; models are loaded when they are first needed. Errors: `scorer_and_judges`."""
    return scorer_and_judges(settings)[0]


def scorer_and_judges(
    settings: Settings, deadline_s: float | None = None
) -> tuple[Scorer, Callable[[str], Sequence[Verifier]]]:
    """Return the scorer, and what gives the judges of a preset, which it shares with it.

    Args:
        settings: Of the operator.
        deadline_s: For one trace, instead of that of its preset: where nobody waits, a busy machine must not decide
            what is measured.

    Raises:
        ConfigError: models.yaml or its audits are wrong, or the calibration was made for other models or settings.
    """
    registry = load_registry(settings.models_file)
    _check_preset(settings.preset, registry)
    secret = settings.edit_secret.get_secret_value()
    audited = apply_audits(registry, settings.models_file)
    stock = Stock(audited.registry, settings.cache_dir, settings.torch_threads, settings.pull_command, secret.encode())
    algebra = AlgebraWorker()
    stock.closing.push_async_callback(algebra.close)
    artefacts, citation_checkers = choose_artefacts(settings, registry), _citation_checkers(settings)

    def build_pipeline(name: str) -> Pipeline:
        policy, calibration = _constants(registry, artefacts.get(name))
        return assemble(
            policy,
            _preset(registry, name, deadline_s),
            calibration,
            algebra=algebra,
            checkers=[SymbolicVerifier(calibration.checker), *citation_checkers],
            models=[*stock.prms(name), *audited.barred[name], *stock.judges(name)],
            validators=stock.validators(name),
            generators=stock.generators(name),
            answer_judges=stock.judges(name),
            editors=stock.editors(name),
            embedders=stock.embedders(name),
        )

    scorer = Scorer(
        registry=registry,
        build_pipeline=build_pipeline,
        is_ready=partial(_is_here, settings.cache_dir),
        close=stock.closing.aclose,
        calibration=DEFAULT_CALIBRATION,
        default_preset=settings.preset,
        edit_secret=secret,
        artefacts=artefacts,
        audits=audited.notes,
    )
    return scorer, stock.judges


def _preset(registry: Registry, name: str, deadline_s: float | None) -> Preset:
    preset = registry.presets.by_name()[name].to_preset(name)
    return preset if deadline_s is None else replace(preset, deadline_s=deadline_s)


def _constants(registry: Registry, artefact: Artefact | None) -> tuple[Policy, Calibration]:
    policy = registry.policy.to_policy()
    if artefact is None:
        return policy, DEFAULT_CALIBRATION
    return artefact.to_policy(policy), artefact.to_calibration()


def _citation_checkers(settings: Settings) -> list[Verifier]:
    if settings.citations is None:
        return []
    return [OracleChecker(CitationOracle(load_ids(settings.citations), settings.citation_style))]


def _check_preset(preset: str, registry: Registry) -> None:
    if preset not in registry.presets.by_name():
        allowed = ", ".join(registry.presets.by_name())
        raise ConfigError(f"RAFS_PRESET: got {preset!r}, allowed {allowed}")


def _is_here(cache_dir: Path, entry: ModelEntry) -> bool:
    source = entry.to_source()
    return source is None or locate(source, cache_dir) is not None


def build_replay(record: Record) -> Pipeline:
    """Return a pipeline on the tape and the constants of a record; it holds no model."""
    tape = record.tape
    script = to_script(record)
    recorded = [RecordedVerifier(member) for member in tape.members]
    return assemble(
        record.policy,
        replace(record.preset, deadline_s=REPLAY_DEADLINE_S),
        record.calibration,
        algebra=ScriptedAlgebra(
            {(left, right): truth for left, right, truth in tape.algebra if truth is not Truth.UNKNOWN}
        ),
        checkers=[verifier for verifier in recorded if verifier.identity is None],
        models=[verifier for verifier in recorded if verifier.identity is not None],
        answer_judges=[RecordedAnswerJudge(row, row.identity) for row in tape.follows if row.identity is not None],
        validators=[] if tape.validator is None else [ScriptedNli(script, tape.validator)],
        editors=[] if tape.editor is None else [ScriptedEditor(script, tape.editor)],
        generators={}
        if tape.generator is None
        else {(record.writer_model or "").casefold(): ScriptedGenerator(script, tape.generator)},
    )
