"""The other packages' judges, each asked about every step of a trace; runs in the environment of requirements.txt.

    python -m benchmarks.rivals.judge_worker FOLDER    then as `replies` says

Every package is called through its own public class, on the same weights: uqlm's `LLMJudge`, lm-polygraph's P(True)
calculator (all prompts of a trace in one padded batch), selfcheckgpt's `SelfCheckLLMPrompt`, each with its own prompt;
and a plain loop that runs one forward pass for each prompt of RAFS. None shares the common beginning of its prompts.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import Any

from benchmarks.rivals.replies import answer_requests, standard_output_for_replies

NEW_TOKENS = 3
"""Of a verbal verdict: enough for `Yes`, `No` or `incorrect`."""

Judge = Callable[[str, Sequence[str], Sequence[str]], int]
"""Judges every step of (problem, steps, prompts of RAFS); returns the number of verdicts."""


def prefixes(problem: str, steps: Sequence[str]) -> list[str]:
    return ["\n".join([problem, *steps[:t]]) for t in range(len(steps))]


def plain_loop(model: Any, tokenizer: Any) -> Judge:
    import torch

    def judge(problem: str, steps: Sequence[str], prompts: Sequence[str]) -> int:
        with torch.inference_mode():
            for prompt in prompts:
                model(**tokenizer(prompt, return_tensors="pt"), use_cache=False, logits_to_keep=1)
        return len(prompts)

    return judge


def lm_polygraph(model: Any, tokenizer: Any) -> Judge:
    import numpy as np
    from lm_polygraph.stat_calculators.prompt import PromptCalculator
    from lm_polygraph.utils.generation_parameters import GenerationParameters
    from lm_polygraph.utils.model import WhiteboxModel

    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    whitebox = WhiteboxModel(model, tokenizer, "here", "CausalLM", GenerationParameters())
    p_true = PromptCalculator()

    def judge(problem: str, steps: Sequence[str], prompts: Sequence[str]) -> int:
        said = {"greedy_texts": list(steps), "input_texts": prefixes(problem, steps)}
        return len(np.asarray(p_true(said, said["input_texts"], whitebox)["p_true"]))

    return judge


def selfcheckgpt(folder: str, dtype: Any) -> Judge:
    from selfcheckgpt.modeling_selfcheck import SelfCheckLLMPrompt

    checker = SelfCheckLLMPrompt(model=folder)
    checker.model.to(dtype)

    def judge(problem: str, steps: Sequence[str], prompts: Sequence[str]) -> int:
        for before, step in zip(prefixes(problem, steps), steps, strict=True):
            checker.predict([step], [before])
        return len(steps)

    return judge


def uqlm(model: Any, tokenizer: Any) -> Judge:
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from uqlm.judges import LLMJudge

    class LocalChat(BaseChatModel):
        """The loaded model behind langchain's interface, greedy."""

        temperature: float = 0.0

        @property
        def _llm_type(self) -> str:
            return "local"

        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            text = "\n".join(str(message.content) for message in messages)
            ids = tokenizer(text, return_tensors="pt").input_ids
            new = model.generate(ids, max_new_tokens=NEW_TOKENS, do_sample=False)[0, ids.shape[1] :]
            reply = AIMessage(content=tokenizer.decode(new, skip_special_tokens=True))
            return ChatResult(generations=[ChatGeneration(message=reply)])

    judge_class = LLMJudge(llm=LocalChat(), scoring_template="true_false")

    def judge(problem: str, steps: Sequence[str], prompts: Sequence[str]) -> int:
        asked = judge_class.judge_responses(prefixes(problem, steps), list(steps), retries=-1)  # no second tries
        return len(asyncio.run(asked)["scores"])

    return judge


def main() -> None:
    folder = sys.argv[1]
    with standard_output_for_replies() as replies:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        tokenizer = AutoTokenizer.from_pretrained(folder)
        judges = {
            "plain loop": plain_loop(model, tokenizer),
            "lm-polygraph": lm_polygraph(model, tokenizer),
            "selfcheckgpt": selfcheckgpt(folder, torch.float32),
            "uqlm": uqlm(model, tokenizer),
        }

        def answer(request: Any) -> Any:
            started, cpu = perf_counter(), process_time()
            n = judges[request["judge"]](request["problem"], request["steps"], request["prompts"])
            return {"verdicts": n, "wall_s": perf_counter() - started, "cpu_s": process_time() - cpu}

        answer_requests(replies, {"judges": list(judges)}, answer)


if __name__ == "__main__":
    main()
