"""What the demo needs to ask Spark and DuckDB for its table, and what it says if that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.demo.engines import check_iceberg, duckdb_answer
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit.spark import SparkSubmit


def spark_of(version: str, folder: Path, *, by_pip: bool = True) -> SparkSubmit:
    """A folder with the jar that tells its version."""
    (folder / "jars").mkdir()
    (folder / "jars" / f"spark-core_2.13-{version}.jar").touch()
    return SparkSubmit(folder / "bin" / "spark-submit", Java(Path("java"), 17), folder if by_pip else None, folder)


@pytest.fixture(autouse=True)
def _no_spark_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)


class TestSpark:
    def test_one_that_iceberg_has_been_released_for_will_do(self, tmp_path: Path) -> None:
        check_iceberg(spark_of("4.1.4", tmp_path))

    def test_a_newer_pyspark_is_replaced_by_pip(self, tmp_path: Path) -> None:
        with pytest.raises(
            SetupError, match=r"found, 4\.3\.0, in .*: pip install 'airflow-kconnect\[demo\]' replaces it"
        ):
            check_iceberg(spark_of("4.3.0", tmp_path))

    def test_a_spark_that_is_not_of_pip_has_to_be_out_of_the_way(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match=r"take it off PATH and unset SPARK_HOME, then pip install"):
            check_iceberg(spark_of("4.3.0", tmp_path, by_pip=False))


@pytest.mark.parametrize("missing", ["duckdb", "pyiceberg"])
def test_without_duckdb_there_is_no_answer(missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == missing else object())

    assert duckdb_answer(tmp_path, "orders", "select 1") is None
