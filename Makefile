# A front only: every target is one line that a person could type.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# How many processes run the suite, each with servers of its own.
TESTERS ?= 3

.PHONY: run test test-fast test-long durations coverage lint licences vulnerabilities load bundle bench conformance clean

$(VENV)/run.stamp: requirements/base.txt requirements/pip.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/pip.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/base.txt
	touch $@

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/dev.txt
	touch $@

run: $(VENV)/run.stamp  ## start the hub; RUN_ARGS="--port 8080 --no-sample"
	exec $(BIN)/python manage.py up $(RUN_ARGS)

test: $(VENV)/dev.stamp  ## the whole suite, but for the long tests
	$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile

test-fast: $(VENV)/dev.stamp  ## what needs the database at most: a minute or two
	$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile -m "not slow"

test-long: $(VENV)/dev.stamp  ## with the soaks, kills and scale runs
	$(BIN)/python -m pytest --long

durations: $(VENV)/dev.stamp  ## how long each file of tests takes, which the suite is shared out by: tests/durations.txt
	$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --junitxml=.pytest_cache/report.xml
	$(BIN)/python -m tools.test_durations .pytest_cache/report.xml

coverage: $(VENV)/dev.stamp  ## branches that the suite takes, by package; COVERAGE_ARGS="tests/review" for a part of it
	-$(BIN)/python -m pytest -n $(TESTERS) --dist loadfile --cov --cov-branch --cov-report= $(COVERAGE_ARGS)
	$(BIN)/python -m tools.coverage_table

licences: $(VENV)/dev.stamp  ## licences of what is shipped, and sbom.json (CycloneDX)
	$(BIN)/python -m tools.licences --sbom sbom.json

vulnerabilities: $(VENV)/dev.stamp  ## what is known of the pins; VULNERABILITIES_ARGS="--database all.zip" without a network
	$(BIN)/python -m tools.vulnerabilities $(VULNERABILITIES_ARGS)

lint: $(VENV)/dev.stamp  ## ruff, mypy strict, import-linter, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	HUB_DATA_DIR=$$(mktemp -d) $(BIN)/python manage.py makemigrations --check --dry-run

load: $(VENV)/dev.stamp  ## many people at once on a running hub; LOAD_ARGS="--url URL --token TOKEN --minutes 30"
	$(BIN)/python -m benchmarks.load $(LOAD_ARGS)

bundle: $(VENV)/dev.stamp  ## all that a machine without a network needs; BUNDLE_ARGS="FOLDER --with ocr"
	$(BIN)/python -m tools.air_gapped $(BUNDLE_ARGS)

bench: $(VENV)/dev.stamp  ## figures with the machine named
	$(BIN)/python -m benchmarks.embedding
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.ingest
	$(BIN)/python -m benchmarks.lint

conformance: $(VENV)/run.stamp  ## the official MCP conformance suite; needs npx and Node 22 or newer
	$(BIN)/python -m tools.conformance

clean:  ## remove the virtual environment; data stays
	rm -rf $(VENV)
