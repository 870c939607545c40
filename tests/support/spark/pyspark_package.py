"""A PySpark package that is only a folder, with scripts that stand for its spark-submit."""

from __future__ import annotations

import sys
from pathlib import Path

from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit.spark import SparkSubmit

# The archive goes where the Java options ask for it, in quotes if the path has blanks.
WRITES_ARCHIVE = f"""#!{sys.executable}
import pathlib, re, sys
options = " ".join(sys.argv)
path = re.search(r'"-XX:ArchiveClassesAtExit=([^"]+)"|-XX:ArchiveClassesAtExit=(\\S+)', options)
pathlib.Path(path[1] or path[2]).write_text("classes")
"""


def pyspark_package(folder: Path) -> SparkSubmit:
    """The spark-submit of a package in `folder`; it does not exist yet."""
    (folder / "jars").mkdir()
    (folder / "java").touch()
    return SparkSubmit(folder / "spark-submit", Java(folder / "java", 17), folder)


def write_program(spark: SparkSubmit, text: str) -> None:
    """Make a script its spark-submit."""
    spark.program.write_text(text)
    spark.program.chmod(0o755)
