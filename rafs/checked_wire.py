"""JSON of what checkers decided: how many steps, and the rules of the request."""

from pydantic import Field

from rafs.messages import Wire


class RoutedOut(Wire):
    """Who decided the steps of the derivation: checkers come first, models second."""

    checkers: float | None = Field(
        description="Share of the steps that checkers decided, no model's word counting; null without steps."
    )
    models: float | None = Field(description="Share of those where a model's word counted.")
    asked: float | None = Field(description="Share of those put to a model: on the others a model was spared.")


class RuleOut(Wire):
    """One rule of the request."""

    rule: str
    kept: bool | None = Field(description="Null where it depends on how one counts.")


class InstructionsOut(Wire):
    """Whether the reply keeps the rules of the request, by program; no score depends on it."""

    kept: bool | None
    reason: str
    rules: list[RuleOut]
