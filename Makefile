# Everything that can be done here; `make help` lists it.
# A fresh machine needs Python 3.11 or newer, make, and the package registries.

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
BIN := .venv/bin
# Byte code is written even where the environment forbids it: each start would compile anew.
PY := PYTHONDONTWRITEBYTECODE= $(BIN)/python
WORKERS ?= 4
ARGS ?=
UV := 0.13.8
LOCKED := --quiet --universal --python-version 3.11 --generate-hashes --no-header

.DEFAULT_GOAL := help
.PHONY: help install install-dev run test soak matrix lint lock sbom bench screenshots clean

help: ## list every target with a sentence
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/installed ## make .venv with the pinned packages

install-dev: .venv/installed-dev

# pip comes last into a .venv: one whose making was interrupted is made again.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "Atributo needs Python 3.11 or newer: install it, or name it with PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "Python's venv module is missing: install python3-venv" >&2; exit 1; fi; }
	@$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/pip
	@echo "Installing the pinned packages …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt | .venv/bin/pip
	@echo "Installing the pinned packages for development …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch .venv/installed $@

run: .venv/installed ## start everything: web, workers, curator, Valkey (ARGS=--no-demo)
	@$(PY) manage.py up $(ARGS)

test: lint ## check style, types and migrations, then run all tests on both databases
	@$(PY) -m tests.servers.chromium
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal --reruns 1 -m "not soak" -q $(ARGS)

soak: .venv/installed-dev ## long storms, hundred-fold kills, million-row checks
	@$(PY) -m tests.servers.chromium
	@$(PY) -m pytest -n $(WORKERS) -m soak -q -rs $(ARGS)

# From PyPI into .matrix; what it downloads is kept there.
matrix: .venv/installed-dev ## the wheel with every Django and Python that is here (ARGS=6.1:3.13)
	@test -x .matrix/uv/bin/uv || { $(PYTHON) -m venv .matrix/uv \
	  && .matrix/uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV); }
	@$(PY) -m tests.packaging.matrix $(ARGS)

lint: .venv/installed-dev ## ruff, mypy, bandit and missing migrations
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary allocation queues pools atributo_site
	@cd clients/python && ../../$(BIN)/mypy --no-error-summary atributo_client
	@$(BIN)/bandit --quiet --recursive -ll allocation queues pools atributo_site clients 2>/dev/null \
	  || { echo "Mend what bandit found, or mark it: # nosec B608 # reason" >&2; exit 1; }
	@ATRIBUTO_ENV=test ATRIBUTO_VAR_DIR="$$(mktemp -d)" $(PY) manage.py makemigrations --check --dry-run >/dev/null \
	  || { echo "A model change has no migration: run manage.py makemigrations" >&2; exit 1; }

# uv knows the files of all systems and Pythons; it stays outside of .venv.
lock: ## write requirements*.txt from requirements*.in, with hashes (ARGS=--upgrade-package=NAME)
	@$(PYTHON) -m venv .lock && .lock/bin/pip install --quiet --disable-pip-version-check uv==$(UV)
	@.lock/bin/uv pip compile $(LOCKED) $(ARGS) --output-file requirements.txt requirements.in
	@.lock/bin/uv pip compile $(LOCKED) $(ARGS) --constraints requirements.txt \
	  --output-file requirements-dev.txt requirements-dev.in

sbom: .venv/installed ## write licences.txt and sbom.json (CycloneDX) of what Atributo runs on
	@ATRIBUTO_ENV=test ATRIBUTO_VAR_DIR="$$(mktemp -d)" $(PY) manage.py sbom > licences.txt
	@ATRIBUTO_ENV=test ATRIBUTO_VAR_DIR="$$(mktemp -d)" $(PY) manage.py sbom --json > sbom.json

bench: .venv/installed-dev ## measure beside the peers (ARGS=name for one)
	@$(PY) -m bench $(ARGS)

screenshots: .venv/installed-dev ## take the pictures of README and docs anew
	@$(PY) -m tests.servers.chromium
	@$(PY) -m tests.screenshots

clean: ## remove .venv and caches; the state in var/ stays
	@rm -rf .venv .lock .matrix .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +
