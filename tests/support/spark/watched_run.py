"""A run with Spark's pages and event log on, in a process of its own: `python -m tests.support.spark.watched_run FILE`.

The file has a connector, a worker and a folder for the event log, as JSON. The report and the texts of Spark's pages
after the run are written to standard output.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession

from airflow_kconnect.converters.types import SESSION_CONF
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.runtime.process.session import START_CONF
from airflow_kconnect.submit.spark import find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.variables.secret_keys import SECRET_KEYS


def main(file: Path) -> None:
    """Run, look at the pages, end."""
    task = json.loads(file.read_text())
    config = task["config"]
    builder = SparkSession.builder.master("local[2]")
    conf = {
        **START_CONF,
        **SESSION_CONF,
        "spark.driver.host": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": task["events"],
        "spark.redaction.regex": SECRET_KEYS,
        "spark.sql.shuffle.partitions": "2",
    }
    for key, value in with_needs(conf, [config], find_spark_submit()).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    try:
        report = run(RunSpec(config, task["worker"]), spark)
        print(json.dumps(report.as_dict()))
        application = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}"
        for page in ("environment", "sql?details=true&planDescription=true", "jobs", "stages"):
            print(urllib.request.urlopen(f"{application}/{page}", timeout=30).read().decode())
        for page in ("environment/", "SQL/", "jobs/"):
            print(urllib.request.urlopen(f"{spark.sparkContext.uiWebUrl}/{page}", timeout=30).read().decode())
        print("the pages are whole")
    finally:
        spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
