SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
# Everything but the project itself is verified by hash; its build system is among what is locked.
SYNC = $(PIP) install --require-hashes $(2) --requirement $(1) && \
	$(PIP) install --no-deps --no-build-isolation --editable .
LOCK := uv pip compile setup.py --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet
# Each worker starts servers of its own, so more of them than this only wait for each other. A file's
# tests share its fixtures, so they share a worker; tests/conftest.py has the order of files.
PARALLEL := --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder

.PHONY: help run test test-long check lint bench chaos install servers lock clean
.DEFAULT_GOAL := help

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run ## set up, then serve, index and deliver until Ctrl-C
	@exec $(BIN)/scan run

test: install servers ## set up, then run the tests, on all cores; at most 10 minutes on two
	@exec $(BIN)/pytest $(PARALLEL) -m 'not long' $(ARGS)

test-long: install servers ## set up, then run every test, also the long ones
	@exec $(BIN)/pytest $(PARALLEL) $(ARGS)

check: install ## in under a minute: rooms, pure parts, statements, every endpoint once
	@exec $(BIN)/pytest $(PARALLEL) -m check $(ARGS)

lint: $(VENV)/.dev ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: $(VENV)/.bench ## measure speed beside what it is compared with
	@exec $(BIN)/python -m bench

chaos: install ## measure what a hundred random faults do to several machines; 20 minutes
	@exec $(BIN)/python -m tests.deploy.chaos

install: $(VENV)/.dev tests/support/node/node_modules/.done

servers:
	@tests/support/install_servers

lock: ## with uv: requirements/ anew from setup.py
	$(LOCK) --extra build --extra embedded --extra redis -o requirements/runtime.txt
	$(LOCK) --extra build --extra embedded --extra dev --constraint requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) --extra build --extra embedded --extra bench --constraint requirements/dev.txt -o requirements/bench.txt

clean: ## remove what was installed and built
	rm -rf $(VENV) build *.egg-info tests/support/node/node_modules

$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.run: setup.py requirements/runtime.txt | $(VENV)/bin/python
	$(call SYNC,requirements/runtime.txt)
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@# What comes as source alone is built by the setuptools of the step before.
	$(call SYNC,requirements/dev.txt,--no-build-isolation)
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.run
	$(call SYNC,requirements/bench.txt)
	@touch $@

tests/support/node/node_modules/.done: tests/support/node/package.json tests/support/node/package-lock.json
	cd tests/support/node && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
