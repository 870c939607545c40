"""A program of a user, with a session of its own: its function reaches the tasks, and no secret reaches Spark's log."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.pages.markdown import REPOSITORY
from tests.support.variables import CANARY

PROGRAM = """
from airflow_kconnect.machine.spark_home import use_whole_pyspark
use_whole_pyspark()
import sys
from pyspark.sql import SparkSession
from airflow_kconnect.sdk import Password, source
from airflow_kconnect.spark import register

spark = SparkSession.builder.{session}.getOrCreate()

@source
def orders(token: Password):
    for n in range(3):
        yield {{"n": n, "length": len(token.value)}}

register(spark, orders)
reader = spark.read.format("kconnect").option("token", "${{env:SHOP_TOKEN}}")
df = reader.option("connector.class", "orders").load()
df.explain("extended")
print("read", [tuple(row) for row in df.collect()])
print("read", spark.read.format("kconnect").option("connector.class", "shop.numbers").load().collect())
spark.stop()
"""
SHOP = """
from airflow_kconnect.sdk import source

@source
def numbers():
    yield {"n": 7}
"""


@pytest.fixture
def output_of(tmp_path: Path) -> Callable[[str], str]:
    """What the program prints, with a session of some kind."""

    def run(session: str) -> str:
        program, shop = tmp_path / "program.py", tmp_path / "plugins" / "shop.py"
        program.write_text(PROGRAM.format(session=session))
        shop.parent.mkdir()
        shop.write_text(SHOP)
        environment = os.environ | {"SHOP_TOKEN": CANARY, "KCONNECT_PLUGINS": str(shop.parent)}
        environment |= {"PYTHONPATH": str(REPOSITORY), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout + ran.stderr

    return run


READ = f"read {[(n, len(CANARY)) for n in range(3)]}\nread [Row(n=7)]"


def test_its_sources_are_read_and_its_secret_is_nowhere(output_of: Callable[[str], str], tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
    }
    session = "".join(f".config('{key}', '{value}')" for key, value in settings.items())
    output = output_of(f"master('local[2]').config('spark.ui.enabled', 'false'){session}")
    log = "".join(path.read_text() for path in events.rglob("events_*"))
    assert READ in output
    assert "SparkListenerSQLExecutionStart" in log
    assert CANARY not in log + output


def test_its_sources_are_read_by_a_server_of_spark_connect(output_of: Callable[[str], str]) -> None:
    output = output_of("remote('local[2]').config('spark.ui.enabled', 'false')")
    assert READ in output
    assert CANARY not in output
