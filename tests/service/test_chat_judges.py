"""`chat: true` in models.yaml reaches the engine of a judge, wherever it runs."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rafs.engines.transformers_lm import TransformersProber
from rafs.reading import read_text
from rafs.registry import find_default, load_registry
from rafs.types import Judged, Verdict
from rafs.usage import Meter
from service.stock import Stock
from tests.rafs.engines.scripted_server import serve
from tests.rafs.engines.served_engines import COMPLETIONS, vllm
from tests.rafs.engines.tiny_models import TINY, tiny_llama, tiny_tokenizer
from verifiers.judge import JudgeVerifier

TRACE = read_text("Tom has 3 apples and buys 4 more.", "So 3 + 4 = 7.\nHalf of 12 is 6.\n", None).blind()


async def judge(tmp_path: Path, **keys: Any) -> Verdict:
    """Let the judge of a registry that names this one model judge the first step."""
    written = yaml.safe_load(find_default().read_text("utf-8"))
    written["models"].append({"id": "mine", "family": "llama", "roles": ["judge"], "licence": "L", **keys})
    written["presets"]["gate"]["models"]["judge"] = ["mine"]
    file = tmp_path / "models.yaml"
    file.write_text(yaml.safe_dump(written))
    stock = Stock(load_registry(file), tmp_path, 1)
    (verifier,) = stock.judges("gate")
    (verdict,) = await verifier.verify(TRACE, [0], Meter())
    await stock.closing.aclose()
    return verdict


@pytest.mark.parametrize("chat", [False, True], ids=["plain", "chat"])
async def test_a_judge_of_this_process_is_asked_as_its_entry_says(tmp_path: Path, chat: bool) -> None:
    folder = tmp_path / "model"
    tiny_llama(max_position_embeddings=1024).save_pretrained(folder)
    tiny_tokenizer().tokenizer.save_pretrained(folder)
    verdict = await judge(tmp_path, source=f"path:{folder}", chat=chat)
    assert isinstance(verdict, Judged)
    said: list[Verdict] = []
    for each in (chat, not chat):
        prober = TransformersProber.load(folder, TINY, chat=each)
        said += await JudgeVerifier(prober, fence_key=b"").verify(TRACE, [0], Meter())
        prober.close()
    assert verdict == said[0] != said[1]


@pytest.mark.parametrize("chat", [False, True], ids=["plain", "chat"])
async def test_a_served_judge_is_asked_as_its_entry_says(tmp_path: Path, chat: bool) -> None:
    with serve(vllm()) as server:
        await judge(tmp_path, source=f"endpoint:{server.url}", model="served", chat=chat)
    (body,) = server.bodies(COMPLETIONS)
    starts = tiny_tokenizer().tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert (body["prompt"][0] == starts) is chat
