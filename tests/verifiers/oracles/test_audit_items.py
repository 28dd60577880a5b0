"""Items of an audit: made by a seed, known to an oracle, and from files only where oracle and label agree."""

from collections.abc import Callable, Sequence

import pytest

from rafs.errors import InputError
from rafs.evaluation.rows import Row
from rafs.types import ANSWER_PLACEHOLDER, Truth
from tests.rafs.evaluation.made import trace
from verifiers.oracles.arithmetic_items import MAKERS, make_arithmetic
from verifiers.oracles.audit_items import Made, to_items, to_pairs
from verifiers.oracles.citation_items import make_citations
from verifiers.oracles.citations import CitationOracle, Style
from verifiers.oracles.instruction_items import CASES, make_instructions, oracle_of
from verifiers.oracles.instructions import InstructionOracle, parse_rules
from verifiers.oracles.natural_items import gather_replies, gather_steps

IDS = [f"kiln-{number}" for number in range(100, 130)]
MADE: dict[str, Callable[[int, int], list[Made]]] = {
    "arithmetic": make_arithmetic,
    "citations": lambda n, seed: make_citations(IDS, Style.BRACKETED, n, seed),
    "instructions": make_instructions,
}
named = pytest.mark.parametrize("name", MADE)


@named
def test_a_seed_makes_the_same_problems_again_and_another_others(name: str) -> None:
    assert MADE[name](30, 1) == MADE[name](30, 1) != MADE[name](30, 2)


@named
def test_more_problems_begin_with_the_fewer(name: str) -> None:
    assert MADE[name](40, 1)[:10] == MADE[name](10, 1)


@named
def test_every_problem_gives_a_right_and_a_wrong_item_that_differ_in_the_end_alone(name: str) -> None:
    items = to_items(MADE[name](30, 3))
    for right, wrong in zip(items[::2], items[1::2], strict=True):
        assert (right.right, wrong.right, right.question) == (True, False, wrong.question)
        assert (right.trace.problem, right.trace.steps[:-1]) == (wrong.trace.problem, wrong.trace.steps[:-1])
        assert (right.trace.steps, right.answer) != (wrong.trace.steps, wrong.answer)


@named
def test_no_item_of_our_own_is_natural(name: str) -> None:
    assert not any(item.natural for item in to_items(MADE[name](30, 0)))


def test_every_domain_and_every_rule_is_made() -> None:
    assert {one.domain for one in make_arithmetic(12, 0)} == {name for name, _ in MAKERS}
    assert {one.domain for one in make_instructions(25, 0)} == set(CASES)
    assert len(CASES) == 25


def test_an_answer_is_asked_as_an_answer_and_shown_whole_in_a_pair() -> None:
    (one,) = [made for made in make_arithmetic(6, 0) if made.is_answer]
    item, pair = to_items([one])[0], to_pairs([one])[0]
    assert (item.answer, len(item.trace.steps)) == (one.right, 2)
    assert pair.right.endswith(f"The answer is {one.right}.")


@pytest.mark.parametrize("seed", range(5))
def test_a_made_citation_is_right_by_the_registry_alone(seed: int) -> None:
    oracle = CitationOracle(IDS, Style.BRACKETED)
    for made in make_citations(IDS, Style.BRACKETED, 20, seed):
        assert oracle.decide("", made.right).truth is Truth.TRUE
        assert oracle.decide("", made.wrong).truth is Truth.FALSE


def test_ids_that_the_style_does_not_write_make_no_citation() -> None:
    with pytest.raises(InputError, match="could be cited"):
        make_citations(["kiln 7"], Style.DOI, 3, 0)


def test_an_instruction_is_made_for_the_rule_that_it_breaks() -> None:
    broken: Made = next(one for one in make_instructions(25, 0) if one.domain == "no_commas")
    assert oracle_of("no_commas").decide("", broken.wrong).truth is Truth.FALSE
    assert oracle_of("words").decide("", broken.wrong).truth is Truth.TRUE


STEPS = ("Four crates hold 4 * 6 = 24 pears.", "After that 24 - 5 = 18 are left.", "So it is \\boxed{18}.")


def test_a_natural_step_is_asked_where_label_and_oracle_agree() -> None:
    gathered = gather_steps([trace("a", steps=STEPS, first_error=1, solution_correct=False)], 5, 0)
    assert [(item.right, item.ask) for item in gathered.items] == [(True, 0), (False, 1)]
    assert gathered.left_out == {}


def test_the_stated_answer_is_covered_in_natural_steps() -> None:
    gathered = gather_steps([trace("a", steps=STEPS, first_error=1, solution_correct=False)], 5, 0)
    assert not any("boxed" in step.text for step in gathered.items[0].trace.steps) or any(
        ANSWER_PLACEHOLDER in step.text for step in gathered.items[0].trace.steps
    )


@pytest.mark.parametrize(
    ("steps", "first_error", "reason"),
    [
        pytest.param(("Pears grow on trees.", "They are many."), 1, "not decided by the oracle", id="no claim"),
        pytest.param(("They are many.", "4 * 6 = 24 pears."), 1, "label and oracle disagree", id="a true claim"),
    ],
)
def test_what_label_and_oracle_do_not_say_alike_is_left_out_and_counted(
    steps: tuple[str, ...], first_error: int, reason: str
) -> None:
    gathered = gather_steps([trace("a", steps=steps, first_error=first_error, solution_correct=False)], 5, 0)
    assert gathered.items == ()
    assert gathered.left_out[reason] >= 1


def test_no_more_natural_steps_are_taken_than_were_asked_for() -> None:
    many = [trace(str(t), steps=STEPS, first_error=1, solution_correct=False) for t in range(9)]
    items = gather_steps(many, 3, 0).items
    assert [item.right for item in items] == [True] * 3 + [False] * 3


def rows(*fields: dict[str, object]) -> Sequence[Row]:
    return [Row(place=f"r.jsonl:{number}", file="r", number=number, fields=one) for number, one in enumerate(fields, 1)]


def test_a_reply_is_right_or_wrong_by_the_oracle_alone() -> None:
    replies = ("[kiln-101]", "[kiln-999]", "none")
    said: list[dict[str, object]] = [{"problem": "Name two.", "reply": reply} for reply in replies]
    oracle = CitationOracle(IDS, Style.BRACKETED)
    gathered = gather_replies(rows(*said), lambda reply: oracle, 5, 0)
    assert [(item.right, item.trace.steps[0].text) for item in gathered.items] == [
        (True, "[kiln-101]"),
        (False, "[kiln-999]"),
    ]
    assert gathered.left_out == {"not decided by the oracle": 1}


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"problem": "Name two."}, id="no reply"),
        pytest.param({"problem": "Name two.", "reply": "a", "rules": [{"rule": "rhymes"}]}, id="unknown rule"),
        pytest.param({"problem": "Name two.", "reply": "a"}, id="no rules"),
    ],
)
def test_what_is_no_reply_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError):
        gather_replies(rows(fields), lambda reply: InstructionOracle(parse_rules(reply.rules)), 5, 0)
