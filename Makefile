# Two commands matter: `make demo` and `make test`. Each first does what it needs, and nothing when that is done.
PYTHON ?= python3
BIN := .venv/bin
# A process with Airflow imports some thousand modules: where none may be kept compiled, that takes three times as long.
unexport PYTHONDONTWRITEBYTECODE
# With a new pip: that of Python 3.11 needs two and a half times as much CPU for all this.
VENV := $(PYTHON) -m venv --upgrade-deps
# Into the environment whose programs are in a folder; CI has another program do it.
INSTALL = $(1)/pip install --disable-pip-version-check
PIP = $(call INSTALL,$(BIN)) --constraint constraints.txt

.PHONY: setup demo test test-all fuzz torture lowest lakes newcomer lint docs format package bench compare clean help

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: .venv/.ready  ## make .venv with everything that is needed here

# What everything here needs. An interrupted class archive leaves the environment ready all the same.
.PRECIOUS: .venv/.ready
.venv/.ready: pyproject.toml constraints.txt
	@echo "Installing Airflow, Spark and the tools of this project into .venv: some 700 MB, a few minutes"
	$(VENV) .venv
	$(PIP) --quiet --editable '.[dev,jdbc,spark]'
	@# pyspark-client has put its files over PySpark's. Jobs do not import these, but the type checker reads them
	@# (docs/decisions/0001-pyspark-and-pyspark-client.md).
	@cd .venv/lib/python3*/site-packages && "$(CURDIR)/$(BIN)/python" -m zipfile -e pyspark/python/lib/pyspark.zip .
	@$(BIN)/python -m tests.support.spark.compiled_pyspark
	@touch .venv/.demo-ready $@
	@# `.ready` is there by now: after Ctrl-C here, the same command goes past this.
	@$(BIN)/kconnect spark archive || true

# What the demo needs, without the tools for working on this project; pip shows what it downloads.
.venv/.demo-ready: pyproject.toml constraints.txt
	@echo "Installing Airflow and Spark into .venv: some 600 MB, a few minutes"
	$(VENV) .venv
	$(PIP) --editable '.[jdbc,spark]'
	@touch $@

demo: .venv/.demo-ready  ## file -> Kafka -> files and table -> Kafka -> Parquet, by Airflow DAGs, twice; the second run resumes
	@$(BIN)/kconnect demo --folder .demo

MARKS := not exhaustive and not newcomer
# Three processes for two cores: each has its own broker and Spark session, and often waits for them.
PROCESSES := 3
# Further options of pytest.
TEST_OPTIONS :=
PYTEST := $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadscope --no-loadscope-reorder --durations 40

test: setup  ## the tests; MARKS chooses others
	$(PYTEST) -m '$(MARKS)' $(TEST_OPTIONS)

test-all: setup  ## the tests, and the exhaustive cases of killed runs
	$(PYTEST) -m 'not newcomer'

# Needs a JDK, not only a JRE: a small driver for Kafka Connect's classes is compiled as it starts.
fuzz: setup  ## 100,000 random records in 1,000 configurations, answered by Kafka Connect's classes and by ours: half an hour
	$(BIN)/python -m tests.fuzz --configurations 1000 --records 100

# A part of the tests. Others of operators need more of Airflow outside of a task than 3.1.0 offers there.
LOWEST := .venv-lowest/bin
lowest: .venv-lowest/.ready  ## unit tests and a pipeline on the lowest versions that pyproject.toml allows
	$(LOWEST)/python -m pytest -m '' tests/unit/kafka tests/unit/operators/test_older_airflow.py \
	  tests/unit/operators/test_folder.py tests/airflow/test_any_airflow.py

.venv-lowest/.ready: pyproject.toml constraints-lowest.txt
	$(VENV) .venv-lowest
	$(call INSTALL,$(LOWEST)) --quiet --constraint constraints-lowest.txt --editable '.[dev,jdbc,spark]'
	@touch $@

# A PySpark that table formats have been released for, beside that of .venv. With it the tests of their connectors run.
LAKES_PYSPARK := 4.1.4
LAKES := .pyspark-lakes
LAKE_TESTS := tests/integration/connectors/table tests/integration/runtime/sink/planned \
  tests/integration/runtime/group/test_table_sinks.py tests/integration/converters/test_json_numbers.py \
  tests/integration/spark/test_guide.py
