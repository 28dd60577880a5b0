"""What a monitor reads at /metrics: counts and times, with labels of few values and no text of a trace."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rafs.wire import ScoreResponse
from service.admission import Admission
from service.observability import Answered

SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
METHODS = frozenset({"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"})
OTHER = "other"
"""Stands for any path or method that is none of ours."""
ROLE_OF = {
    "verify": "verifier",
    "nli": "validator",
    "embed": "embedder",
    "sample": "generator",
    "counterfactual": "generator",
    "edit": "editor",
}
"""The role of the models whose tokens are counted under a name; no model works under any other."""
MEDIA_TYPE = CONTENT_TYPE_LATEST


class Metrics:
    """The counters of one application."""

    def __init__(self, admission: Admission) -> None:
        """Start at nought.

        Args:
            admission: What is in flight is read from it.
        """
        # A second series for each, of which nothing is read.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._requests = self._counter("rafs_http_requests", "Requests answered.", "method", "path", "status")
        self._seconds = Histogram(
            "rafs_http_request_seconds",
            "Time from a request's head to the end of its response.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._remembered = self._counter("rafs_remembered_answers", "Answers from memory.", "path", "memory")
        self._scores = self._counter("rafs_scores", "Traces scored.", "preset", "status", "outcome")
        self._stage_seconds = self._counter("rafs_stage_seconds", "Wall time of the stages of scoring.", "stage")
        self._tokens = self._counter("rafs_model_tokens", "Tokens that went through models.", "stage", "role")
        self._calls = self._counter("rafs_model_calls", "Calls of models and checkers.", "stage", "role")
        self._reused = self._counter("rafs_model_reused", "Opinions that were remembered or shared.", "stage", "role")
        self._gauge("rafs_requests_in_flight", "Requests being read or scored.").set_function(
            lambda: admission.in_flight
        )
        self._gauge("rafs_queued_tokens", "Estimated tokens of the requests being scored.").set_function(
            lambda: admission.tokens
        )
        ProcessCollector(registry=self._registry)

    def count_request(self, answered: Answered) -> None:
        """Count a request that was answered."""
        path = answered.path or OTHER
        method = answered.method if answered.method in METHODS else OTHER
        self._requests.labels(method, path, str(answered.status)).inc()
        self._seconds.labels(path).observe(answered.seconds)
        if answered.memory is not None:
            self._remembered.labels(path, answered.memory).inc()

    def count_score(self, response: ScoreResponse) -> None:
        """Count a trace that was scored, and what it cost."""
        self._scores.labels(response.provenance.preset, response.status, response.outcome.label).inc()
        for usage in response.usage:
            self._stage_seconds.labels(usage.stage).inc(usage.milliseconds / 1000)
            if usage.stage not in ROLE_OF:
                continue
            labels = (usage.stage, ROLE_OF[usage.stage])
            self._tokens.labels(*labels).inc(usage.tokens)
            self._calls.labels(*labels).inc(usage.calls)
            self._reused.labels(*labels).inc(usage.reused)

    def counter(self, name: str, what: str, *labels: str) -> Counter:
        """Return a counter of another part of the service; its labels must have few values, and none of a caller's."""
        return self._counter(name, what, *labels)

    def render(self) -> bytes:
        """Return all in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(name, what, labels, registry=self._registry)

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(name, what, registry=self._registry)
