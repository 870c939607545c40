"""Executes a job's Python file as Databricks does: in a Python in which Spark has started, and which outlives the file.

A file that ends its Python has failed, and it does not know its own name. Imports nothing of this package or its tests:
what a job imports has come with it. The last line says from where.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def _execute(file: Path) -> None:
    SparkSession.builder.getOrCreate()
    try:
        exec(compile(file.read_bytes(), file, "exec"), {"__name__": "__main__"})  # noqa: S102  what it is for
    except SystemExit as error:
        raise RuntimeError("the file has ended its Python") from error
    sys.stdout.write(f"imported from {sys.modules['airflow_kconnect'].__file__}\n")


if __name__ == "__main__":
    del sys.argv[0]
    _execute(Path(sys.argv[0].removeprefix("file://")))
