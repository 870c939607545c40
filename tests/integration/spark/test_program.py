"""A program of a user, with a session of its own: its function reaches the tasks, and no secret reaches Spark's log."""

from __future__ import annotations

import os
import subprocess
import sys
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


@pytest.mark.parametrize(
    "session", ["remote", pytest.param("master", marks=pytest.mark.exhaustive)], ids=["Spark Connect", "of its own"]
)
def test_its_sources_are_read_and_its_secret_is_nowhere(session: str, tmp_path: Path) -> None:
    program, shop, events = tmp_path / "program.py", tmp_path / "plugins" / "shop.py", tmp_path / "events"
    settings = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
    }
    configured = "".join(f".config('{key}', '{value}')" for key, value in settings.items())
    program.write_text(PROGRAM.format(session=f"{session}('local[2]'){configured}"))
    for path in (events, shop.parent):
        path.mkdir()
    shop.write_text(SHOP)
    environment = os.environ | {"SHOP_TOKEN": CANARY, "KCONNECT_PLUGINS": str(shop.parent)}
    environment |= {"PYTHONPATH": str(REPOSITORY), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    log = "".join(path.read_text() for path in events.rglob("events_*"))
    assert f"read {[(n, len(CANARY)) for n in range(3)]}\nread [Row(n=7)]" in ran.stdout
    assert "SparkListenerSQLExecutionStart" in log
    assert CANARY not in log + ran.stdout + ran.stderr
