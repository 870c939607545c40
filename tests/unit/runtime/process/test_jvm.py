"""How a job tells PySpark to start its JVM."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence

import pytest

from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA
from airflow_kconnect.runs.spec import SPARK_OPTIONS
from airflow_kconnect.runtime.job import main as job_main
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.session import LazySession

ONE_COMPILER = "-XX:TieredStopAtLevel=1"
JAVA = "spark.driver.extraJavaOptions"


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "")
    jvm._options.cache_clear()
    yield
    jvm._options.cache_clear()


def _given(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setenv(SPARK_OPTIONS, json.dumps(options))


def _prepared(*, short: bool) -> Sequence[str]:
    jvm.prepare(short=short)
    return shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])


def test_options_reach_pyspark_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--master", "local[2]", "--name", "load 'orders'", "--conf", "spark.a=b c")
    _given(monkeypatch, *options)
    assert _prepared(short=False) == [*options, "pyspark-shell"]


@pytest.mark.parametrize(
    ("options", "java"),
    [
        ((), f"{JAVA}={ONE_COMPILER}"),
        (("--conf", f"{JAVA}=-Xss4m"), f"{JAVA}={ONE_COMPILER} -Xss4m"),
        (("--conf", f"{JAVA}=-XX:TieredStopAtLevel=4"), f"{JAVA}={ONE_COMPILER} -XX:TieredStopAtLevel=4"),
    ],
)
def test_a_short_run_has_one_compiler_unless_the_user_has_chosen(
    options: Sequence[str], java: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _given(monkeypatch, *options)
    assert [word for word in _prepared(short=True) if word.startswith(JAVA)] == [java]


def test_settings_are_known_before_spark_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    _given(monkeypatch, "--master", "local[3]", "--verbose", "--conf", "spark.a=b=c")
    assert jvm.settings() == {"spark.master": "local[3]", "spark.a": "b=c"}


@pytest.mark.parametrize(("master", "cores"), [("local", 1), ("local[3]", 3), ("local[2,4]", 2)])
def test_parallelism_is_known_before_spark_starts(master: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _given(monkeypatch, "--master", master)
    assert LazySession("app").parallelism() == cores


def test_a_job_of_spark_submit_does_not_start_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SPARK_OPTIONS, raising=False)
    assert not jvm.starts_spark()


def test_there_is_nothing_to_end_before_spark_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    jvm.end()
    assert jvm.unexpected_end() is None


def test_a_job_prepares_the_jvm_before_any_connector_can_start_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _given(monkeypatch, "--conf", "spark.driver.memory=3g")
    monkeypatch.setattr("airflow_kconnect.runtime.job.die_with_parent", lambda: None)
    monkeypatch.setattr(jvm, "end", lambda: None)  # it would be that of other tests' session
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "")
    assert job_main(["--run", "/none/run.json"]) == EXIT_CONFIG_OR_DATA
    assert "spark.driver.memory=3g" in os.environ["PYSPARK_SUBMIT_ARGS"]
