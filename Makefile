# `make demo` and `make test` set up .venv automatically.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready

.PHONY: demo test test-all lint bench papers docs clean

demo: $(INSTALLED)
	$(BIN)/flexarm run examples/two_link.yaml --rigid

test: lint
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: lint
	$(BIN)/python -m pytest -n auto

# In CI, also install the system programs that some tests use.
ifeq ($(CI),true)
test test-all: $(VENV)/.tools
endif

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/validate_docstrings.py

bench: $(READY) $(VENV)/.bench
	$(BIN)/python benchmarks/compare.py
	$(BIN)/python benchmarks/equations.py
	$(BIN)/python benchmarks/first_call.py
	$(BIN)/python benchmarks/whole_call.py
	$(BIN)/python benchmarks/simulate.py
	$(BIN)/python benchmarks/constraints.py
	$(BIN)/python benchmarks/formulation.py
	$(BIN)/python benchmarks/integrals.py
	$(BIN)/python benchmarks/changed.py
	$(BIN)/python benchmarks/sharing.py
	$(BIN)/python benchmarks/stepping.py
	$(BIN)/python benchmarks/ensemble.py
	$(BIN)/python benchmarks/tolerance.py
	$(BIN)/python benchmarks/precision.py --plot
	$(BIN)/python benchmarks/frontier.py --plot
	$(BIN)/python benchmarks/deflection.py --plot
	$(BIN)/python benchmarks/stiffening.py --write
	$(BIN)/python benchmarks/control_benchmarks.py
	$(BIN)/python benchmarks/studio.py

# takes five minutes on two cores
papers: $(READY)
	$(BIN)/flexarm paper all --output docs/papers

docs: $(VENV)/.docs
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs build/site
	@echo "the site is in build/site/index.html"

$(VENV)/.tools: scripts/install-ci-tools | $(READY)
	scripts/install-ci-tools
	@touch $(VENV)/.tools

$(VENV)/.docs: pyproject.toml | $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $(VENV)/.docs

$(VENV)/.bench: pyproject.toml | $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $(VENV)/.bench

# $(INSTALLED) is for users, $(READY) for developers
$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "flexarm needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing flexarm and its dependencies into $(VENV), which takes a minute"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $(READY)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
