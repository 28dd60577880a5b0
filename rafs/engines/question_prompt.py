"""The prompt that a model answers a question with, the same for every engine and the same for every question.

No example of any benchmark stands in it, so that answers are zero-shot.
"""

from rafs.contracts import PromptPart

QUESTION_PROMPT_VERSION = "question/1"

_TASK = "Answer the question in one or two sentences. If you do not know, say so.\n\nQuestion: "
_REPLY = "\n\nAnswer:"
STOP = ("\nQuestion:",)
"""Where a model without a chat template begins to ask itself the next one."""
MAX_NEW_TOKENS = 80


def question_parts(question: str) -> list[PromptPart]:
    """Return the prompt up to where the answer begins."""
    return [
        PromptPart(text=_TASK, trusted=True),
        PromptPart(text=question),
        PromptPart(text=_REPLY, trusted=True),
    ]
