"""The fixtures that tests of connectors use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from airflow_kconnect.pytest_plugin import Conforms, RunSink, RunSource, conforms, kconnect_worker, run_sink, run_source
from tests.support.connectors.lines import Lines, LinesHarness
from tests.support.connectors.rows import Rows, RowsHarness

# The broker is that of these tests.
__all__ = ["conforms", "kconnect_worker", "run_sink", "run_source"]


def test_a_source_is_run_and_its_records_are_read(run_source: RunSource, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("a\nb\n")
    config = {"name": "fixture-lines", "connector.class": Lines, "file": str(lines), "topic": "fixture-lines"}
    assert [value["text"] for value in run_source(config).values] == ["a", "b"]
    lines.write_text("a\nb\nc\n")
    assert run_source(config).values == [{"n": 2, "text": "c"}]


def test_a_sink_is_run_over_records(run_sink: RunSink, tmp_path: Path) -> None:
    harness = RowsHarness(tmp_path, "unused")
    moved = run_sink({"connector.class": Rows, "database": str(harness.database)}, [{"id": 1}, ("key", {"id": 2})])
    assert (moved.report["records"]["written"], list(harness.arrived())) == (2, ['{"id": 1}', '{"id": 2}'])


def test_a_run_that_fails_says_why(run_source: RunSource, tmp_path: Path) -> None:
    config = {"connector.class": Lines, "file": str(tmp_path / "missing"), "topic": "fixture-missing"}
    moved = run_source(config, check=False)
    assert (moved.exit_code, "No such file or directory" in (moved.error or "")) == (1, True)
    with pytest.raises(pytest.fail.Exception, match="No such file or directory"):
        run_source(config)


def test_checks_are_tests(conforms: Conforms) -> None:
    assert [finding.check for finding in conforms(Lines, LinesHarness, "offsets").findings] == ["offsets"]


def test_the_plugin_imports_neither_spark_nor_kafka_nor_airflow() -> None:
    code = (
        "import sys, airflow_kconnect.pytest_plugin;"
        "print(sorted({'airflow', 'confluent_kafka', 'pyspark', 'pyarrow', 'psutil', 'typer'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
