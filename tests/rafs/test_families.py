import pytest
from hypothesis import given
from hypothesis import strategies as st

from rafs.registry import load_registry

EMBEDDED = load_registry()

NAMED = {
    "bge": "BAAI/bge-m3",
    "bloom": "bigscience/bloomz-7b1 bigscience/bloom-560m",
    "claude": "claude-3-5-sonnet-20241022 claude-instant-1.2 anthropic/claude-3.5-sonnet:beta anthropic.claude-v2:1 "
    "us.anthropic.claude-3-5-sonnet-20241022-v2:0 vertex_ai/claude-3-opus@20240229 "
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0",
    "command": "c4ai-command-r-plus command-r7b command-a-03-2025 cohere.command-r-plus-v1:0 cohere.command-text-v14 "
    "command CohereForAI/aya-expanse-8b",
    "dbrx": "databricks/dbrx-instruct",
    "deberta": "cross-encoder/nli-deberta-v3-base MoritzLaurer/mDeBERTa-v3-base-mnli-xnli",
    "deepseek": "deepseek-ai/DeepSeek-V3 deepseek-reasoner deepseek.r1-v1:0 deepseek-r1:671b deepseek-ai/Janus-Pro-7B",
    "ernie": "baidu/ERNIE-4.5-21B-A3B-PT",
    "exaone": "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct",
    "falcon": "tiiuae/falcon-7b falcon3:10b tiiuae/Falcon-H1-1B-Base",
    "gemini": "models/gemini-1.5-pro publishers/google/models/gemini-2.0-flash-001 text-bison@001 google/palm-2-chat",
    "gemma": "google/gemma-2-9b-it gemma3:12b gemma-3-27b-it-qat-q4_0-gguf google/shieldgemma-2b "
    "google/paligemma2-3b-pt-224",
    "glm": "THUDM/glm-4-9b-chat THUDM/chatglm3-6b zai-org/GLM-4.5-Air",
    "gpt": "gpt-4o-2024-08-06 gpt-3.5-turbo-0125 gpt4o azure/gpt-35-turbo chatgpt-4o-latest o1 o3-mini openai/o1-pro "
    "azure/o4-mini gpt-5-codex openai/gpt-oss-120b gpt-oss:20b openai.gpt-oss-20b-1:0 unsloth/gpt-oss-20b-GGUF "
    "text-davinci-003 davinci-002 babbage-002 ft:gpt-3.5-turbo-0613:acme::8abc text-embedding-3-large",
    "gpt-neo": "EleutherAI/gpt-neo-2.7B EleutherAI/gpt-j-6b EleutherAI/gpt-neox-20b EleutherAI/pythia-1.4b",
    "gpt2": "gpt2 openai-community/gpt2-xl microsoft/DialoGPT-medium",
    "granite": "ibm-granite/granite-3.1-8b-instruct granite3.3:8b",
    "grok": "grok-2-1212 x-ai/grok-4 grok3",
    "hunyuan": "tencent/Hunyuan-A13B-Instruct",
    "internlm": "internlm/internlm2-math-7b",
    "jamba": "ai21.jamba-1-5-large-v1:0",
    "kimi": "moonshotai/Kimi-K2-Instruct moonshot-v1-8k",
    "llama": "meta-llama/Meta-Llama-3-8B-Instruct llama3.1:8b codellama:7b llama2-uncensored:7b llama "
    "lmsys/vicuna-13b-v1.5 "
    "us.meta.llama3-3-70b-instruct-v1:0 accounts/fireworks/models/llama-v3p1-405b-instruct "
    "unsloth/Llama-3.2-1B-Instruct-bnb-4bit TheBloke/Llama-2-13B-chat-GPTQ huggyllama/llama-7b "
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0 openlm-research/open_llama_3b princeton-nlp/Sheared-LLaMA-1.3B "
    "huihui-ai/Llama-3.3-70B-Instruct-abliterated NousResearch/Hermes-3-Llama-3.1-8B allenai/Llama-3.1-Tulu-3-8B "
    "cognitivecomputations/dolphin-2.9-llama3-8b liuhaotian/llava-v1.5-7b EleutherAI/llemma_7b",
    "mimo": "XiaomiMiMo/MiMo-7B-RL",
    "minilm": "sentence-transformers/all-MiniLM-L6-v2 cross-encoder/ms-marco-MiniLM-L12-v2",
    "minimax": "MiniMaxAI/MiniMax-M1-80k",
    "mistral": "mistralai/Mistral-7B-Instruct-v0.3 TheBloke/Mixtral-8x7B-Instruct-v0.1-GGUF open-mistral-nemo "
    "mistral.mixtral-8x7b-instruct-v0:1 codestral-2501 magistral-small-2506 pixtral-12b-2409 "
    "peiyi9979/math-shepherd-mistral-7b-prm HuggingFaceH4/zephyr-7b-beta teknium/OpenHermes-2.5-Mistral-7B "
    "berkeley-nest/Starling-LM-7B-alpha",
    "nemotron": "nvidia/nemotron-nano-9b-v2 nemotron-mini:4b",
    "nova": "amazon.nova-pro-v1:0 us.amazon.nova-micro-v1:0",
    "olmo": "allenai/OLMo-2-1124-7B-Instruct allenai/OLMoE-1B-7B-0924",
    "opt": "facebook/opt-6.7b",
    "palmyra": "writer.palmyra-x5-v1:0",
    "phi": "microsoft/Phi-3-mini-4k-instruct phi4:14b phi microsoft/phi-2 cognitivecomputations/dolphin-2_6-phi-2",
    "qwen": "Qwen/Qwen2.5-7B-Instruct-AWQ Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4 someone/MyTune-QWEN2.5-Math-7B-Int4 "
    "Qwen/QwQ-32B Qwen/QVQ-72B-Preview qwen3:30b-a3b qwen.qwen3-32b-v1:0 qwen-max Qwen/CodeQwen1.5-7B-Chat "
    "bartowski/Qwen2.5-Coder-32B-Instruct-GGUF huihui-ai/Qwen2.5-14B-Instruct-abliterated-v2 "
    "Qwen/Qwen2.5-Math-PRM-7B Skywork/Skywork-o1-Open-PRM-Qwen-2.5-7B allenai/olmOCR-7B-0225-preview",
    "roberta": "FacebookAI/roberta-large-mnli",
    "seed": "ByteDance-Seed/Seed-OSS-36B-Instruct doubao-1.5-pro-32k",
    "smollm": "HuggingFaceTB/SmolLM2-135M-Instruct",
    "starcoder": "bigcode/starcoder2-15b",
    "t5": "google/flan-t5-xl google-t5/t5-base",
    "titan": "amazon.titan-text-express-v1",
    "yi": "01-ai/Yi-34B yi:34b yi-large NousResearch/Nous-Hermes-2-Yi-34B",
    # Of two descents
    "claude gemma": "gemma-2-9b-claude-opus-distill",
    "deepseek llama": "deepseek-ai/DeepSeek-R1-Distill-Llama-70B deepseek-r1:70b RLHFlow/Llama3.1-8B-PRM-Deepseek-Data",
    "deepseek qwen": "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B deepseek-r1:7b deepseek-r1:1.5b AI-MO/NuminaMath-7B-TIR",
    "deepseek llama qwen": "deepseek-r1:8b",
    "internlm qwen": "OpenGVLab/InternVL3-8B",
    "minicpm qwen": "openbmb/MiniCPM-V-2_6 openbmb/MiniCPM-o-2_6",
    "nemotron qwen": "nvidia/Nemotron-Cascade-8B",
    "kimi qwen": "moonshotai/Kimi-Dev-72B",
    "llama mistral": "Undi95/Mistral-Llama-slerp",
    "llama nemotron": "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF nemotron:70b nvidia/Llama-3_3-Nemotron-Super-49B-v1",
    "llama qwen": "mergekit-community/Qwen2.5-Llama-3-merge",
    "llama nemotron qwen": "nvidia/OpenReasoning-Nemotron-7B",
    "mistral stablelm": "stabilityai/stablelm-zephyr-3b",
    # Distilled from or into what the id does not tell
    "llama unnamed": "someone/llama-3-8b-distilled",
    "gpt unnamed": "someone/tiny-gpt-4-distillation",
}
"""Ids by their families."""

