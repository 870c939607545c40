"""Sessions of jobs are created without MLlib's functions, and with all extensions that others have installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runtime.process.extensions import session_without_mllib

_SERVICES = Path("META-INF", "services", "org.apache.spark.sql.SparkSessionExtensionsProvider")


@contextmanager
def _on_class_path(spark: SparkSession, folder: Path) -> Iterator[None]:
    jvm: Any = spark._jvm
    thread = jvm.Thread.currentThread()
    before = thread.getContextClassLoader()
    gateway: Any = spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(f"{folder}/").toURI().toURL()
    thread.setContextClassLoader(jvm.java.net.URLClassLoader(urls, before))
    try:
        yield
    finally:
        thread.setContextClassLoader(before)


def test_a_session_without_mllib_computes(spark: SparkSession) -> None:
    session = session_without_mllib(spark.sparkContext)

    assert SparkSession(spark.sparkContext, session).range(3).count() == 3


def test_extensions_in_a_jar_of_others_are_loaded_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / _SERVICES).parent.mkdir(parents=True)
    (tmp_path / _SERVICES).write_text("org.acme.Extensions\n")

    with _on_class_path(spark, tmp_path):
        assert session_without_mllib(spark.sparkContext) is None


def test_extensions_in_the_configuration_are_loaded_by_spark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        spark.sparkContext, "_conf", spark.sparkContext.getConf().set("spark.sql.extensions", "org.acme.E")
    )

    assert session_without_mllib(spark.sparkContext) is None
