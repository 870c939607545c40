"""What many tests share: a Spark session, and what does without; stores; AWS Glue's registry."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import cache, partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.converters.types import SESSION_CONF
from airflow_kconnect.hosted.jvm import jvm as hosted_jvm
from airflow_kconnect.runtime.process import split_processes as job_processes
from airflow_kconnect.runtime.process.session import START_CONF, LazySession
from airflow_kconnect.runtime.process.split_processes import SplitProcesses
from airflow_kconnect.submit.class_archive import class_archive_options, java_option
from airflow_kconnect.submit.spark import find_spark_submit
from tests.support.glue import Glue, glue
from tests.support.spark.lakes import CATALOG, lakes_conf
from tests.support.split_processes import SparkIfNeeded, split_processes
from tests.support.stores import Store, as_minio, azure_store, google_store, hdfs_store, moto_store, s3_store

_QUICK_JAVA = "-XX:TieredStopAtLevel=1"


@pytest.fixture(scope="session", autouse=True)
def quick_hosted_java() -> Iterator[None]:
    """JVMs that runs of this process start for Java connectors do without the optimising compiler, like Spark's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hosted_jvm, "_OPTIONS", (*hosted_jvm._OPTIONS, _QUICK_JAVA))
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session on two cores, with the settings that jobs run with."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    repository = str(Path(__file__).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([repository, *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": _class_archive(),
        "spark.driver.memory": "1g",
        **START_CONF,
        **SESSION_CONF,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.log.level": "ERROR",
        **lakes_conf(tmp_path_factory.mktemp("lake")),
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def _processes() -> Iterator[SplitProcesses]:
    with split_processes({}) as (processes, _):
        yield processes


@pytest.fixture(scope="module")
def spark_if_needed(request: pytest.FixtureRequest, _processes: SplitProcesses) -> Iterator[LazySession]:
    """For runs in this process: as in a job, processes move what needs no Spark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job_processes, "_of_this_job", _processes)
        yield SparkIfNeeded(lambda: request.getfixturevalue("spark"))


@pytest.fixture(scope="session")
def lake(spark: SparkSession) -> str:
    """The catalog for Iceberg's tables; Delta's are paths, or in Spark's own catalog."""
    if spark.conf.get("spark.sql.extensions", None) is None:
        pytest.skip(f"neither Iceberg nor Delta has been released for Spark {spark.version}")
    return CATALOG


@pytest.fixture(scope="session")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Store]]:
    """`store_of("s3")`: the same for all tests of stores. A server starts when it is asked for."""
    with ExitStack() as servers:

        @cache
        def of(kind: str) -> Store:
            folder = tmp_path_factory.mktemp(kind)
            made: dict[str, Callable[[], AbstractContextManager[Store]]] = {
                "s3": partial(s3_store, folder),
                "minio": lambda: as_minio(of("s3")),
                "moto": moto_store,
                "azure": partial(azure_store, folder),
                "gs": google_store,
                "hdfs": partial(hdfs_store, folder),
            }
            return servers.enter_context(made[kind]())

        yield of


@pytest.fixture(scope="session")
def aws() -> Iterator[Glue]:
    """AWS Glue's schema registry, for this test run."""
    with glue() as made:
        yield made


def _class_archive() -> str:
    """Options that make the session start as quickly as a job, if `make setup` has made the archive."""
    return " ".join(map(java_option, class_archive_options(find_spark_submit())))
