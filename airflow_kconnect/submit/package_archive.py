"""This package as a zip file for Spark's executors: they run the driver's code, installed there or not."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

NAME = "airflow_kconnect.zip"
_PACKAGE = Path(__file__).parents[1]
_PYTHON_PATH = "spark.executorEnv.PYTHONPATH"
# The metadata by which connectors, converters and transformations are found by name.
_METADATA = ("METADATA", "entry_points.txt")


@contextmanager
def package_for(master: str) -> Iterator[Path | None]:
    """The archive if executors are on other machines than the driver; None on `local` masters."""
    if master.startswith("local"):
        yield None
        return
    with package_archive() as path:
        yield path


@contextmanager
def package_archive() -> Iterator[Path]:
    """Create the archive; removed when the block ends. The driver serves it to executors while the job runs."""
    with tempfile.TemporaryDirectory(prefix="kconnect-") as folder:
        path = Path(folder) / NAME
        path.write_bytes(_contents())
        yield path


def with_archive(conf: Mapping[str, str]) -> dict[str, str]:
    """Spark's configuration with the archive on the Python path of executors from the very start.

    `--py-files` alone takes effect too late for the daemon that forks Spark's workers, which is a module of this
    package. Spark downloads the archive into the working directory of executors.
    """
    return {**conf, _PYTHON_PATH: os.pathsep.join(filter(None, [NAME, conf.get(_PYTHON_PATH)]))}


@cache
def _contents() -> bytes:
    """Compressed once in a process, which has imported the package by then: that takes a fifth of a second."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sorted(_PACKAGE.rglob("*.py")):
            archive.write(file, file.relative_to(_PACKAGE.parent))
        for name, text in _metadata():
            # Without the time of now: the archive of an installation is always the same.
            archive.writestr(zipfile.ZipInfo(name), text)
    return buffer.getvalue()


def _metadata() -> Iterator[tuple[str, str]]:
    try:
        package = distribution("airflow-kconnect")
    except PackageNotFoundError:
        return
    for name in _METADATA:
        yield f"airflow_kconnect-{package.version}.dist-info/{name}", package.read_text(name) or ""
