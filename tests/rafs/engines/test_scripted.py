from collections.abc import Awaitable, Callable

import pytest

from rafs.contracts import PromptPart
from rafs.engines.scripted import Script, ScriptedEmbedder, ScriptedGenerator, ScriptedNli, ScriptedProber
from rafs.errors import BackendError
from rafs.usage import Meter

PART = [PromptPart(text="x")]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda: ScriptedProber(Script()).probe(PART, [PART], PART, [0], Meter()), id="probe"),
        pytest.param(lambda: ScriptedGenerator(Script()).sample("p", 1, 1, Meter()), id="sample"),
        pytest.param(lambda: ScriptedGenerator(Script()).continue_trace("p", ["x"], 1, 1, Meter()), id="continue"),
        pytest.param(lambda: ScriptedNli(Script()).classify([("a", "b")], Meter()), id="classify"),
        pytest.param(lambda: ScriptedEmbedder(Script()).embed(["a"], Meter()), id="embed"),
    ],
)
async def test_what_was_not_recorded_is_refused(call: Callable[[], Awaitable[object]]) -> None:
    with pytest.raises(BackendError, match="not recorded"):
        await call()
