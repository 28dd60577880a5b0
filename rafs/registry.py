"""The operator's models.yaml: which models, of which family, used where, and with which constants.

What is wrong in it is one `ConfigError` that names file, key, what was got and what is allowed.
"""

import hashlib
import json
import math
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from rafs.aggregation import ZERO_CAP
from rafs.config_file import complaint, listed, load_config, shaped
from rafs.errors import ConfigError
from rafs.families import find_families
from rafs.model_entry import Entry, Family, Id, ModelEntry, Role
from rafs.outcomes import ComponentName
from rafs.policy import Policy, Preset
from rafs.probes import ProbeKind
from rafs.rounds import StopRule

Glob = Annotated[
    str, shaped(r"\^?[a-z0-9][a-z0-9*?!\[\]-]{0,39}\$?", "a lower-case glob that starts with a letter or digit")
]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=64)]


class PresetEntry(Entry):
    """How much is measured, and with which models; a role lists its models in order of preference."""

    models: dict[Role, Annotated[tuple[Id, ...], Field(min_length=1)]]
    required: frozenset[ComponentName]
    optional: frozenset[ComponentName]
    accept_without: frozenset[ComponentName]
    n_edits: Count
    n_samples: Count
    stop_sampling: StopRule = StopRule.NEVER
    n_continuations: Count
    n_judges: Annotated[int, Field(ge=1, le=8)] = 1
    stop_when_settled: bool = False
    deadline_s: Annotated[float, Field(gt=0, le=3600)]
    probes: tuple[ProbeKind, ...] = ()
    calibration: Annotated[str, Field(min_length=1, max_length=400)] | None = None

    @model_validator(mode="after")
    def _components_are_consistent(self) -> Self:
        if self.required & self.optional or self.required | self.optional != set(ComponentName):
            got = f"required {listed(self.required)} and optional {listed(self.optional)}"
            raise complaint(got, "each of 'P', 'S', 'C', 'D' in exactly one of the two", "required")
        if wrong := self.accept_without - self.optional:
            raise complaint(listed(wrong), f"optional components: {listed(self.optional)}", "accept_without")
        return self

    @field_validator("probes")
    @classmethod
    def _probes_are_named_once(cls, probes: tuple[ProbeKind, ...]) -> tuple[ProbeKind, ...]:
        if len(set(probes)) < len(probes):
            raise complaint(", ".join(probes), "every probe once")
        return probes

    def to_preset(self, name: str) -> Preset:
        """Return what a decision needs of it."""
        return Preset(name=name, **self.model_dump(exclude={"models", "optional", "calibration"}))


class Presets(Entry):
    """The presets that a caller may ask for, cheapest first."""

    gate: PresetEntry
    standard: PresetEntry
    deep: PresetEntry

    def by_name(self) -> dict[str, PresetEntry]:
        """Return them by name."""
        return {"gate": self.gate, "standard": self.standard, "deep": self.deep}


class PolicyEntry(Entry):
    """Constants of the score and of the decision; their reasons stand beside the values in models.yaml."""

    weights: dict[ComponentName, Annotated[float, Field(gt=0, le=1)]]
    epsilon: Annotated[float, Field(gt=0, le=1e-3)]
    mean_weight: Share = Field(alias="lambda")
    alpha: Share
    q_refuted: Annotated[float, Field(ge=0, lt=0.5)]
    tau_step: Share
    tau_disagree: Share
    tau_accept: Annotated[float, Field(ge=0, le=100)]
    c_min: Share
    m_min: Annotated[int, Field(ge=1, le=64)]
    unknown_generator: Literal["review", "allow"] = "review"
    independence_override: bool = False

    @field_validator("weights")
    @classmethod
    def _weights_share_one(cls, weights: dict[ComponentName, float]) -> dict[ComponentName, float]:
        if set(weights) != set(ComponentName) or abs(sum(weights.values()) - 1) > 1e-9:
            got = ", ".join(f"{name}: {value}" for name, value in weights.items())
            raise complaint(f"{{{got}}}", "one weight for each of P, S, C and D, together 1")
        return weights

    @model_validator(mode="after")
    def _every_component_can_sink_the_score(self) -> Self:
        name, weight = min(self.weights.items(), key=lambda entry: entry[1])
        left = 100 * self.epsilon**weight
        if left > ZERO_CAP:
            least = math.log(ZERO_CAP / 100) / math.log(self.epsilon)
            got = f"{weight} for {name}, so a score of {left:.0f} with {name} at 0"
            allowed = f"at least {least:.3f} each at epsilon {self.epsilon:g}, so that it is at most {ZERO_CAP:g}"
            raise complaint(got, allowed, "weights")
        return self

    def to_policy(self) -> Policy:
        """Return the constants as the formulas take them."""
        constants = self.model_dump(exclude={"unknown_generator"})
        return Policy(accept_unknown_generator=self.unknown_generator == "allow", **constants)


