# Everything that a person or CI runs. Needs Python 3.11 or later, git and make; installs the rest
# into .venv, with the versions of constraints.txt.

PYTHON ?= python3
PORT ?= 3000
EVAL_DATA ?= data/code
export EVAL_DATA
export DAGSTER_DISABLE_TELEMETRY = 1
# Tests start many programs: compile their modules once, also where the shell that calls make does not.
export PYTHONDONTWRITEBYTECODE =

BIN := .venv/bin
SOURCES := eval_assets tests docs benchmarks data

# Dagster treats TERM as it treats INT, which a shell ignores in what it starts with `&`.
define INTERRUPTIBLE
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
endef
export INTERRUPTIBLE

.PHONY: help run test test-fast test-slow test-browser test-long test-duckdb-2 test-pythons test-tools ui bench mutants lint clean
.DEFAULT_GOAL := help

help:
	@echo 'make run [EVAL_DATA=folder]   evaluate a folder (default data/code); say what was measured'
	@echo 'make ui  [EVAL_DATA=folder]   the Dagster UI of a folder on http://127.0.0.1:3000 (or PORT=...)'
	@echo 'make test                     lint, types and all tests, as CI runs them'
	@echo 'make test-slow                tests marked slow: browsers, documentation, the wheel, kills; the store on DuckDB 2; a newer Python'
	@echo 'make test-tools               a judge on llama.cpp, which is built for it: takes some minutes'
	@echo 'make bench                    the benchmark tables'
	@echo 'make mutants [MODULE=file]    changes of stats, gates and tuning that no test notices (hours, or one module)'

run: .venv/installed
	$(BIN)/eval-assets run

ui: .venv/installed
	@$(BIN)/python -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null \
	  || { echo 'Port $(PORT) is in use: make ui PORT=...'; exit 1; }
	@[ -n "$$(ls '$(EVAL_DATA)'/evaluation.yaml '$(EVAL_DATA)'/*/evaluation.yaml 2>/dev/null)" ] \
	  || { echo 'EVAL_DATA: $(EVAL_DATA) holds no evaluation.yaml, nor do the folders in it'; exit 1; }
	@echo 'Dagster UI of $(EVAL_DATA): http://127.0.0.1:$(PORT). Closed gates to look at: EVAL_DATA=data/contested, EVAL_DATA=data/stories'
	@data='$(EVAL_DATA:/=)'; case "$$data" in /*) ;; *) data="$(CURDIR)/$$data" ;; esac; \
	  home="$$data/.dagster"; [ ! -f "$$data/evaluation.yaml" ] || home="$$data/out/dagster"; \
	  mkdir -p "$$home"; sed '1,/^$$/d' dagster.yaml > "$$home/dagster.yaml"; cd "$$home" && \
	  EVAL_DATA="$$data" DAGSTER_HOME="$$home" EVAL_UI_URL="$${EVAL_UI_URL:-http://127.0.0.1:$(PORT)}" \
	  exec '$(CURDIR)/$(BIN)/python' -c "$$INTERRUPTIBLE" '$(CURDIR)/$(BIN)/dg' dev \
	  --workspace '$(CURDIR)/workspace.yaml' --host 127.0.0.1 --port $(PORT)

# Types take a minute of one core, which the tests leave to them where they wait.
test: .venv/installed-dev
	@$(MAKE) --no-print-directory --jobs=2 lint test-fast

test-fast: .venv/installed-dev
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

test-slow: test-long test-duckdb-2 test-pythons

# Each worker reads only the files with slow tests: the others import all that they compare with.
# Load balancing by stealing keeps the tests of a module together, and with them their fixtures.
# These tests wait for other programs half of their time: six at once keep two cores busy.
test-long: .venv/installed-dev .venv/node_modules/axe-core
	$(BIN)/python -m pytest -m slow --dist worksteal \
	  --numprocesses $$($(BIN)/python -c 'import os; print(3 * os.cpu_count())') \
	  $$(grep -rl 'mark\.slow' tests --include='*.py' | sed 's|/conftest.py$$||' | sort)

test-browser: .venv/installed-dev .venv/node_modules/axe-core
	$(BIN)/python -m pytest -m slow --numprocesses auto --dist worksteal tests/browser

# One process, which imports everything once: CI runs them beside the fast tests.
# The ledger is in SQLite or PostgreSQL; what is copied of it is in DuckDB.
test-duckdb-2: .venv/installed-dev .venv/duckdb-2
	PYTHONPATH=.venv/duckdb-2 $(BIN)/python -m pytest tests/properties/test_store_ratings.py \
	  $$(find tests/unit/store -name 'test_*.py' -not -path '*/ledger/*') tests/unit/store/ledger/test_copies.py

test-tools: .venv/installed-dev
	$(BIN)/python -m pytest -m tools

test-pythons: .venv/bin/python
	.ci/pythons

lint: .venv/installed-dev
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

bench: .venv/installed-bench
	$(BIN)/python -m benchmarks

mutants: .venv/installed-dev .venv/installed-mutation
	$(BIN)/python -m benchmarks.mutants $(MODULE)

# Rules that pages are checked by; without npm those tests are skipped.
.venv/node_modules/axe-core: .venv/bin/python
	-npm install --prefix .venv --no-save --no-audit --no-fund --silent axe-core@4.14.1

clean:
	rm -rf .venv .dagster data/.dagster data/*/out

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Python 3.11 or later is needed: make PYTHON=python3.12 ...'; exit 1; }
	$(PYTHON) -m venv .venv
	-@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv

# The other version that is supported; it lies before the pinned one on the path.
.venv/duckdb-2: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ duckdb==2.0.0

INSTALL := .ci/install $(BIN)/python
# Modules for other versions of Python and templates do not compile.
COMPILE := $(BIN)/python -W ignore -m compileall -qq -j 0 $(CURDIR)/.venv/lib || true

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	@echo 'Installing into .venv; this takes a minute or two.'
	$(INSTALL) --editable '.[run]'
	@$(COMPILE)
	@touch $@

# Tests and benchmarks compile the modules that they import, a quarter of all.
.venv/installed-%: .venv/bin/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[run,$*]'
	@touch $@ .venv/installed
