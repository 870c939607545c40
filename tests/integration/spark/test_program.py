"""A program of a user, with a session of its own: its function reaches the tasks, and no secret reaches Spark's log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.pages.markdown import REPOSITORY
from tests.support.variables import CANARY

PROGRAM = """
from airflow_kconnect.machine.spark_home import use_whole_pyspark
use_whole_pyspark()
import sys
from pyspark.sql import SparkSession
from airflow_kconnect.sdk import Password, source
from airflow_kconnect.spark import register

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.eventLog.enabled", "true")
spark = builder.config("spark.eventLog.compress", "false").config("spark.eventLog.dir", sys.argv[1]).getOrCreate()

@source
def orders(token: Password):
    for n in range(3):
        yield {"n": n, "length": len(token.value)}

register(spark, orders)
reader = spark.read.format("kconnect").option("connector.class", "orders")
df = reader.option("token", "${env:SHOP_TOKEN}").load()
df.explain("extended")
print("read", [tuple(row) for row in df.collect()])
spark.stop()
"""


def test_a_programs_function_is_read_and_its_secret_is_nowhere(tmp_path: Path) -> None:
    program, events = tmp_path / "program.py", tmp_path / "events"
    program.write_text(PROGRAM)
    events.mkdir()
    environment = os.environ | {"SHOP_TOKEN": CANARY, "PYTHONPATH": str(REPOSITORY), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {"PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, str(program), events.as_uri()]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert f"read {[(n, len(CANARY)) for n in range(3)]}" in ran.stdout, ran.stderr
    log = "".join(path.read_text() for path in events.rglob("events_*"))
    assert "SparkListenerSQLExecutionStart" in log
    assert CANARY not in log + ran.stdout + ran.stderr
