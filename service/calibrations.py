"""Which calibration each preset uses: an artefact that a setting or models.yaml names, or the default."""

import logging
from pathlib import Path

from rafs.calibration_file import Artefact, Pin, load_artefact, scoring_hash
from rafs.errors import ConfigError
from rafs.registry import Registry, find_default
from service.identity import revision_of
from service.settings import Settings

logger = logging.getLogger(__name__)

SHIPPED = Path(__file__).parent.parent / "rafs" / "calibrations"
"""Where the artefacts that come with RAFS lie."""


def choose_artefacts(settings: Settings, registry: Registry) -> dict[str, Artefact]:
    """Return the artefact of each preset that has one which fits.

    One that models.yaml names and that does not fit is passed over with a warning: the preset uses the default, and
    its responses say so. One that the operator names for this process has to fit.

    Raises:
        ConfigError: A file cannot be read or was changed, or the operator's does not fit.
    """
    found = {}
    for name, preset in registry.presets.by_name().items():
        if preset.calibration is None:
            continue
        path = _find(preset.calibration, settings.models_file or find_default())
        artefact = load_artefact(path)
        if wrong := misfit(artefact, registry, name):
            logger.warning("preset %s is scored with the default calibration: %s %s", name, path, wrong)
        else:
            found[name] = artefact
    if settings.calibration is not None:
        artefact = load_artefact(settings.calibration)
        if wrong := misfit(artefact, registry, artefact.preset):
            raise ConfigError(f"--calibration {settings.calibration} {wrong}: make it again with `rafs calibrate`")
        found[artefact.preset] = artefact
    return found


def misfit(artefact: Artefact, registry: Registry, preset: str) -> str:
    """Say why the numbers of an artefact mean nothing for a preset; empty where they hold."""
    if artefact.preset != preset:
        return f"was made for preset {artefact.preset!r}, not for {preset!r}"
    if preset not in registry.presets.by_name():
        return f"was made for preset {preset!r}, which models.yaml does not have"
    here = pins_of(registry, preset)
    if list(artefact.models) != here:
        return f"was made with other models: {_listed(artefact.models)}, and now there are {_listed(here)}"
    if artefact.scoring != scoring_hash(registry, preset):
        return "was made with another policy or other settings of its preset"
    return ""


def pins_of(registry: Registry, preset: str) -> list[Pin]:
    """Return the models of a preset as they are now, by role and preference."""
    return [
        Pin(id=entry.id, role=role.value, revision=revision_of(entry))
        for role in sorted(registry.presets.by_name()[preset].models)
        for entry in registry.candidates(preset, role)
    ]


def _find(name: str, models_file: Path) -> Path:
    """Return the file beside models.yaml, or the one that came with RAFS."""
    beside = models_file.parent / name
    return beside if beside.exists() else SHIPPED / name


def _listed(pins: list[Pin]) -> str:
    return ", ".join(f"{pin.role} {pin.id} ({pin.revision})" for pin in pins) or "none"
