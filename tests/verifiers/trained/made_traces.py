"""Labelled traces of our own: sums, some with a wrong step, whose readings are drawn so that a head can learn them."""

import numpy as np

from rafs.engines.surprisal import SURPRISAL
from rafs.engines.token_pooler import N_SIGNS, TokenStates
from rafs.evaluation.labels import LabelledTrace, LabelLevel
from rafs.step_reading import StepReading
from verifiers.trained.examples import Example, read_examples
from verifiers.trained.fitting import ReadExample

PROBLEM = "Ann has {a} pens and buys {b} more, then gives 2 to each of 3 friends. How many pens has she?"


def made_trace(number: int, first_error: int | None) -> LabelledTrace:
    """Return a trace of three steps; the sum of the wrong one is off by one."""
    a, b = 10 + number, 3 + number % 7
    off = [int(first_error == t) for t in range(3)]
    bought, given = a + b + off[0], 6 + off[1]
    return LabelledTrace(
        id=f"made-{number}-{first_error}",
        source="made",
        problem=PROBLEM.format(a=a, b=b),
        steps=(
            f"She has {a} + {b} = {bought} pens after buying.",
            f"She gives away 2 * 3 = {given} pens.",
            f"That leaves {bought} - {given} = {bought - given + off[2]} pens.",
        ),
        first_error=first_error,
        step_labels=None,
        final_answer=None,
        gold_answer=None,
        answer_correct=first_error is None,
        solution_correct=first_error is None,
        silent_failure=False,
        extraction_failure=False,
        generator=None,
        natural=False,
        group=f"problem {number}",
        subset="sums",
        label_level=LabelLevel.FIRST_ERROR,
    )


def made_examples(n: int) -> list[Example]:
    """Return examples of `n` problems, every second with an error."""
    return read_examples(made_trace(number, (number // 2) % 3 if number % 2 else None) for number in range(n))


def with_readings(examples: list[Example], seed: int = 0) -> list[ReadExample]:
    """Return the examples with drawn readings: one state and one statistic are higher in a wrong step."""
    generator = np.random.default_rng(seed)

    def reading(label: int) -> StepReading:
        states = generator.normal(size=(2, 2, 4)).astype(np.float32)
        surprisal = generator.normal(size=len(SURPRISAL)).astype(np.float32)
        states[0, 0, 0] += 2 * label
        surprisal[0] -= 2 * label
        return StepReading(states=states, surprisal=surprisal)

    def tokens(readings: list[StepReading]) -> TokenStates:
        """Two tokens of problem, then each step as one token and its mark; the token's state is the step's."""
        states = generator.normal(size=(2 + 2 * len(readings), 4)).astype(np.float16)
        states[2::2] = [one.states[0, 0] for one in readings]
        ends = np.arange(3, len(states), 2, dtype=np.int32)
        return TokenStates(states=states, signs=np.zeros((len(states), N_SIGNS), np.float32), body=2, ends=ends)

    read = [(one, [reading(max(0, int(label))) for label in one.wrong[: one.n_read]]) for one in examples]
    return [ReadExample(example=one, readings=readings, tokens=tokens(readings)) for one, readings in read]
