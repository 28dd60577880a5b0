"""What the commands stand on; a program that calls them may put its own parts here."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any

import typer

from rafs.record import Record
from rafs.wire import ScoreResponse
from service.routes import ScoringService
from service.scorer import replay
from service.settings import Settings
from service.wiring import build_replay, build_scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Faces:
    """Builds what scores and what replays."""

    build_scorer: Callable[[Settings], ScoringService]
    replay: Callable[[Record], Coroutine[Any, Any, ScoreResponse]]


SHIPPED = Faces(build_scorer=build_scorer, replay=partial(replay, build_replay=build_replay))


def faces_of(context: typer.Context) -> Faces:
    """Return the parts that the caller of the command line gave (`obj`), or those of RAFS."""
    return context.find_object(Faces) or SHIPPED
