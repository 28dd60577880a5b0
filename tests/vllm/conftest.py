"""Run by `make test-vllm` alone, which says where vLLM lives: without that nothing here is collected."""

import os

collect_ignore_glob = [] if os.environ.get("VLLM_VENV") else ["*"]
