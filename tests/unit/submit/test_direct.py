"""Jobs of hosted connectors are started without spark-submit where Spark has nothing to do."""

from __future__ import annotations

import sys

import pytest

from airflow_kconnect.machine.spark_home import python_path, spark_home
from airflow_kconnect.submit.direct import direct_command, direct_environment, needs_no_spark
from airflow_kconnect.submit.spark import job_path

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
