"""The Python file of a job on Databricks: ``databricks_job.py --py-files <addresses> --run <mailbox>``.

Databricks runs it in a Python in which Spark has started, as if its text were typed there.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    spark = SparkSession.builder.getOrCreate()
    for file in sys.argv[2].split(","):
        spark.sparkContext.addPyFile(file)  # this package is among them

    from airflow_kconnect.runtime.job import main

    if exit_code := main(sys.argv[3:], spark):
        # Not sys.exit: to such a Python it is a failure whatever the code is.
        raise RuntimeError(f"the job has ended with exit code {exit_code}; its error is in the log, and in Airflow")
