import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.registry import load_registry

EMBEDDED = load_registry()


@pytest.mark.parametrize(
    ("model_id", "families"),
    [
        pytest.param("gpt-4o-2024-08-06", {"gpt"}, id="dated API name"),
        pytest.param("o3-mini", {"gpt"}, id="name without its maker"),
        pytest.param("anthropic/claude-3.5-sonnet:beta", {"claude"}, id="router name"),
        pytest.param("us.anthropic.claude-3-5-sonnet-20241022-v2:0", {"claude"}, id="cloud name"),
        pytest.param("models/gemini-1.5-pro", {"gemini"}, id="gemini"),
        pytest.param("google/gemma-2-9b-it", {"gemma"}, id="gemma"),
        pytest.param("meta-llama/Meta-Llama-3-8B-Instruct", {"llama"}, id="llama"),
        pytest.param("codellama:7b", {"llama"}, id="tagged name"),
        pytest.param("TheBloke/Mixtral-8x7B-Instruct-v0.1-GGUF", {"mistral"}, id="quantised by another"),
        pytest.param("someone/MyTune-QWEN2.5-Math-7B-AWQ-Int4", {"qwen"}, id="fine-tuned and quantised"),
        pytest.param("Qwen/QwQ-32B", {"qwen"}, id="nickname"),
        pytest.param("deepseek-ai/DeepSeek-V3", {"deepseek"}, id="deepseek"),
        pytest.param("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {"deepseek", "qwen"}, id="distilled"),
        pytest.param("nvidia/Llama-3.1-Nemotron-70B", {"llama", "nemotron"}, id="two names"),
        pytest.param("microsoft/Phi-3-mini-4k-instruct", {"phi"}, id="phi"),
        pytest.param("HuggingFaceTB/SmolLM2-135M-Instruct", {"smollm"}, id="smollm"),
        pytest.param("sentence-transformers/all-MiniLM-L6-v2", {"minilm"}, id="minilm"),
        pytest.param("01-ai/Yi-34B", {"yi"}, id="yi"),
        pytest.param("THUDM/glm-4-9b-chat", {"glm"}, id="glm"),
        pytest.param("internlm/internlm2-math-7b", {"internlm"}, id="internlm"),
        pytest.param("allenai/OLMo-2-1124-7B", {"olmo"}, id="olmo"),
        pytest.param("tiiuae/falcon-7b", {"falcon"}, id="falcon"),
        pytest.param("c4ai-command-r-plus", {"command"}, id="command"),
        pytest.param("deepseek-ai/Janus-Pro", {"deepseek"}, id="prefix where the name tells nothing"),
        pytest.param("meta-llama/Qwen2.5-7B", {"llama", "qwen"}, id="prefix and name"),
        pytest.param("mlx-community/Qwen2.5-7B-4bit", {"qwen"}, id="prefix that names no family"),
        pytest.param("smollm2-135m-instruct/gpt", {"smollm", "gpt"}, id="last part is another family"),
        pytest.param(
            "HuggingFaceTB/SmolLM2-135M/resolve/main/gpt2-tokenizer", {"smollm", "gpt"}, id="file in a repository"
        ),
        pytest.param("D:\\models\\Qwen2.5-7B\\gpt.gguf", {"qwen", "gpt"}, id="backslashes"),
        pytest.param("openai:o3-mini", {"gpt"}, id="start of a name after its provider"),
        pytest.param("ft:o4-mini-2025-04-16:acme::x1", {"gpt"}, id="fine-tuned by its maker"),
        pytest.param("gpt-4o@smollm2", {"gpt", "smollm"}, id="revision"),
        pytest.param("gpt-4o:qwen2.5", {"gpt", "qwen"}, id="tag"),
        pytest.param("Qwen%2FQwen2.5-7B", {"qwen"}, id="slash as percent sign"),
        pytest.param("gpt-4o/%2573mollm2", {"gpt", "smollm"}, id="letter encoded twice"),
        pytest.param("%ff%zz%", set(), id="broken percent signs"),
        pytest.param("gpt-4o/\uff33mollm2", {"gpt", "smollm"}, id="full-width letter"),
        pytest.param("gpt-4o/sm\u043ellm2", {"gpt", "smollm"}, id="cyrillic letter"),
        pytest.param("gpt-4o/\u03a1hi-4", {"gpt", "phi"}, id="greek capital"),
        pytest.param("gpt-4o/smol\u200blm2", {"gpt", "smollm"}, id="space of no width"),
        pytest.param("gpt-4o/sm\u00f6llm2", {"gpt", "smollm"}, id="accent"),
        pytest.param("x" * 190 + "/SmolLM2", {"smollm"}, id="200 characters"),
        pytest.param("\u6a21\u578b-7b", set(), id="unknown in another script"),
        pytest.param("AIDC-AI/Marco-o1", set(), id="pattern bound to the start of a part"),
        pytest.param("Qwen2.5-7B-Instruct/", {"qwen"}, id="trailing slash"),
        pytest.param("tiny-philosopher-yielding", set(), id="letters inside other words"),
        pytest.param("Marco-o1", set(), id="pattern bound to the start"),
        pytest.param("my-finetune-v7", set(), id="unknown"),
        pytest.param("", set(), id="empty"),
    ],
)
def test_families_are_read_from_a_model_id(model_id: str, families: set[str]) -> None:
    assert EMBEDDED.families_of(model_id) == families


@given(st.sampled_from(["Qwen2.5-7B", "phi-4", "gpt-4o"]), st.from_regex(r"\A[A-Z0-9]{0,6}\Z"))
def test_case_and_a_quantisation_suffix_do_not_change_the_family(base: str, suffix: str) -> None:
    assert EMBEDDED.families_of(base) <= EMBEDDED.families_of(f"{base.upper()}-{suffix}")


NAMES = st.sampled_from(["Qwen2.5-7B", "phi-4", "gpt-4o", "o3-mini", "smollm2", "my-tune", "resolve", "main", ""])


@given(NAMES, st.sampled_from(["/", ":", "\\", " ", "//"]), NAMES)
def test_a_path_has_the_families_of_each_of_its_parts(one: str, separator: str, other: str) -> None:
    both = EMBEDDED.families_of(one) | EMBEDDED.families_of(other)
    assert EMBEDDED.families_of(one + separator + other) == both


@given(st.text(max_size=200))
def test_any_text_may_be_a_model_id(text: str) -> None:
    assert EMBEDDED.families_of(text) == EMBEDDED.families_of(f"{text}/")
