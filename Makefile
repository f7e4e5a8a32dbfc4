# Everything runs in .venv, which is made on first use and refreshed when pyproject.toml changes.
# Files in it say what it holds: the package with what it requires, the tools of development, those of the site, atheris.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEV := .venv/.dev-ready
SITE := .venv/.docs-ready
GUIDED := .venv/.atheris-ready
MPI := .venv-mpi/.ready

.PHONY: help demo test test-all slow-list test-mpi fuzz fuzz-guided torture torture-short torture-mpi release-check lint bench reproduce figures pages docs clean frontend frontend-test frontend-browser-test frontend-check

help:
	@echo "make demo   run the main job on embedded data, draw it, and make a page of it for the browser"
	@echo "make test   lint, types and all tests that are fast: a few minutes"
	@echo "make test-all  the same and the slow tests, half an hour on two cores"
	@echo "make test-mpi  the tests of the distributed engine with 1, 2 and 4 ranks; installs PETSc (Debian, as root or by sudo)"
	@echo "make fuzz   50,000 damaged files, odd tables and command lines (CASES=, SEED=), some five minutes"
	@echo "make fuzz-guided  the same readers and all public verbs, by input that follows coverage (RUNS=, SECONDS= of each target)"
	@echo "make torture  processes killed, disks full, memory taken away, files damaged: counts of what was lost, in half an hour"
	@echo "make release-check  the checklist of a release: builds twice, installs, tests from the wheel"
	@echo "make lint   ruff, mypy and import-linter only"
	@echo "make reproduce  the paper's experiments: figures, tables, a page in out/results"
	@echo "make figures  the figures of docs/figures.md; some need real data (COTHERM_DATA); one of them: FIGURE=wine"
	@echo "make pages  the pictures of docs/viewer.md, with Chromium; one of them: PAGE=ring"
	@echo "make frontend  build the viewer's page from frontend/ into the package; needs Node"
	@echo "make bench  the heat benchmark, about ten minutes; another: BENCH=routes, with options: ARGS=--quick"
	@echo "make docs   the pages, the reference and the gallery as a site in out/docs"
	@echo "make clean  remove .venv and caches"

# `$(call install,WHAT)` installs by the pip of the environment. While that has none, by the pip of $(PYTHON), which is
# quicker than ensurepip, and is there where Linux distributions split ensurepip off; without either, by ensurepip.
# Bytecode is left to the first import: to compile all of SciPy and Numba takes longer than the demo.
PIP_OPTIONS := --quiet --disable-pip-version-check --no-compile
define install
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
	  elif $(PYTHON) -m pip --python $(BIN)/python --version >/dev/null 2>&1; then pip="$(PYTHON) -m pip --python $(BIN)/python"; \
	  else $(PYTHON) -m venv .venv && pip="$(BIN)/python -m pip"; fi \
	  && $$pip install $(PIP_OPTIONS) pip $(1)
endef

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "cotherm needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 (found: $$($(PYTHON) --version 2>&1))"; exit 1; }
	@$(PYTHON) -m venv --without-pip .venv

$(READY): pyproject.toml | $(BIN)/python
	@echo "Installing cotherm and what it requires into .venv ..."
	$(call install,-e .)
	@touch $@

# Tests start many processes, which should not compile what they import: all of it at once, on all processors. Some
# packages hold files that are not meant to compile.
$(DEV): $(READY)
	@echo "Installing the tools of development into .venv ..."
	$(call install,-e '.[dev]')
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	@touch $@

$(SITE): $(DEV)
	@echo "Installing the tools of the site into .venv ..."
	$(call install,-e '.[docs]')
	@touch $@

demo: $(READY)
	@$(BIN)/python -m cotherm demo

# Several test processes share the processors: one BLAS thread each.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -q
test: lint
	@$(PYTEST) -m "not slow"
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory frontend-test; \
	  else echo "Node is not installed: the unit tests of frontend/ are left out"; fi

test-all: test
	@$(PYTEST) -m slow

