"""Probabilities of the four outcomes, fitted by a calibration: a report beside the decision, which does not hear it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rafs.log_odds import logit
from rafs.outcomes import Component, ComponentName, Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeModel:
    """Multinomial logistic regression: P(outcome) is proportional to exp(intercept + sum_f weight_f * feature_f)."""

    intercepts: Mapping[str, float]
    """By outcome; those that the calibration set had."""
    weights: Mapping[str, Mapping[str, float]]
    """By outcome, then by feature; a feature that a trace lacks counts 0."""

    def covers(self, features: Mapping[str, float]) -> bool:
        """Whether the fit saw every component that a trace has; one that it never saw has no weight for any outcome."""
        present = [name.value for name in ComponentName if name.value in features]
        return all(any(weights.get(name, 0.0) for weights in self.weights.values()) for name in present)

    def probabilities(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return the probability of each outcome; they sum to 1."""
        logits = {
            name: start + math.fsum(weight * features.get(key, 0.0) for key, weight in self.weights[name].items())
            for name, start in self.intercepts.items()
        }
        highest = max(logits.values())
        parts = {name: math.exp(value - highest) for name, value in logits.items()}
        total = math.fsum(parts.values())
        return {name: part / total for name, part in parts.items()}


FEATURES = ("score", "lowest_q", *(f"{name}{part}" for name in ComponentName for part in ("", "_measured")))


def outcome_features(
    score: float, components: Mapping[ComponentName, Component], q: Sequence[float | None]
) -> dict[str, float]:
    """Return what the outcome is told from; log-odds, except `_measured`, which is 1 where the component has a value.

    Args:
        score: In [0, 100].
        components: Of the trace.
        q: P(right) of each step, None where nobody judged it.
    """
    measured = {name: part.value for name, part in components.items() if isinstance(part, Measured)}
    judged = [p for p in q if p is not None]
    return {
        "score": logit(score / 100),
        **({"lowest_q": logit(min(judged))} if judged else {}),
        **{name.value: logit(value) for name, value in measured.items()},
        **{f"{name}_measured": 1.0 for name in measured},
    }