# What `make test` has run with the other PySpark, and needs no lake: to run it with this one, too, `make lakes TRIED=`.
TRIED := $(addprefix --ignore=tests/integration/connectors/table/, \
  changes/test_changes.py columns/test_rows.py columns/test_schemaless.py test_routes.py)
LAKE_PROCESSES := 2
lakes: setup $(LAKES)/$(LAKES_PYSPARK)  ## the tests of Iceberg and Delta tables, with a PySpark that has them
	SPARK_HOME='$(CURDIR)/$(LAKES)/pyspark' PYTHONPATH='$(CURDIR)/$(LAKES)' $(BIN)/python -m pytest --numprocesses $(LAKE_PROCESSES) --dist loadscope -m '$(MARKS)' \
	  $(LAKE_TESTS) $(TRIED) $(TEST_OPTIONS)

$(LAKES)/$(LAKES_PYSPARK):
	rm -rf $(LAKES)
	$(call INSTALL,$(BIN)) --quiet --no-deps --target $(LAKES) pyspark==$(LAKES_PYSPARK)
	@touch $@

NEWCOMER := newcomer
newcomer: setup  ## what README and quickstart say, typed on a machine without anything of this project
	$(PYTEST) -m '$(NEWCOMER)' tests/newcomer $(TEST_OPTIONS)

torture: setup  ## random schedules of kills, zombies, concurrent runs and broker faults; TORTURE="--help" shows options
	$(BIN)/python -m tests.torture $(TORTURE)

# The schemas come with check-jsonschema; nothing here needs a network. What only runs on GitHub is checked as far as files can be.
SCHEMA = $(BIN)/check-jsonschema --builtin-schema
lint: setup  ## format, lint, types, layers, spelling, workflows, the image
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell . .github/ .ci/
	$(SCHEMA) vendor.github-workflows .github/workflows/*.yml
	$(SCHEMA) vendor.github-actions .github/actions/*/action.yml
	$(SCHEMA) vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(SCHEMA) vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(SCHEMA) vendor.dependabot .github/dependabot.yml
	$(SCHEMA) vendor.compose-spec docker/compose.yaml
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/hadolint docker/Dockerfile

docs: .venv/.docs-ready  ## the documentation as a site with a search, read from its files: build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Open build/site/index.html"

.venv/.docs-ready: .venv/.ready
	$(PIP) --quiet --editable '.[docs]'
	@touch $@

format: setup  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The wheel is installed as users do, with the pinned versions: its parts list names those.
WHEEL := build/wheel
package: .venv-package/.ready  ## the wheel and the sdist, checked, into dist, and the wheel's parts list (CycloneDX) into build/sbom
	rm -rf dist build/sbom $(WHEEL)
	mkdir -p build/sbom
	.venv-package/bin/hatchling build -d dist
	.venv-package/bin/twine check --strict dist/*
	$(VENV) $(WHEEL)
	$(call INSTALL,$(WHEEL)/bin) --quiet --constraint constraints.txt "$$(echo dist/*.whl)[spark,jdbc]"
	$(WHEEL)/bin/kconnect --version
	.venv-package/bin/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
	  --output-file build/sbom/airflow_kconnect.cdx.json $(WHEEL)/bin/python

.venv-package/.ready: pyproject.toml constraints.txt
	$(VENV) .venv-package
	$(call INSTALL,.venv-package/bin) --quiet --constraint constraints.txt --group release
	@touch $@

bench: setup  ## side by side with Kafka Connect: some three quarters of an hour; into build/benchmarks and docs/benchmarks.md
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.databases
	$(BIN)/python -m benchmarks.avro
	$(BIN)/python -m benchmarks --transforms --passes 3
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.groups
	$(BIN)/python -m benchmarks.report

BASE := origin/main
compare: setup  ## CPU time per record against another commit, in turns: BASE=origin/main
	rm -rf build/base && git worktree prune
	git worktree add --detach build/base '$(BASE)'
	$(BIN)/python -m benchmarks.comparison build/base

clean:  ## remove what the other commands made (not the download cache)
	rm -rf .venv .venv-lowest .venv-package .pyspark-lakes .demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
