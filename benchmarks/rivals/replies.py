"""The other end of `other_process`: answers requests on standard input, in the environment of requirements.txt."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def standard_output_for_replies() -> Iterator[Any]:
    """Keep what packages print off the pipe that replies travel on."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    yield replies


def answer_requests(replies: Any, greeting: Any, answer: Callable[[Any], Any]) -> None:
    """Greet, then answer one request a line until there is none."""
    print(json.dumps(greeting), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=replies, flush=True)