class Registry(Entry):
    """A checked models.yaml."""

    families: Annotated[dict[Family, Annotated[tuple[Glob, ...], Field(min_length=1)]], Field(min_length=1)]
    models: tuple[ModelEntry, ...]
    presets: Presets
    policy: PolicyEntry

    def families_of(self, model_id: str) -> frozenset[str]:
        """Return every family that an id names; empty means unknown."""
        return find_families(model_id, self.families)

    def families_of_entry(self, entry: ModelEntry) -> frozenset[str]:
        """Return the declared family of a model and all that its names carry."""
        return frozenset({entry.family}).union(*map(self.families_of, entry.names))

    def model(self, model_id: str) -> ModelEntry:
        """Return the model with this id.

        Raises:
            ConfigError: There is none.
        """
        for entry in self.models:
            if entry.id == model_id:
                return entry
        known = listed(entry.id for entry in self.models)
        raise ConfigError(f"models.yaml: no model {model_id!r}, allowed {known}")

    def candidates(self, preset: str, role: Role) -> tuple[ModelEntry, ...]:
        """Return the models of a preset for a role, in order of preference; empty where it uses none."""
        return tuple(self.model(model_id) for model_id in self.presets.by_name()[preset].models.get(role, ()))

    @model_validator(mode="after")
    def _models_are_told_apart(self) -> Self:
        ids = [entry.id for entry in self.models]
        for index, entry in enumerate(self.models):
            where = f"models.{index}.family"
            named = frozenset[str]().union(*map(self.families_of, entry.names))
            if entry.id in ids[:index]:
                raise complaint(f"{entry.id!r} twice", "every id once", f"models.{index}.id")
            if entry.family not in self.families:
                raise complaint(repr(entry.family), listed(self.families), where)
            if named and entry.family not in named:
                raise complaint(repr(entry.family), f"{listed(named)}, which the names of {entry.id!r} say", where)
        return self

    @model_validator(mode="after")
    def _presets_name_fitting_models(self) -> Self:
        roles = {entry.id: entry.roles for entry in self.models}
        for name, preset in self.presets.by_name().items():
            if Role.EMBEDDER in preset.models and Role.NLI not in preset.models:
                allowed = f"no such role without {Role.NLI.value!r}, whose questions an embedder chooses"
                raise complaint("a list", allowed, f"presets.{name}.models.embedder")
            for role, ids in preset.models.items():
                if twice := {model_id for model_id in ids if ids.count(model_id) > 1}:
                    raise complaint(f"{listed(twice)} twice", "every model once", f"presets.{name}.models.{role}")
                fitting = [model_id for model_id, has in roles.items() if role in has]
                for model_id in set(ids).difference(fitting):
                    lack = "a model without this role" if model_id in roles else "which is not under models"
                    raise complaint(f"{model_id!r}, {lack}", listed(fitting), f"presets.{name}.models.{role}")
            if Role.EDITOR in preset.models and Role.NLI not in preset.models:
                allowed = f"no such role without {Role.NLI.value!r}, which checks what an editor proposes"
                raise complaint("a list", allowed, f"presets.{name}.models.editor")
            if preset.n_edits < self.policy.m_min:
                allowed = f"at least policy.m_min = {self.policy.m_min}, or S is never measured"
                raise complaint(str(preset.n_edits), allowed, f"presets.{name}.n_edits")
            if preset.n_judges > (most := self._largest_panel(name)):
                allowed = f"at most {most}: the judges of a panel share no family"
                raise complaint(str(preset.n_judges), allowed, f"presets.{name}.n_judges")
        return self

    def _largest_panel(self, preset: str) -> int:
        seated: list[frozenset[str]] = []
        for families in map(self.families_of_entry, self.candidates(preset, Role.JUDGE)):
            if all(families.isdisjoint(other) for other in seated):
                seated.append(families)
        return max(1, len(seated))


def find_default() -> Path:
    """Return the models.yaml of RAFS: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "models.yaml"
    return installed if installed.exists() else package.parent / "models.yaml"


def load_registry(path: Path | None = None) -> Registry:
    """Read and check a models.yaml.

    Args:
        path: The operator's file; None is the one that came with RAFS.

    Raises:
        ConfigError: The file is wrong; the message says where and what is allowed.
    """
    return load_config(path or find_default(), Registry)


def config_hash(registry: Registry) -> str:
    """Return 16 hex digits that change with anything in the registry but comments and layout."""
    plain = registry.model_dump(mode="json", by_alias=True)
    for preset in plain["presets"].values():
        del preset["calibration"]  # responses name it apart
        for key in ("required", "optional", "accept_without"):  # sets have no order of their own
            preset[key].sort()
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
