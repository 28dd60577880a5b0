"""What holds for any text that anyone may send, and the pieces such texts are made of."""

import re
import time

from rafs.answers.equivalence import equivalent
from rafs.canonical import canonical_claims
from rafs.derivation import link_answer
from rafs.errors import InputError
from rafs.reading import read_text
from rafs.splitting.markup import thinking_spans
from rafs.types import Reading, Span, Truth

MAX_CPU_S = 1.0
"""CPU time for everything done with one text; CPU, so that a busy neighbour breaks no promise."""

SENTENCES = (
    "A box holds 12 pens, so 3 boxes hold 3 * 12 = 36 pens.\n",
    "Step 2: 36 - 4 = 32. Therefore, the total is $32.\n",
    "The answer is 32.",
    "Expanding, (x+2)^2 = x^2 + 4x + 4.\n",
    "Let x = 5. Then 2x + 1 = 11.\n",
    "#### 1,250",
    "Half of 50% of 80 is 20, twice a dozen is 24.\n",
    "1 hour = 60 minutes; 90 min = 1.5 h\n",
    "1. First\n2. Second\n- third\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```python\nx = 1\n```\n",
    "<think>\n2 + 2 = 4\n</think>\n",
    r"\begin{align} a &= 1 + 2 \\ &= 3 \end{align}",
    r"$$\boxed{\frac{1}{2}}$$",
    "She has 10^{400} pens and gets 5 more, so 10^{400} + 5 = 1e400 + 5.\n",
    "Zwei plus zwei ist vier: 2,5 + 2,5 = 5.\n",
)
"""Whole statements, each of another kind."""

_WORDS = r"""
0 1 2 7 12 100 1,000 3.14 0.5 .5 1e9 007 ½ ² ₃ ٣ 一 ∞ π 999999999999999999999999999999
+ - * / ^ ** × · ÷ − – ± ! !! % ‰ ° √ | || = == ≈ ≠ < > <= ≤ ≡ => -> → : ; , . ... … ? ' " ` _ & # $ € £ ¢
( ) [ ] { } (( )) {{ }} ⟨ ⟩ ⌊ ⌋ $$ \( \) \[ \] \{ \} \\ \% \, \; \!
\frac \frac{ \dfrac{1}{ }{ \sqrt \sqrt{ \sqrt[3]{ \boxed{ \text{ \left( \right) \cdot \times \div \pm \le \pi \infty
\overline{ \binom{ \log_ \ln \sin \sum_{ \begin{align} \end{align} \begin{cases} \end{cases} \tag{ \mathrm{
x y n a_1 x^2 km m/s kg cm^2 hours minutes dollars USD cents apples percent mod gcd of per is are equals
half twice third dozen hundred thousand million and minus plus times two twenty-one one zwei deux millones
The the answer is Therefore So Let Step Final Answer: #### **Answer** Option (A) B) true yes None
<think> </think> <answer> </answer> ``` ~~~ |---| [answer] [covered]
"""
PIECES = (
    *_WORDS.split(),
    *(
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "\u00a0",
        "\u2009",
        "\u200b",
        "\u202e",
        "\ufeff",
        "\x00",
        "\x85",
        "\u2028",
    ),
    *("é", "e\u0301", "İ", "ß", "ﬁ", "𝟝", "😀", "\U0010ffff", "\u0660\u0661"),
)
"""What grammars stumble over, alone and repeated."""


class BrokenPromiseError(AssertionError):
    """Something that holds for any text did not hold for one."""


def check_text(problem: str, text: str) -> None:
    """Read a text, and everything that is read from it.

    Raises:
        BrokenPromiseError: It took too long, lost a character, pointed outside the text, or came out otherwise twice.
    """
    started = time.process_time()
    try:
        reading = read_text(problem, text, None)
    except InputError:
        _promise(time.process_time() - started < MAX_CPU_S, "refusing a text took too long")
        return
    link = link_answer(reading.trace, reading.graph)
    claims = canonical_claims(reading)
    _promise(time.process_time() - started < MAX_CPU_S, "reading a text took too long")
    joined = "".join(step.text for step in reading.trace.steps)
    _promise(joined == text or not (joined or _has_words(text)), "the steps are not the text")
    _promise(_points_inside(reading), "a claim points outside its step")
    again = read_text(problem, text, None)
    _promise(again == reading, "a text is read otherwise the second time")
    _promise(link_answer(again.trace, again.graph) == link, "an answer is linked otherwise the second time")
    _promise(canonical_claims(again) == claims, "claims have another canonical form the second time")


def check_answers(a: str, b: str, problem: str) -> None:
    """Compare two answers in all ways.

    Raises:
        BrokenPromiseError: It took too long, is not symmetric, or an answer differs from itself.
    """
    started = time.process_time()
    truth = equivalent(a, b, problem=problem)
    _promise(equivalent(b, a, problem=problem) is truth, "equivalence hangs on the order")
    _promise(equivalent(a, b, problem=problem) is truth, "equivalence is another the second time")
    _promise(equivalent(a, a, problem=problem) is not Truth.FALSE or not _says_something(a), "an answer is not itself")
    _promise(time.process_time() - started < MAX_CPU_S, "comparing two answers took too long")


def _has_words(text: str) -> bool:
    """Say whether anything to be seen stands beside the tags of reasoning; a text of tags alone has no steps."""
    ends = [0, *(at for tag in thinking_spans(text)[0] for at in tag), len(text)]
    return any(
        re.search(r"[^\s\u200b\ufeff]", text[start:end]) for start, end in zip(ends[::2], ends[1::2], strict=True)
    )


def _says_something(answer: str) -> bool:
    """Say whether an answer has a letter or digit; decoration alone is a missing answer, which equals nothing."""
    return equivalent(answer, answer) is Truth.TRUE


def _points_inside(reading: Reading) -> bool:
    texts = {step.index: step.blind_text for step in reading.trace.steps}
    spans: list[tuple[int, Span]] = []
    for claim in reading.graph.claims:
        spans += [(claim.step, claim.span), *((claim.step, operand.span) for operand in claim.operands)]
        spans += [(claim.step, claim.result_span)] if claim.result_span else []
    return all(0 <= span.start <= span.end <= len(texts[step]) for step, span in spans)


def _promise(held: bool, otherwise: str) -> None:
    if not held:
        raise BrokenPromiseError(otherwise)
