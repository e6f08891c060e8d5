# Two commands matter: `make run` shows Ringfence at work, `make test` proves it.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-done
PYTHON ?=
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: setup packages run test test-long check bench bench-text lock clean
.DELETE_ON_ERROR:

setup: $(STAMP)

$(STAMP): requirements/dev.txt pyproject.toml
	@PYTHON="$(PYTHON)" scripts/make_venv $(VENV)
	@touch $@

packages:
	@scripts/debian_packages

run: setup
	@$(BIN)/ringfence tour

test: setup packages
	$(BIN)/pytest -q -n auto -m 'not long' tests

test-long: setup packages
	$(BIN)/pytest -q -n auto tests

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: setup
	@scripts/bench_peers || echo "bench: the peers could not be installed; their rows will say so"
	$(BIN)/ringfence bench

bench-text: setup
	@scripts/bench_peers || echo "bench: the peers could not be installed; their rows will say so"
	$(BIN)/python -m bench text

lock:
	scripts/lock

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
