# Everything runs in .venv, which is made on first use and refreshed when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test fuzz lint bench reproduce docs clean

help:
	@echo "make demo   run the main job on embedded data and draw it"
	@echo "make test   lint, type check and test everything"
	@echo "make fuzz   50,000 damaged files, odd tables and command lines (CASES=, SEED=), some five minutes"
	@echo "make lint   ruff, mypy and import-linter only"
	@echo "make reproduce  the paper's experiments: figures, tables, a page in out/results"
	@echo "make bench  the heat benchmark, about ten minutes"
	@echo "make docs   the pages, the reference and the gallery as a site in out/docs"
	@echo "make clean  remove .venv and caches"

# Without ensurepip (some Linux distributions split it off) the outer pip installs into the environment.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "cotherm needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 (found: $$($(PYTHON) --version 2>&1))"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv >/dev/null 2>&1 \
	  || $(PYTHON) -m venv --clear --without-pip .venv
	@echo "Installing cotherm and what it needs into .venv ..."
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; \
	  then $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	  else $(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check -e '.[dev]'; fi
	@touch $@

demo: $(READY)
	@$(BIN)/python -m cotherm demo

# Several test processes share the processors: one BLAS thread each.
test: lint
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q

CASES ?= 50000
SEED ?= 0
fuzz: $(READY)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/check_docstrings.py

reproduce: $(READY)
	@$(BIN)/python -m cotherm reproduce all

bench: $(READY)
	@$(BIN)/python -m cotherm bench heat

# The site's tools are not needed for anything else.
docs: $(READY)
	@$(BIN)/python -m sphinx --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet -e '.[docs]'
	@$(BIN)/python docs/make_api.py
	@$(BIN)/python -m sphinx -q docs out/docs
	@echo "Open out/docs/index.html"

clean:
	rm -rf .venv build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
