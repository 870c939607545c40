"""Spark settings that connectors bring along."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.validation.connector import inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.spark_keys import ALLOWED, DEFAULT_ALLOWED, PREFIX, spark_settings

SOURCE = {"name": "a", "connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}
KAFKA = {"bootstrap.servers": "localhost:9092"}


def errors(setting: str, value: str = "1", **worker: str) -> list[str]:
    config = {**SOURCE, PREFIX + setting: value}
    return inspect_connector(config, worker=WorkerConfig.from_props({**KAFKA, **worker})).errors.get(
        PREFIX + setting, []
    )


def test_the_default_list_is_one_that_a_worker_may_have() -> None:
    WorkerConfig.from_props({**KAFKA, ALLOWED: ",".join(DEFAULT_ALLOWED)})


def test_sizes_are_allowed_without_a_warning() -> None:
    inspection = inspect_connector({**SOURCE, f"{PREFIX}spark.executor.memory": "4g"})

    assert (inspection.errors, inspection.warnings) == ({}, [])


def test_others_are_refused_and_the_right_one_is_suggested() -> None:
    assert errors("spark.executor.memroy") == [  # codespell:ignore
        "the worker does not allow connectors to set spark.executor.memroy "  # codespell:ignore
        "(`kconnect.spark.conf.allowed`); did you mean `spark.executor.memory`?"
    ]


def test_the_worker_has_a_list_of_its_own() -> None:
    allowed = {ALLOWED: "spark.sql.session.timeZone"}

    assert errors("spark.sql.session.timeZone", **allowed) == []
    assert errors("spark.executor.memory", **allowed) != []


@pytest.mark.parametrize(
    "setting",
    [
        "spark.driver.extraJavaOptions",
        "spark.executor.extraClassPath",
        "spark.jars",
        "spark.jars.packages",
        "spark.plugins",
        "spark.master",
        "spark.submit.deployMode",
        "spark.submit.pyFiles",
        "spark.files",
        "spark.sql.extensions",
        "spark.sql.catalog.mine",
        "spark.extraListeners",
        "spark.pyspark.python",
        "spark.executorEnv.LD_PRELOAD",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.kubernetes.container.image",
        "spark.yarn.dist.files",
        "spark.redaction.regex",
        "spark.speculation",
        "spark.local.dir.command",
        "spark.driver.defaultJavaOptions",
        "spark.proxyUser",
    ],
)
def test_no_worker_can_allow_what_loads_code_or_names_addresses(setting: str) -> None:
    with pytest.raises(ConfigError, match=ALLOWED):
        WorkerConfig.from_props({**KAFKA, ALLOWED: setting})


@pytest.mark.parametrize("value", ["", "4g\n--jars x"])
def test_values_are_one_line(value: str) -> None:
    assert errors("spark.executor.memory", value)


def test_variables_are_refused_where_spark_is_started() -> None:
    with pytest.raises(ConfigError, match="must not be a variable"):
        spark_settings({f"{PREFIX}spark.executor.memory": "${env:MEMORY}"})


def test_settings_lose_their_prefix() -> None:
    assert spark_settings({**SOURCE, f"{PREFIX}spark.executor.memory": "4g"}) == {"spark.executor.memory": "4g"}
