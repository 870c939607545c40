"""Checks of this machine: Python and packages, Java, Spark, folders."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from airflow_kconnect.doctor.findings import Checks, Finding, ok, problem, warning
from airflow_kconnect.doctor.subject import Subject
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.submit.class_archive import class_archive
from airflow_kconnect.submit.spark import SUPPORTED, find_spark_submit, jars_version

_PACKAGE = "airflow-kconnect"
_LEAST_FREE_BYTES = 1_000_000_000


def register(checks: Checks) -> None:
    """Add the checks of this module."""
    checks.add("Python")(_python)
    checks.add("Packages")(_packages)
    checks.add("Java")(_java)
    checks.add("Spark")(_spark)
    checks.add("Cache folder")(lambda subject: _folder(cache_folder(), "KCONNECT_CACHE"))
    checks.add("Temporary folder")(lambda subject: _folder(Path(tempfile.gettempdir()), "TMPDIR"))


def _python(_: Subject) -> Iterator[Finding]:
    yield ok(f"{platform.python_version()}, airflow-kconnect {version(_PACKAGE)}")


def _packages(_: Subject) -> Iterator[Finding]:
    """Installed packages do not always match this package's requirements: constraints and images have their own
    versions.
    """
    from packaging.requirements import Requirement

    wrong, satisfied = [], []
    for text in requires(_PACKAGE) or ():
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(requirement.name)
        except PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if requirement.specifier.contains(installed, prereleases=True):
            satisfied.append(f"{requirement.name} {installed}")
        else:
            wrong.append(f"{requirement.name} is {installed}, needed is {requirement.specifier}")
    if wrong:
        yield problem("; ".join(wrong), f"Install {_PACKAGE} again: pip install '{_PACKAGE}[spark,jdbc]'.")
    else:
        yield ok(", ".join(satisfied))


def _java(_: Subject) -> Iterator[Finding]:
    java = find_java()
    where = "JAVA_HOME" if os.environ.get("JAVA_HOME") else "PATH"
    yield ok(f"Java {java.version} at {java.path} (by {where})")


def _spark(_: Subject) -> Iterator[Finding]:
    spark = find_spark_submit()
    spark_version = jars_version(spark.program.resolve().parents[1])
    if spark_version is None:
        yield warning(f"the version of {spark.program} cannot be seen", f"Jobs need Spark {' or '.join(SUPPORTED)}.")
    else:
        yield ok(f"Spark {spark_version}, {spark.program}")
    if spark.pyspark is not None:
        archive = class_archive(spark)
        yield ok(
            f"Java's archive of Spark's classes is {archive}"
            if archive
            else "`kconnect spark archive` would let runs on a local master start some seconds sooner"
        )


def _folder(folder: Path, variable: str) -> Iterator[Finding]:
    """Whether a folder, or the one in which it would be created, is writable and has enough space."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield problem(f"{folder} cannot be written", f"Make it writable, or set {variable} to another folder.")
        return
    free = shutil.disk_usage(existing).free
    text = f"{folder}, {free / 1e9:.1f} GB free"
    if free < _LEAST_FREE_BYTES:
        yield warning(text, f"Free some space, or set {variable} to a folder on another disk.")
    else:
        yield ok(text)