# Which tests are slow, by the times of a run of all: for a machine that does nothing else.
slow-list: $(DEV)
	@$(PYTEST) --write-slow-list

# The page that the viewer writes is built from frontend/ and kept in the package, so that installing needs no Node.
NPM := npm --no-audit --no-fund --loglevel=error
frontend/node_modules/.ready: frontend/package.json frontend/package-lock.json
	@command -v npm >/dev/null || { echo "This needs Node 20 or newer with npm. What it builds is in src/cotherm/viewer/assets."; exit 1; }
	@cd frontend && $(NPM) ci
	@touch $@

frontend: frontend/node_modules/.ready
	@cd frontend && $(NPM) run check && $(NPM) run build

frontend-test: frontend/node_modules/.ready
	@cd frontend && $(NPM) run check && $(NPM) test

frontend-browser-test: frontend/node_modules/.ready
	@cd frontend && $(NPM) run test:browser

# Built anew in a temporary place, what is kept in the package must come out.
frontend-check: frontend/node_modules/.ready
	@built=$$(mktemp -d) && trap 'rm -rf "$$built"' EXIT \
	  && mkdir -p "$$built/src/cotherm/viewer" && cp -r frontend "$$built/" \
	  && (cd "$$built/frontend" && $(NPM) run build) \
	  && diff -rq "$$built/src/cotherm/viewer/assets" src/cotherm/viewer/assets \
	  || { echo "src/cotherm/viewer/assets is not what frontend/ builds: run make frontend and commit it"; exit 1; }

# PETSc for the distributed engine, in an environment of its own, since petsc4py is compiled on this machine, once.
$(MPI): tools/install_petsc.sh pyproject.toml
	@PYTHON=$(PYTHON) tools/install_petsc.sh .venv-mpi
	@touch $@

RANKS ?= 1 2 4
test-mpi: $(MPI)
	@COTHERM_RANKS="$(RANKS)" .venv-mpi/bin/python -m pytest -q tests/distributed

CASES ?= 50000
SEED ?= 0
fuzz: $(DEV)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED)

# atheris has wheels for Linux on x86-64 alone, so it is not among the tools of development. Where it cannot be had,
# torture leaves its part out, and says so.
$(GUIDED): $(DEV)
	@echo "Installing atheris into .venv ..."
	-$(call install,atheris)
	@touch $@

RUNS ?= 20000
SECONDS ?= 120
fuzz-guided: $(GUIDED)
	@$(BIN)/python -m tests.fuzz.guided --runs $(RUNS) --seconds $(SECONDS) --seed $(SEED)

# Faults on purpose. The part with ranks of MPI needs the environment of test-mpi: torture-mpi.
torture: $(GUIDED)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.torture --seed $(SEED)

torture-short: $(DEV)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.torture --short

torture-mpi: $(MPI)
	@.venv-mpi/bin/python -m tests.torture --part ranks

# With other Pythons: make release-check PYTHONS="python3.11 python3.13"; with the oldest of what is required alone: ONLY=oldest.
PYTHONS ?= $(PYTHON)
release-check: $(DEV)
	@$(BIN)/python tools/release_check.py $(PYTHONS) $(if $(ONLY),--only $(ONLY))

lint: $(DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python tools/check_docstrings.py

# Some experiments use extras where they are installed.
reproduce: $(DEV)
	@$(BIN)/python -m paper all

FIGURE ?=
figures: $(DEV)
	@$(BIN)/python -m tools.draw_figures $(FIGURE)

PAGE ?=
pages: $(DEV)
	@$(BIN)/python -m tools.draw_pages $(PAGE)

BENCH ?= heat
ARGS ?=
bench: $(DEV)
	@$(BIN)/python -m benchmarks $(BENCH) $(ARGS)

docs: $(SITE)
	@$(BIN)/python -m sphinx -W --keep-going -q docs out/docs
	@echo "Open out/docs/index.html"

clean:
	rm -rf .venv .venv-mpi build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find src tests benchmarks paper -name __pycache__ -type d -prune -exec rm -rf {} +
