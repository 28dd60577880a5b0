"""Ask a running service from Python: start it with `make serve`, then run `python examples/client.py`."""

import json
from pathlib import Path

import rafs
from rafs.progress_wire import ScoreBounds

EXAMPLE = json.loads((Path(__file__).parent / "silent_failure.json").read_text("utf-8"))
PROBLEM, TRACE = EXAMPLE["problem"], EXAMPLE["trace"]

with rafs.Client() as client:  # RAFS_URL and RAFS_API_KEY say where, unless it runs here
    response = client.score(PROBLEM, TRACE, generator="gpt-4o-mini")
    print(response.status, response.score, response.outcome.label)
    if response.suspect_step is not None:
        print(f"step {response.suspect_step.index} is in doubt: {response.suspect_step.reason}")

    with client.stream(PROBLEM, TRACE, generator="gpt-4o-mini") as events:
        for event in events:
            if isinstance(event, ScoreBounds):
                print(f"the score lies between {event.lower:.1f} and {event.upper:.1f}")

    @rafs.gate(problem="question", on_reject="I am not sure.", client=client)
    def solve(question: str) -> str:
        """Stand in for a call of a model: what it wrote, reasoning and all."""
        return str(TRACE)

    print(solve(PROBLEM))
