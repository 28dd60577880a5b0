"""Keeping to audits: a judge that failed its own is not used, unless the operator says so on the record."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rafs.evaluation.audit_file import failures, load_audits, path_beside
from rafs.model_entry import ModelEntry, Role
from rafs.registry import PresetEntry, Registry, find_default
from service.identity import identity_of, revision_of
from verifiers.barred import BarredJudge
from verifiers.judge_prompt import ANSWER_PROMPT_VERSION, PROMPT_VERSION
from verifiers.pairwise import PAIR_PROMPT_VERSION

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A registry, and what audits say of its judges."""

    registry: Registry
    """Without the judges that may not be used, in any preset; what models are built from."""
    barred: Mapping[str, Sequence[BarredJudge]]
    """Those, by preset, in the operator's order."""
    notes: Mapping[str, str]
    """What was found of every judge that was audited, and why one is used all the same; by model id."""


def asked_with(entry: ModelEntry) -> dict[str, str]:
    """Return what besides its weights decides what a judge says, so that an audit holds for it alone."""
    return {
        "judge": PROMPT_VERSION,
        "answer_judge": ANSWER_PROMPT_VERSION,
        "pair": PAIR_PROMPT_VERSION,
        "framing": "chat" if entry.chat else "plain",
        "dtype": entry.dtype or "float32",
    }


def apply_audits(registry: Registry, models_file: Path | None) -> Audited:
    """Read the audits beside a models.yaml, and leave out the judges that failed theirs.

    Raises:
        ConfigError: The file of audits is wrong.
    """
    audits = load_audits(path_beside(models_file or find_default()))
    notes: dict[str, str] = {}
    barred: dict[str, BarredJudge] = {}
    for entry in registry.models:
        own = [one for one in audits if one.model == entry.id]
        applying = [one for one in own if one.applies_to(entry.id, revision_of(entry), asked_with(entry))]
        if len(applying) < len(own):
            logger.warning("model %s: an audit was made of other weights or prompts and is not used", entry.id)
        if applying:
            notes[entry.id] = "; ".join(one.summary for one in applying)
        failed = failures(applying)
        if failed and entry.despite_audit is None:
            found = f"by its audit it does not tell right from wrong: {'; '.join(one.summary for one in failed)}"
            barred[entry.id] = BarredJudge(identity_of(entry, registry), found)
        elif failed:
            notes[entry.id] += f"; used all the same: {entry.despite_audit}"
    presets = registry.presets.by_name()
    return Audited(
        registry=registry.model_copy(
            update={
                "presets": registry.presets.model_copy(
                    update={name: _without(preset, barred) for name, preset in presets.items()}
                )
            }
        ),
        barred={
            name: [barred[one.id] for one in registry.candidates(name, Role.JUDGE) if one.id in barred]
            for name in presets
        },
        notes=notes,
    )


def _without(preset: PresetEntry, barred: Mapping[str, BarredJudge]) -> PresetEntry:
    judges = tuple(one for one in preset.models.get(Role.JUDGE, ()) if one not in barred)
    others = {role: ids for role, ids in preset.models.items() if role is not Role.JUDGE}
    return preset.model_copy(update={"models": {**others, Role.JUDGE: judges} if judges else others})
