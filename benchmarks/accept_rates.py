"""Score labelled traces as a service would, and count what happens to right and to wrong solutions.

    python benchmarks/accept_rates.py FILE.jsonl... [--preset gate]

Each line of a file is a JSON object with `problem`, `steps` and `solution_correct`. No samples are sent; the writer is
declared to be of another family than the embedded models.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from rafs.errors import InputError
from rafs.policy import Reason
from rafs.request import ScoreRequest
from rafs.wire import ScoreResponse
from service.scorer import Scorer
from service.settings import load_settings
from service.wiring import build_scorer

WRITER = {"family": "gpt"}


async def score_all(scorer: Scorer, rows: Sequence[dict[str, object]], preset: str) -> list[ScoreResponse | None]:
    """Return one response a row; None where the trace is over the limits."""
    responses: list[ScoreResponse | None] = []
    for row in track(rows, description="scoring", console=Console(stderr=True)):
        steps = [step for step in row["steps"] if step.strip()]
        body = {"problem": row["problem"], "trace": steps, "generator": WRITER, "preset": preset}
        try:
            responses.append(await scorer.score(ScoreRequest.model_validate_json(json.dumps(body))))
        except InputError:
            responses.append(None)
    await scorer.close()
    return responses


def main() -> None:
    """Read the files and print a line for right and one for wrong solutions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="labelled traces, one JSON object a line")
    parser.add_argument("--preset", default="gate")
    options = parser.parse_args()
    if not options.files:
        print("skipped: it measures on labelled traces; name their files")
        return
    lines = [line for path in options.files for line in path.read_text("utf-8").splitlines()]
    rows = [row for row in map(json.loads, lines) if row["solution_correct"] is not None]
    responses = asyncio.run(score_all(build_scorer(load_settings()), rows, options.preset))
    for correct in (True, False):
        group = [r for row, r in zip(rows, responses, strict=True) if row["solution_correct"] is correct]
        statuses = Counter("over the limits" if r is None else r.status for r in group)
        alone = sum(r is not None and r.reasons == [Reason.ARITHMETIC_ALONE] for r in group)
        print(
            f"{'right' if correct else 'wrong'} solutions {len(group)}: {dict(sorted(statuses.items()))},"
            f" under review for {Reason.ARITHMETIC_ALONE} and nothing else {alone}"
        )


if __name__ == "__main__":
    main()
