"""Which models had a say in a score."""

from rafs.record import ModelOut
from rafs.result import ScoreResult
from rafs.types import judged_only, kind_of


def models_used(result: ScoreResult) -> list[ModelOut]:
    """Return every model that had a say, with its role."""
    evidence = result.evidence
    used = [(kind_of(row.member), row.identity) for row in evidence.verdicts.members if judged_only(row.verdicts)]
    used += [(kind_of(row.member), row.identity) for row in evidence.followed.judges if judged_only(row.verdicts)]
    used.append(("nli", evidence.validator))
    used.append(("embedder", evidence.agreement.embedder))
    if evidence.agreement.drawn or evidence.interventions.continued:
        used.append(("generator", evidence.generator))
    if evidence.interventions.editing.proposed:
        used.append(("editor", evidence.interventions.editing.editor))
    return [
        ModelOut(id=model.id, family=model.family, revision=model.revision, role=role)
        for role, model in used
        if model is not None
    ]
