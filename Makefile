# Two commands matter: `make demo` and `make test`. Each first does what it needs, and nothing when that is done.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup demo test test-all lint format bench clean help

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup: .venv/.ready  ## make .venv with everything that is needed here

# An interrupted class archive leaves the environment ready all the same.
.PRECIOUS: .venv/.ready
.venv/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[demo,dev,jdbc,spark]'
	@touch $@
	@$(BIN)/python -m airflow_kconnect.local.class_archive || true

demo: setup  ## file -> Kafka -> files and table -> Kafka -> Parquet, by Airflow DAGs, twice; the second run resumes
	@$(BIN)/python -m airflow_kconnect.local.demo

# Two processes: each has its own broker and Spark session, and waits for them most of the time.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder

test: setup  ## the tests
	$(PYTEST)

test-all: setup  ## the tests, and the exhaustive cases of killed runs
	$(PYTEST) -m ''

lint: setup  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## side by side with Kafka Connect
	$(BIN)/python -m benchmarks

clean:  ## remove what the other commands made (not the download cache)
	rm -rf .venv .demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
