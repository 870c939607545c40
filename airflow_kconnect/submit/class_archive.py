"""A class-data archive for the JVM of jobs on this machine: Spark's classes are loaded and verified once, not at each
start.

`kconnect spark archive` creates it, and jobs use it if it exists. Jobs do not create it on the side, since the JVM
writes it at its end, which would delay the first job.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.java import Java, java_environment
from airflow_kconnect.submit.spark import SparkSubmit, job_path

# A JVM that cannot use the archive silently runs without it.
_JOB = "class_archive_job.py"
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def class_archive(spark: SparkSubmit) -> Path | None:
    """The archive for this Java and this PySpark; None if it has not been created, or for another Spark."""
    if spark.pyspark is None:
        return None
    archive = _archive(spark.java, spark.pyspark)
    return archive if archive.is_file() else None


def class_archive_options(spark: SparkSubmit) -> list[str]:
    """Java options that use the archive, if it has been created."""
    archive = class_archive(spark)
    return [] if archive is None else [*_SILENT, f"-XX:SharedArchiveFile={archive}"]


def java_option(option: str) -> str:
    """An option as it is written among others in Spark's configuration: in quotes if it contains blanks."""
    return f'"{option}"' if " " in option else option


def make_class_archive(spark: SparkSubmit, *, timeout_s: float = 300.0) -> Path:
    """Create the archive by running a small job, unless it exists.

    :raises SetupError: it cannot be created. :raises RetriableError: the disk is full.
    """
    if spark.pyspark is None:
        raise SetupError(f"{spark.program} is not that of a PySpark package, the only one whose jobs use the archive")
    archive = _archive(spark.java, spark.pyspark)
    with readable_os_errors(archive.parent):
        return archive if archive.is_file() else _make(spark, archive, timeout_s)


def _make(spark: SparkSubmit, archive: Path, timeout_s: float) -> Path:
    """Written next to its final location and then renamed: an archive that exists is complete."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_name(f"{archive.name}.{os.getpid()}")
    # The optimising compiler would take as much CPU as all the rest, for a job of seconds.
    options = " ".join([*_SILENT, "-XX:TieredStopAtLevel=1", java_option(f"-XX:ArchiveClassesAtExit={part}")])
    command = [str(spark.program), "--master", "local[2]", *_conf(options), str(job_path(_JOB))]
    try:
        ran = _ran(command, timeout_s)
        if ran.returncode != 0 or not part.is_file():
            last = (ran.stderr.strip().splitlines() or ["spark-submit said nothing"])[-1]
            raise SetupError(f"The class archive was not created: exit code {ran.returncode} of spark-submit: {last}")
        return part.rename(archive)
    finally:
        part.unlink(missing_ok=True)


def _ran(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            env=java_environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"The class archive was not created within {timeout_s:.0f} s") from error
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be started: {error.strerror}") from error


def _conf(java_options: str) -> list[str]:
    conf = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java_options,
        "spark.driver.host": "127.0.0.1",
        "spark.pyspark.python": sys.executable,
        "spark.ui.enabled": "false",
    }
    return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]


def _archive(java: Java, pyspark: Path) -> Path:
    """The path in the user's cache; another JVM or PySpark gets a different one."""
    jars = pyspark / "jars"
    program = java.path.resolve()
    what = f"{program} {program.stat().st_mtime_ns} {jars} {jars.stat().st_mtime_ns}"
    return cache_folder() / "classes" / f"java{java.version}-{hashlib.sha256(what.encode()).hexdigest()[:12]}.jsa"
