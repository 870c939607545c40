"""Jobs on this machine are started by their Python."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from airflow_kconnect.machine.java import Java
from airflow_kconnect.machine.spark_home import python_path, spark_home
from airflow_kconnect.runs.spec import SPARK_OPTIONS
from airflow_kconnect.submit.direct import (
    by_python,
    direct_command,
    direct_environment,
    needs_no_spark,
    starts_spark_itself,
)
from airflow_kconnect.submit.spark import SparkSubmit, job_path

JAVA = {"name": "orders", "connector.class": "io.debezium.connector.postgresql.PostgresConnector"}
OURS = {"name": "lines", "connector.class": "FileStreamSource"}


@pytest.mark.parametrize(
    ("config", "master", "deploy_mode", "expected"),
    [
        (JAVA, "local[*]", None, True),
        (JAVA, "local", "client", True),
        (JAVA, "yarn", None, False),
        (JAVA, "spark://host:7077", None, False),
        (JAVA, "local[2]", "cluster", False),
        (JAVA, "local-cluster[2,1,1024]", None, False),
        (OURS, "local[2]", None, False),
        (OURS | {"kconnect.hosted": "true"}, "local[2]", None, True),
        (OURS | {"kconnect.hosted": True}, "local[2]", None, True),
        (JAVA | {"kconnect.hosted": "false"}, "local[2]", None, False),
        ({"name": "nothing"}, "local[2]", None, False),
    ],
)
def test_only_hosted_connectors_on_this_machine(
    config: dict[str, object], master: str, deploy_mode: str | None, expected: bool
) -> None:
    assert needs_no_spark(config, master, deploy_mode) is expected


@pytest.mark.parametrize(
    ("conf", "environment", "python"),
    [
        ({}, {}, sys.executable),
        ({}, {"PYSPARK_PYTHON": "/a"}, "/a"),
        ({}, {"PYSPARK_PYTHON": "/a", "PYSPARK_DRIVER_PYTHON": "/b"}, "/b"),
        ({"spark.pyspark.python": "/c"}, {"PYSPARK_DRIVER_PYTHON": "/b"}, "/c"),
        ({"spark.pyspark.python": "/c", "spark.pyspark.driver.python": "/d"}, {}, "/d"),
    ],
)
def test_python_is_the_one_that_spark_would_choose(
    conf: dict[str, str], environment: dict[str, str], python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    assert direct_command(["--run", "/spec"], conf) == [python, str(job_path()), "--run", "/spec"]


def test_the_environment_finds_sparks_python_files_before_others() -> None:
    home = spark_home()
    assert home is not None
    found = direct_environment({"PYTHONPATH": "/mine", "A": "b"})
    assert (found["SPARK_HOME"], found["A"]) == (str(home), "b")
    assert found["PYTHONPATH"].split(":") == [*python_path(home), "/mine"]


OWN = SparkSubmit(Path("/spark/bin/spark-submit"), Java(Path("/java"), 17), Path("/spark"))
ANOTHER = SparkSubmit(Path("/opt/bin/spark-submit"), Java(Path("/java"), 17), None)


@pytest.mark.parametrize(
    ("master", "deploy_mode", "spark", "expected"),
    [
        ("local[*]", None, OWN, True),
        ("local", "client", OWN, True),
        ("local[2]", "cluster", OWN, False),
        ("local-cluster[2,1,1024]", None, OWN, False),
        ("yarn", None, OWN, False),
        ("local[*]", None, ANOTHER, False),
    ],
)
def test_a_job_starts_pysparks_own_spark_on_this_machine(
    master: str, deploy_mode: str | None, spark: SparkSubmit, expected: bool
) -> None:
    assert starts_spark_itself(master, deploy_mode, spark) is expected


def test_a_job_that_starts_spark_has_the_options_and_the_python_of_spark_submit() -> None:
    conf = {"spark.pyspark.python": "/a/python"}
    command = ["/spark/bin/spark-submit", "--master", "local", "--conf", "a=b", str(job_path()), "--run", "/spec"]
    direct, environment = by_python(command, {"A": "b"}, conf)
    assert direct == ["/a/python", str(job_path()), "--run", "/spec"]
    assert json.loads(environment[SPARK_OPTIONS]) == ["--master", "local", "--conf", "a=b"]
    assert (environment["A"], environment["PYSPARK_PYTHON"], environment["PYTHONHASHSEED"]) == ("b", "/a/python", "0")
