"""A class-data archive for the JVM of jobs on this machine: Spark's classes are loaded and verified once, not at each
start.

It is created on request (`python -m airflow_kconnect.submit.class_archive`) and used if it exists. Jobs do not create
it on the side, since the JVM writes it at its end, which would delay the first job.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
from pathlib import Path

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit, job_path

log = logging.getLogger(__name__)

# A JVM that cannot use the archive silently runs without it.
_JOB = "class_archive_job.py"
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def class_archive_options(java: Java, pyspark: Path) -> list[str]:
    """Java options that use the archive for this Java and this PySpark; none if it has not been created."""
    archive = _archive(java, pyspark)
    return [*_SILENT, f"-XX:SharedArchiveFile={archive}"] if archive.is_file() else []


def java_option(option: str) -> str:
    """An option as it is written among others in Spark's configuration: in quotes if it contains blanks."""
    return f'"{option}"' if " " in option else option


def make_class_archive(spark: SparkSubmit, *, timeout_s: float = 300.0) -> Path | None:
    """Create the archive by running a small job, unless it exists; None if it cannot be created."""
    if spark.pyspark is None:
        return None
    archive = _archive(spark.java, spark.pyspark)
    if archive.is_file():
        return archive
    try:
        return _make(spark, archive, timeout_s)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("No class-data archive: %s", error)
        return None


def _make(spark: SparkSubmit, archive: Path, timeout_s: float) -> Path | None:
    """Written next to its final location and then renamed: an archive that exists is complete."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_name(f"{archive.name}.{os.getpid()}")
    # The optimising compiler would take as much CPU as all the rest, for a job of seconds.
    options = " ".join([*_SILENT, "-XX:TieredStopAtLevel=1", java_option(f"-XX:ArchiveClassesAtExit={part}")])
    command = [str(spark.program), "--master", "local[2]", *_conf(options), str(job_path(_JOB))]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False)
        if ran.returncode != 0 or not part.is_file():
            last = (ran.stderr.strip().splitlines() or ["spark-submit said nothing"])[-1]
            log.warning("No class-data archive: exit code %s: %s", ran.returncode, last)
            return None
        return part.rename(archive)
    finally:
        part.unlink(missing_ok=True)


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


def main() -> int:
    """Create the archive and say so: it takes some time, and nothing depends on it. Returns an exit code."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    log.info("Preparing Spark's classes for Java, so that each job starts sooner: about 30 s and 160 MB in the cache.")
    log.info("Nothing depends on it: Ctrl-C skips it; after that, run an interrupted `make` again.")
    try:
        archive = make_class_archive(find_spark_submit())
    except KeyboardInterrupt:
        log.info("Skipped.")
        return 0
    except ConnectError as error:
        log.warning("No class-data archive: %s", error)
        return 1
    if archive is not None:
        log.info("Class-data archive: %s", archive)
    return 0 if archive is not None else 1


if __name__ == "__main__":
    sys.exit(main())
