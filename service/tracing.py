"""OpenTelemetry: a span for each score and for each of its stages, and what came out; never text of a trace.

Nothing is recorded unless the process has a tracer provider, such as the one that FastAPI makes where the variables of
OpenTelemetry name a collector.
"""

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace

from rafs import __version__
from rafs.usage import Meter
from rafs.wire import ScoreResponse

SCOPE = "rafs"
EVALUATION = "gen_ai.evaluation.result"
"""Name of the event in the semantic conventions for generative models; the keys below are theirs."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
SDK = "opentelemetry.sdk"


class TracedMeter(Meter):
    """A meter whose stages are spans, beneath whatever span is current."""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to `stage`."""
        with span(f"rafs.{stage}"), super().timed(stage):
            yield


@contextmanager
def span(name: str) -> Iterator[trace.Span]:
    """Open a span for the block; a failure is noted by its type alone, since its message may quote a trace."""
    tracer = trace.get_tracer(SCOPE, __version__)
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as opened:
        try:
            yield opened
        except Exception as error:
            opened.set_attribute("error.type", type(error).__name__)
            opened.set_status(trace.StatusCode.ERROR)
            raise


def record_evaluation(opened: trace.Span, response: ScoreResponse) -> None:
    """Add the result of a score to its span as an event; it holds codes and numbers, no text."""
    attributes: dict[str, str | float] = {
        "gen_ai.evaluation.name": SCOPE,
        "gen_ai.evaluation.score.label": response.status,
        "gen_ai.evaluation.explanation": ", ".join(response.reasons),
        "rafs.outcome": response.outcome.label,
        "rafs.coverage": response.coverage,
        "rafs.preset": response.provenance.preset,
        "rafs.score.id": response.id,
    }
    if response.score is not None:
        attributes["gen_ai.evaluation.score.value"] = response.score
    opened.add_event(EVALUATION, attributes)
    for stage in response.usage:
        opened.set_attribute(f"rafs.tokens.{stage.stage}", stage.tokens)


def missing_exporter() -> str:
    """Return what to install where the environment names a collector that nothing here can send to; else nothing."""
    is_wanted = any(os.environ.get(name) for name in ENDPOINTS)
    return "pip install 'rafs[otel]'" if is_wanted and importlib.util.find_spec(SDK) is None else ""
