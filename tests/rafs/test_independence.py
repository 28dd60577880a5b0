"""A model never judges what its own family wrote, in whatever role."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from rafs.contracts import Nli
from rafs.engines.nli import EmbeddingNli
from rafs.engines.scripted import Script, ScriptedNli
from rafs.families import UNNAMED
from rafs.independence import Writer, choose_independent, fill_seats, judge_independence, refuse_kin
from rafs.policy import Independence
from rafs.types import Abstained, Judged, MemberVerdicts, ModelIdentity, Verdict, Why
from rafs.usage import Meter

Named = tuple[str, ModelIdentity]


def named(kind: str, model_id: str, family: str, *kin: str) -> Named:
    return f"{kind}:{model_id}", ModelIdentity(id=model_id, family=family, revision="1", kin=kin)


SMOL = named("judge", "smollm2-135m", "smollm")
QWEN = named("judge", "qwen-7b", "qwen")
CODER = named("judge", "qwen-coder", "qwen")
LLAMA = named("judge", "llama-3", "llama")
DISTILLED = named("judge", "r1-qwen", "deepseek", "qwen")
REWARD = named("prm", "qwen-prm", "qwen")
REWARD_2 = named("prm", "mistral-prm", "mistral")
JUDGED = Judged(p_correct=0.9)
REFUSED = Abstained(why=Why.SAME_FAMILY)
UNNEEDED = Abstained(why=Why.NOT_NEEDED)


def writer(*families: str) -> Writer:
    return Writer(model=None, families=frozenset(families))


def row(model: Named, *verdicts: Verdict) -> MemberVerdicts:
    return MemberVerdicts(member=model[0], identity=model[1], verdicts=verdicts)


@pytest.mark.parametrize("override", [False, True], ids=["", "override"])
@pytest.mark.parametrize(
    ("families", "refused"),
    [
        pytest.param(["gpt"], [], id="another family"),
        pytest.param(["smollm"], [SMOL], id="a judge of the family"),
        pytest.param(["qwen"], [QWEN, CODER, DISTILLED, REWARD], id="judges and a reward model, one of them distilled"),
        pytest.param(["deepseek", "llama"], [LLAMA, DISTILLED], id="a writer of two families"),
        pytest.param([], [], id="unknown writer"),
    ],
)
def test_refused_are_those_of_the_writers_families(families: list[str], refused: list[Named], override: bool) -> None:
    models = [SMOL, QWEN, CODER, LLAMA, DISTILLED, REWARD]
    expected = set() if override else {name for name, _ in refused}
    assert refuse_kin(models, writer(*families), override=override) == expected


@pytest.mark.parametrize(
    ("models", "sitting", "out", "seats", "called"),
    [
        pytest.param([SMOL, QWEN], [], [], {}, [SMOL], id="the first of a kind is enough"),
        pytest.param([REWARD, SMOL, REWARD_2], [], [], {}, [REWARD, SMOL], id="one of each kind"),
        pytest.param([REWARD, CODER], [], [], {}, [REWARD, CODER], id="kinds may share a family"),
        pytest.param([SMOL, QWEN, LLAMA], [], [], {"judge": 2}, [SMOL, QWEN], id="a panel, in order"),
        pytest.param([QWEN, CODER, LLAMA], [], [], {"judge": 2}, [QWEN, LLAMA], id="a panel of different families"),
        pytest.param([QWEN, DISTILLED, LLAMA], [], [], {"judge": 2}, [QWEN, LLAMA], id="kin is family"),
        pytest.param([QWEN, CODER], [], [], {"judge": 2}, [QWEN], id="a seat stays empty"),
        pytest.param([SMOL, QWEN, LLAMA], [], [SMOL], {}, [QWEN], id="one that is out is passed over"),
        pytest.param([SMOL, QWEN, LLAMA], [QWEN], [SMOL], {"judge": 2}, [LLAMA], id="one seat is taken"),
        pytest.param([QWEN, CODER, LLAMA], [CODER], [QWEN], {"judge": 2}, [LLAMA], id="a replacement's family counts"),
        pytest.param([SMOL, QWEN], [SMOL], [], {}, [], id="all seats are taken"),
        pytest.param([SMOL], [], [SMOL], {}, [], id="nobody is left"),
    ],
)
def test_who_is_asked(
    models: list[Named], sitting: list[Named], out: list[Named], seats: dict[str, int], called: list[Named]
) -> None:
    found = fill_seats(models, [name for name, _ in sitting], [name for name, _ in out], seats)
    assert found == [name for name, _ in called]


@pytest.mark.parametrize(
    ("rows", "refused", "validator", "families", "expected"),
    [
        pytest.param([row(SMOL, JUDGED)], [], None, ["gpt"], "independent", id="another family"),
        pytest.param([row(SMOL, REFUSED)], [SMOL], None, ["smollm"], "none_left", id="the only judge is refused"),
        pytest.param([row(SMOL)], [SMOL], None, ["smollm"], "none_left", id="refused, and no step to judge"),
        pytest.param([row(SMOL)], [], None, ["gpt"], "independent", id="no step to judge"),
        pytest.param([], [], None, ["gpt"], "none_left", id="no model at all"),
        pytest.param([row(SMOL, JUDGED)], [], None, [], "unknown", id="unknown writer"),
        pytest.param([row(SMOL, JUDGED)], [], None, ["llama", UNNAMED], "unknown", id="half of the writer is unknown"),
        pytest.param([row(SMOL, JUDGED)], [], None, ["smollm"], "overridden", id="override is on the record"),
        pytest.param([row(SMOL, JUDGED)], [], None, ["gpt"], "independent", id="override without need"),
        pytest.param(
            [row(SMOL, JUDGED), row(QWEN, UNNEEDED)], [], None, ["qwen"], "independent", id="override of one not asked"
        ),
        pytest.param(
            [row(SMOL, Abstained(why=Why.BACKEND_DOWN)), row(QWEN, JUDGED)],
            [],
            None,
            ["qwen"],
            "overridden",
            id="override by one that took another's place",
        ),
        pytest.param([row(SMOL, JUDGED)], [], QWEN[1], ["qwen"], "overridden", id="override of the validator alone"),
    ],
)
def test_independence_follows_from_who_was_asked(
    rows: list[MemberVerdicts],
    refused: list[Named],
    validator: ModelIdentity | None,
    families: list[str],
    expected: str,
) -> None:
    found = judge_independence(rows, {name for name, _ in refused}, validator, writer(*families))
    assert found is Independence(expected)


class Vectors:
    """An embedder that is never asked here."""

    identity = ModelIdentity(id="all-minilm-l6-v2", family="minilm", revision="1")

    async def embed(self, texts: Sequence[str], meter: Meter) -> NDArray[np.float32]:
        raise NotImplementedError


DEBERTA = ScriptedNli(Script(), ModelIdentity(id="deberta", family="deberta", revision="1"))
EMBEDDED = EmbeddingNli(Vectors())
VALIDATORS: list[Nli] = [EMBEDDED, DEBERTA]


@pytest.mark.parametrize(
    ("families", "override", "chosen"),
    [
        pytest.param(["gpt"], False, EMBEDDED, id="the first"),
        pytest.param(["minilm"], False, DEBERTA, id="an embedder of the family is passed over"),
        pytest.param(["minilm", "deberta"], False, None, id="none is left"),
        pytest.param(["minilm"], True, EMBEDDED, id="override"),
    ],
)
def test_validators_and_the_embedders_under_them_are_chosen_like_judges(
    families: list[str], override: bool, chosen: object
) -> None:
    assert choose_independent(VALIDATORS, writer(*families), override=override) is chosen
