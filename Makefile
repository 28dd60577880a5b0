# Everything a newcomer needs; `make` alone tells. Needs Python 3.11, make and a package index.

PYTHON ?= python3.11
VENV ?= .venv
# vLLM pins its own torch, so that it never lives beside ours.
VLLM_VENV ?= build/vllm
RIVALS_VENV ?= build/rivals
# CI adds the slow ones: make PYTEST_MARKS="not gpu" check test
PYTEST_MARKS ?= not gpu and not slow
PYTEST_ARGS ?=
HOST ?= 127.0.0.1
PORT ?= 8000
FUZZ_SECONDS ?= 600

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PACKAGES := rafs verifiers counterfactuals service
RECIPE := pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo serve models test test-vllm test-all check lint format bench bench-all bench-rivals fuzz lock clean

help: ## show this
	@echo "RAFS: does a chain of thought really carry its answer?"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20
	@echo
	@echo "First time here: make demo. The first run installs into $(VENV) and fetches two small models."

# Stamps: an installation is repeated only when what it was made from has changed.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-local: $(RECIPE) | $(BIN)/python
	@echo "Installing into $(VENV): a minute or more, 1.6 GB on disk, more where the index has torch for CUDA only."
	$(PIP) install -c constraints.txt -e ".[local]"
	@touch $@

$(VENV)/.stamp-dev: $(RECIPE) | $(VENV)/.stamp-local
	$(PIP) install -c constraints.txt -e ".[local,dev]"
	@touch $@ $(VENV)/.stamp-local

models: $(VENV)/.stamp-local ## fetch the embedded models (nothing happens when they are there)
	$(BIN)/rafs models pull

demo: models ## score the examples
	$(BIN)/rafs score examples

serve: models ## serve HTTP on HOST:PORT, 127.0.0.1:8000 unless given
	$(BIN)/rafs serve --host $(HOST) --port $(PORT)

test: $(VENV)/.stamp-dev models ## run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "$(PYTEST_MARKS)" $(PYTEST_ARGS)

$(VLLM_VENV)/.stamp-vllm: tests/vllm/install.sh
	@echo "Installing vLLM for the CPU into $(VLLM_VENV): 0.6 GB to download, 2.5 GB on disk, a few minutes."
	tests/vllm/install.sh $(PYTHON) $(VLLM_VENV)
	@touch $@

# RAFS as `rafs[vllm]` has it: what vLLM pins is recent enough for us.
$(VLLM_VENV)/.stamp: $(RECIPE) $(VLLM_VENV)/.stamp-vllm
	$(VLLM_VENV)/bin/python -m pip --disable-pip-version-check install --quiet --editable . \
		$$(grep -E '^(hypothesis|pytest|pytest-asyncio)==' constraints.txt)
	@touch $@

test-vllm: $(VENV)/.stamp-dev models $(VLLM_VENV)/.stamp ## run what needs a real vLLM: 5 GB on disk, minutes on two cores
	VLLM_VENV=$(VLLM_VENV) $(BIN)/python -m tests.vllm.run $(PYTEST_ARGS)

test-all: test test-vllm ## both

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/hadolint Dockerfile
	$(BIN)/lint-imports
	$(BIN)/mypy

check: lint test ## format, lint, types, architecture, and the tests

format: $(VENV)/.stamp-dev ## rewrite the files as the formatter wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.stamp-dev models ## goals of speed: asked, measured, met or missed; leave a core idle
	$(BIN)/python benchmarks/goals.py

bench-all: $(VENV)/.stamp-dev models ## run every benchmark, one after the other
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

$(RIVALS_VENV)/.stamp: benchmarks/rivals/requirements.txt
	@echo "Installing other packages of this kind into $(RIVALS_VENV): 2 GB on disk, some minutes."
	$(PYTHON) -m venv $(RIVALS_VENV)
	$(RIVALS_VENV)/bin/python -m pip --disable-pip-version-check install --quiet -r benchmarks/rivals/requirements.txt
	@touch $@

bench-rivals: $(VENV)/.stamp-dev models $(RIVALS_VENV)/.stamp ## verdicts, pairs a second and entropies beside other packages, same inputs
	@for part in judges nli entropy; do $(BIN)/python -m benchmarks.rivals $$part --python $(RIVALS_VENV)/bin/python || exit 1; done

fuzz: $(VENV)/.stamp-dev ## fuzz the language of traces for FUZZ_SECONDS, 600 unless given
	$(PIP) install -c constraints.txt -e ".[fuzz]"
	$(BIN)/python -m tests.fuzz.language --seconds $(FUZZ_SECONDS)

lock: ## resolve the newest allowed versions and write constraints.txt
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --dry-run --report build/lock/report.json ".[local,dev,fuzz]"
	$(PYTHON) .ci/write_constraints.py build/lock/report.json constraints.txt
	rm -rf build/lock

clean: ## remove all that was installed, built or cached here
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
