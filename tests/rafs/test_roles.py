"""Which steps carry the answer: by edits where there are any, else by the quantity graph."""

from fractions import Fraction

import pytest

from rafs.derivation import link_answer
from rafs.interventions import NO_INTERVENTIONS, Edit, EditFamily, Effect, EffectMethod, Interventions, Response
from rafs.outcomes import Measured
from rafs.probes import ProbeFinding, ProbeKind, ProbePoint
from rafs.reading import read_text
from rafs.roles import NecessitySource, Role, StepRole, step_roles
from rafs.support import continuation_delta

PROBLEM = "A press prints 15 pages a minute. It runs for 40 minutes, and 60 pages are spoilt. How many are good?"
BRANCHED = (
    "It prints 15 * 40 = 600 pages.\nBy the way, 15 + 60 = 75.\nOf these 600 - 60 = 540 are good.\nThe answer is 540."
)
CARRIES, DECORATION, UNKNOWN = Role.LOAD_BEARING, Role.DECORATIVE, Role.UNKNOWN


def roles(text: str, found: Interventions = NO_INTERVENTIONS, answer: str | None = None) -> dict[int, StepRole]:
    reading = read_text(PROBLEM, text, answer)
    return dict(step_roles(reading, link_answer(reading.trace, reading.graph), found))


def edited(step: int, *responses: Response, method: EffectMethod = EffectMethod.CONTINUATION) -> Interventions:
    edit = Edit(
        step=step,
        claim=0,
        family=EditFamily.VALUE,
        text="",
        old=Fraction(1),
        new=Fraction(2),
        predicted=None,
    )
    effect = Effect(edit=edit, method=method, responses=responses, delta=continuation_delta(responses))
    return Interventions(effects=(effect,), discarded=(), method=method)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(BRANCHED, [CARRIES, DECORATION, CARRIES], id="a side remark"),
        pytest.param(
            "15 + 40 = 55.\nAlso, 60 - 40 = 20.\nThe answer is 540.", [DECORATION, DECORATION], id="nothing leads there"
        ),
        pytest.param(
            "Most pages are good.\nIt prints 15 * 40 = 600 pages.\nOf these 600 - 60 = 540 are good.\n#### 540",
            [UNKNOWN, CARRIES, CARRIES],
            id="words alone",
        ),
        pytest.param("Most pages are good.\nThe answer is many.", [UNKNOWN], id="nothing was read"),
        pytest.param(
            "By the way, 15 + 4 = 19.\nIt prints 15 * 40 = 600 pages.\nWith 60 of them spoilt, 540 are good.",
            [DECORATION, CARRIES, CARRIES],
            id="the sentence of the answer goes on",
        ),
    ],
)
def test_roles_by_the_graph(text: str, expected: list[Role]) -> None:
    assert [one.role for one in roles(text).values()] == expected


def test_a_statement_of_the_answer_has_no_role() -> None:
    assert set(roles(BRANCHED)) == {0, 1, 2}


def test_sufficiency_is_the_share_of_carrying_steps_that_a_step_builds_on() -> None:
    assert [one.sufficiency for one in roles(BRANCHED).values()] == [0.5, 0.0, 1.0]


def test_a_step_that_checks_the_answer_suffices_for_it_and_is_decoration_all_the_same() -> None:
    text = BRANCHED.replace("The answer", "Indeed, 540 + 60 = 600 pages.\nThe answer")
    last = roles(text, answer="540")[3]
    assert (last.role, last.sufficiency) == (DECORATION, 1.0)


def test_without_a_known_answer_there_is_no_sufficiency() -> None:
    assert {one.sufficiency for one in roles("15 + 40 = 55.\nThe answer is many.").values()} == {None}


@pytest.mark.parametrize(
    ("responses", "role", "necessity"),
    [
        pytest.param([Response.FOLLOWED, Response.MOVED], CARRIES, 0.75, id="the answer moves"),
        pytest.param([Response.STAYED, Response.STAYED], DECORATION, 0.0, id="the writer ignores the step"),
        pytest.param([Response.RECOVERED, Response.UNPARSED], CARRIES, None, id="nothing counts, so the graph decides"),
    ],
)
def test_edits_decide_before_the_graph(responses: list[Response], role: Role, necessity: float | None) -> None:
    found = roles(BRANCHED, edited(0, *responses))[0]
    assert (found.role, found.necessity) == (role, necessity)


def test_necessity_says_how_it_was_observed() -> None:
    replayed = edited(0, Response.FOLLOWED, method=EffectMethod.REPLAY)
    found = roles(BRANCHED, replayed)
    assert found[0].necessity_source is NecessitySource.REPLAY
    assert found[1].necessity_source is None


def test_a_deletion_is_reported_and_decides_nothing() -> None:
    point = ProbePoint(step=1, position=0.3, same=1, read=2, asked=2)
    finding = ProbeFinding(kind=ProbeKind.DELETION, component=Measured(value=0.5, coverage=1.0), points=(point,))
    probed = Interventions(effects=(), discarded=(), method=EffectMethod.NONE, probes=(finding,))
    found = roles(BRANCHED, probed)[1]
    assert (found.role, found.necessity, found.necessity_source) == (DECORATION, 0.5, NecessitySource.DELETION)
