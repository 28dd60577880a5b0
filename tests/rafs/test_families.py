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
        pytest.param("meta-llama/Qwen2.5-7B", {"qwen"}, id="name against prefix"),
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
