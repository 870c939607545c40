"""A JVM that is asked through py4j."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from airflow_kconnect.hosted.jvm.gateway import JavaEnded
from airflow_kconnect.hosted.jvm.jvm import HostJvm
from airflow_kconnect.hosted.jvm.libraries import bridge
from airflow_kconnect.machine.environment import AIRFLOW_SETTINGS
from airflow_kconnect.machine.java import find_java


@pytest.fixture
def jvm(tmp_path: Path) -> Iterator[HostJvm]:
    with HostJvm(find_java(), [bridge()], tmp_path, memory="64m") as jvm:
        yield jvm


def test_what_is_asked_of_java_finds_no_settings_of_airflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "f")
    monkeypatch.setenv("AIRFLOW_CONN_DB", "c")
    with HostJvm(find_java(), [bridge()], tmp_path, memory="64m") as jvm:
        names = set(jvm.items(jvm.view.java.lang.System.getenv().keySet()))
    assert "PATH" in names
    assert not [name for name in names if AIRFLOW_SETTINGS.fullmatch(name)]


def test_the_items_of_any_collection_are_listed(jvm: HostJvm) -> None:
    numbers = jvm.view.java.util.ArrayList()
    for number in (3, 1, 2):
        numbers.add(number)
    names = jvm.view.java.util.TreeSet(jvm.text_map({"b": "1", "a": "2"}).keySet())
    assert (jvm.items(numbers), jvm.items(names), jvm.items(jvm.view.java.util.HashMap().keySet())) == (
        [3, 1, 2],
        ["a", "b"],
        [],
    )


def test_a_jvm_that_ends_is_not_taken_for_the_end_of_a_collection(jvm: HostJvm) -> None:
    numbers = jvm.view.java.util.ArrayList()
    numbers.add(1)
    iterator = iter(numbers)
    os.kill(jvm.pid, signal.SIGKILL)
    assert list(iterator) == []  # which is what py4j makes of it
    with pytest.raises(JavaEnded, match="asking for numbers: Java was ended by SIGKILL"):
        jvm.call("asking for numbers", lambda: jvm.items(numbers))


def test_an_error_is_told_also_where_an_object_of_sparks_jvm_has_its_id(jvm: HostJvm, spark: SparkSession) -> None:
    assert spark._jvm is not None
    theirs = [spark._jvm.java.lang.Object() for _ in range(50)]
    first = _number(theirs[0])
    while _number(ours := jvm.view.java.lang.Object()) < first:
        del ours
    with pytest.raises(Py4JJavaError, match="NumberFormatException"):
        jvm.call("reading a number", lambda: jvm.view.java.lang.Integer.parseInt("x"))


def _number(of: Any) -> int:
    return int(of._target_id.removeprefix("o"))
