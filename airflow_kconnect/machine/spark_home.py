"""Where Spark is, and where its PySpark is imported from: determined from files, without importing PySpark."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.errors import SetupError

ARCHIVE = Path("python", "lib", "pyspark.zip")
"""PySpark's Python files, in Spark's folder: the ones jobs import, since Spark puts them first on their path."""

_VERSION_FILE = "pyspark/version.py"
# Not all of PySpark's packages contain them.
_NOT_INSTALLED = ("/tests/", "/benchmark/")


def spark_home() -> Path | None:
    """Spark's folder, with `bin` and `jars`; None if there is none.

    `SPARK_HOME` if it is set, as in each job; else that of this Python's PySpark, including one imported from a
    `pyspark.zip`; else the one that `kconnect spark install` has put into the cache.
    """
    setting = os.environ.get("SPARK_HOME")
    if setting:
        return Path(setting)
    return next((home for home in (_of_this_python(), installed_spark()) if home is not None), None)


def _of_this_python() -> Path | None:
    spec = importlib.util.find_spec("pyspark")
    # There is no `origin` if an uninstalled pyspark-client has removed __init__.py.
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location)
        archive = folder.parent
        candidates = (archive.parents[2],) if archive.is_file() else (folder, folder.parents[1])
        for home in candidates:
            if (home / "jars").is_dir():
                return home
    return None


def install_folder() -> Path:
    """Where `kconnect spark install` puts PySpark and its requirements: a folder for `PYTHONPATH`."""
    return cache_folder() / "spark" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def installed_spark() -> Path | None:
    """The Spark that `kconnect spark install` has put into the cache for this Python."""
    home = install_folder() / "pyspark"
    return home if (home / "jars").is_dir() else None


def python_path(home: Path) -> list[str]:
    """What to put first on the Python path to use a Spark's own PySpark, whatever is in `site-packages`."""
    own = [str(home.parent)] if home == installed_spark() else []
    return [str(home / ARCHIVE), *map(str, sorted((home / ARCHIVE).parent.glob("py4j-*-src.zip"))), *own]


def use_whole_pyspark() -> None:
    """Make this process import PySpark from Spark's own archive if other packages have changed the installed files.

    `pyspark-client`, which Airflow's Spark provider depends on, installs its files over those of `pyspark`.

    Does nothing if PySpark has already been imported.
    """
    home = spark_home()
    archives = python_path(home) if home is not None else []
    if home is None or "pyspark" in sys.modules or archives[0] in sys.path or _is_intact(home, sys.path):
        return
    sys.path[:0] = archives
    importlib.invalidate_caches()
    os.environ.setdefault("SPARK_HOME", str(home))


def use_unpacked_pyspark(*, unpack: bool) -> None:
    """Make a job import PySpark from a copy of Spark's archive in the cache.

    Python keeps the copy compiled. It would compile files imported from the archive itself in each process.

    :param unpack: create the copy if there is none; else the archive is used.
    """
    home = spark_home()
    if home is None or "pyspark" in sys.modules:
        return
    entries = [Path(entry) == home / ARCHIVE for entry in sys.path]
    if any(entries) and (folder := _unpacked(home / ARCHIVE, unpack=unpack)) is not None:
        # Before the archive, not replacing it: it is still there if the copy cannot be read.
        sys.path.insert(entries.index(True), str(folder))


def _unpacked(archive: Path, *, unpack: bool) -> Path | None:
    """The copy; None if there is none, or it cannot be created. It gets its name once it is complete."""
    try:
        facts = archive.stat()
        folder = cache_folder() / "pyspark" / f"{facts.st_size:x}-{facts.st_mtime_ns:x}"
        if unpack and not folder.is_dir():
            _unpack(archive, folder)
        return folder if os.access(folder, os.R_OK | os.X_OK) else None
    except (OSError, SetupError):
        return None


def _unpack(archive: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as work, zipfile.ZipFile(archive) as files:
        part = Path(work) / folder.name
        files.extractall(part, [name for name in files.namelist() if "/tests/" not in name])
        with contextlib.suppress(OSError):  # another job was faster
            part.rename(folder)


def _is_intact(home: Path, path: Sequence[str]) -> bool:
    """Whether a Python path finds the files next to Spark's jars, unchanged from those in its archive."""
    spec = PathFinder.find_spec("pyspark", path)
    package_folder = next(iter((spec and spec.submodule_search_locations) or []), None)
    if package_folder is None or Path(package_folder).resolve() != home.resolve():
        return False
    with zipfile.ZipFile(home / ARCHIVE) as archive:
        # Comparing sizes is enough, except for the file that contains the version.
        return archive.read(_VERSION_FILE) == _content(home.parent / _VERSION_FILE) and all(
            _size(home.parent / info.filename) == info.file_size
            for info in archive.infolist()
            if info.filename.endswith(".py") and not any(part in info.filename for part in _NOT_INSTALLED)
        )


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
