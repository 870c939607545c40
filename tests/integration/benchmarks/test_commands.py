"""The benchmarks themselves, with few records: real brokers, workers of Kafka Connect, Spark and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from benchmarks import __main__ as files
from benchmarks import avro, databases, hosted, results, startup
from benchmarks.measure import Row

# Fewer records come all at once, and then no rate can be measured.
_RECORDS = "100000"
pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(900)]


def rows_of(app: Typer, *options: str, output: Path) -> list[Row]:
    arguments = [*options, "--passes", "1", "--output", str(output)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return list(results.read(output)["rows"])


def test_files(tmp_path: Path) -> None:
    rows = rows_of(files.app, "--lines", _RECORDS, output=tmp_path / "files.json")
    assert {(row.path, len(row.passes)) for row in rows} == {("File to Kafka", 1), ("Kafka to files", 1)}


def test_databases(tmp_path: Path) -> None:
    rows = rows_of(databases.app, "--rows", _RECORDS, output=tmp_path / "databases.json")
    assert {(row.path, len(row.passes)) for row in rows} == {("PostgreSQL to Kafka", 1), ("Kafka to PostgreSQL", 1)}


def test_avro(tmp_path: Path) -> None:
    rows = rows_of(avro.app, "--rows", _RECORDS, output=tmp_path / "avro.json")
    assert {(row.path, len(row.passes)) for row in rows} == {("PostgreSQL to Avro", 1), ("Avro to files", 1)}


def test_startup(tmp_path: Path) -> None:
    output = tmp_path / "startup.json"
    rows_of(startup.app, "--lines", _RECORDS, output=output)
    assert all(seconds[0] > 0 for seconds in results.read(output)["seconds"].values())


def test_hosted(tmp_path: Path) -> None:
    output = tmp_path / "hosted.json"
    rows_of(hosted.app, "--lines", _RECORDS, "--rows", _RECORDS, output=output)
    loads = results.read(output)["loads"]
    assert {name: {side: len(passes) for side, passes in sides.items()} for name, sides in loads.items()} == {
        load: {"hosted": 1, "worker": 1} for load in ("File source", "Debezium")
    }
