"""A scorer whose work is counted and traced, whichever path asks for it."""

from rafs.record import ProvenanceOut
from rafs.request import ScoreRequest
from rafs.wire import ModelStatus, ScoreResponse
from service.metrics import Metrics
from service.progress import Tell
from service.routes import ScoringService
from service.terms import DEFAULT_TERMS, Terms
from service.tracing import record_evaluation, span


class CountedScorer:
    """A `ScoringService` around another."""

    def __init__(self, scorer: ScoringService, metrics: Metrics) -> None:
        self._scorer = scorer
        self._metrics = metrics

    async def score(
        self, request: ScoreRequest, terms: Terms = DEFAULT_TERMS, tell: Tell | None = None
    ) -> ScoreResponse:
        """Score one trace; see `ScoringService.score`."""
        with span("rafs.score") as opened:
            response = await self._scorer.score(request, terms, tell)
            record_evaluation(opened, response)
        self._metrics.count_score(response)
        return response

    def models(self) -> list[ModelStatus]:
        """Return every model of the registry."""
        return self._scorer.models()

    def would_use(self, preset: str, seed: int) -> ProvenanceOut:
        """Say where the numbers of a preset come from; see `ScoringService.would_use`."""
        return self._scorer.would_use(preset, seed)

    def not_ready(self) -> list[str]:
        """Return why nothing can be scored yet; empty when it can."""
        return self._scorer.not_ready()

    async def warm(self, preset: str | None = None) -> None:
        """Load the models; see `ScoringService.warm`."""
        await self._scorer.warm(preset)

    async def close(self) -> None:
        """Free what was loaded."""
        await self._scorer.close()
