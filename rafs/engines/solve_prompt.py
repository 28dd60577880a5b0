"""The prompt that a generator solves a problem with, the same for every engine."""

from rafs.contracts import PromptPart
from rafs.engines.prompt_tokens import ChatFrame

SOLVE_PROMPT_VERSION = "solve/2"

SOLVE_INSTRUCTION = (
    "Solve the problem. Reason step by step, one step on each line. The last line is four hashes and the answer alone: "
    "`#### 42` if the answer is 42, `#### 3/8` if it is 3/8."
)


def solve_parts(problem: str, chat: ChatFrame | None, plain: ChatFrame) -> list[PromptPart]:
    """Return the prompt parts up to where the solution begins; `chat` is None for a model without a chat template."""
    task = [PromptPart(text=problem), PromptPart(text=f"\n\n{SOLVE_INSTRUCTION}", trusted=True)]
    if chat is None:
        opening = PromptPart(text="Problem:\n", trusted=True)
        return [plain.before, opening, *task, PromptPart(text="\n\nSolution:\n", trusted=True)]
    return [chat.before, *task, chat.after]