UNKNOWN = """
tiny-philosopher-yielding philosophy-7b casanova supernova-7b arcee-ai/SuperNova-Medius tinyyi zhang-yi/model kimchi-7b
my-command-model command-line-helper grokking-7b titanic jambalaya minstrel-7b glimmer optimus-opt my-model-opt option-b
bloomberg-7b Falconsai/text_summarization my-model-seed-42 nova-7b claudette-7b alpacaeval-winner
llama.cpp llama_cpp/my-model llamafile ollama/my-model llamaindex openai/my-local-model anthropic/my-proxy vllm/default
nomic-ai/gpt4all-j BloombergGPT cerebras/Cerebras-GPT-13B my-gpt
microsoft/Orca-2-7b orca-mini:3b NousResearch/Hermes-4-14B WizardLM/WizardLM-70B-V1.0 wizardlm2:7b
openchat/openchat-3.5-0106 upstage/SOLAR-10.7B-Instruct-v1.0 solar-pro Skywork/Skywork-OR1-7B
NovaSky-AI/Sky-T1-32B-Preview AIDC-AI/Marco-o1
cognitivecomputations/dolphin-2.9 Gryphe/MythoMax-L2-13b my-distilled-7b my-finetune-v7 hf.co/me/thing:Q4_K_M
""".split()
"""Ids that hold the letters of a family inside another word, or a name under which models of several descents go."""


@pytest.mark.parametrize(
    ("model_id", "families"),
    [
        *(pytest.param(one, set(families.split()), id=one) for families, ids in NAMED.items() for one in ids.split()),
        *(pytest.param(one, set(), id=one) for one in UNKNOWN),
    ],
)
def test_names_in_use_have_the_families_they_descend_from(model_id: str, families: set[str]) -> None:
    assert EMBEDDED.families_of(model_id) == families


@pytest.mark.parametrize(
    ("model_id", "families"),
    [
        pytest.param("meta-llama/Qwen2.5-7B", {"llama", "qwen"}, id="prefix and name"),
        pytest.param("mlx-community/Qwen2.5-7B-4bit", {"qwen"}, id="prefix that names no family"),
        pytest.param("smollm2-135m-instruct/gpt-4", {"smollm", "gpt"}, id="last part is another family"),
        pytest.param(
            "HuggingFaceTB/SmolLM2-135M/resolve/main/gpt-4-tokenizer", {"smollm", "gpt"}, id="file in a repository"
        ),
        pytest.param("D:\\models\\Qwen2.5-7B\\gpt-4.gguf", {"qwen", "gpt"}, id="backslashes"),
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
def test_families_are_read_from_any_spelling(model_id: str, families: set[str]) -> None:
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
