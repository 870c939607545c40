"""Decorated functions for strict type checkers: the examples of pages have no errors, and mistakes are found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages.markdown import REPOSITORY, blocks

PAGES = (
    "README.md",
    *("docs/writing-connectors.md", "docs/connector-classes.md", "docs/guides/own-transformations.md"),
)
# What the package imports for other rooms says nothing about functions, and would take three quarters of the time.
SETTINGS = """
[mypy]
strict = True
[mypy-airflow.*,confluent_kafka.*,httpx.*,numpy.*,pandas.*,pyarrow.*,pydantic.*,pyspark.*,sqlalchemy.*]
follow_imports = skip
"""
USES = """
from collections.abc import Iterator
from typing import Any
from airflow_kconnect.sdk import SinkRecord, sink, source, transform

@source
def bare(count: int) -> Iterator[dict[str, int]]:
    yield from ({"n": n} for n in range(count))

@source(topic="other", key="n")
def called(count: int) -> Iterator[dict[str, int]]:
    return bare(count)

@sink(batch=10)
def written(records: list[SinkRecord], folder: str) -> None: ...

@transform
def changed(record: dict[str, Any], rate: float = 1.0) -> dict[str, Any] | None:
    return record

for function in (bare, called):
    row: dict[str, int] = next(function(3))
made: dict[str, Any] = written.configured("mine", folder="/a")
bare("3")  # arg-type
called(3, 4)  # call-arg
text: str = next(called(3))  # assignment
written([], folder=7)  # arg-type
changed({}, rate="x")  # arg-type
bare.configure()  # attr-defined
source(function=3)  # call-overload
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[int, str]]:
    """What a strict mypy says, by file and line."""
    folder = tmp_path_factory.mktemp("types")
    (folder / "mypy.ini").write_text(SETTINGS)
    (folder / "uses.py").write_text(USES)
    for page in PAGES:
        for block in blocks(REPOSITORY / page):
            if block.info == "python" and re.search(r"^@(source|sink|transform)\b", block.text, re.MULTILINE):
                (folder / f"{Path(page).stem.lower().replace('-', '_')}_{block.line}.py").write_text(block.text)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", "mypy", "."]
    environment = {**os.environ, "MYPYPATH": str(REPOSITORY)}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found: dict[str, dict[int, str]] = {path.name: {} for path in folder.glob("*.py")}
    for name, line, kind in re.findall(r"^(\S+?):(\d+): error: .*\[([\w-]+)\]$", ended.stdout, re.MULTILINE):
        found[name][int(line)] = kind
    assert "Found" in ended.stdout, ended.stdout + ended.stderr
    return found


def test_the_examples_of_the_pages_have_no_errors(errors: dict[str, dict[int, str]]) -> None:
    examples = {name: found for name, found in errors.items() if name != "uses.py"}
    assert (len(examples) >= 6, examples) == (True, {name: {} for name in examples})


def test_a_decorated_function_has_the_types_that_it_had(errors: dict[str, dict[int, str]]) -> None:
    expected = {n: line.partition("  # ")[2] for n, line in enumerate(USES.splitlines(), start=1) if "  # " in line}
    assert errors["uses.py"] == expected
