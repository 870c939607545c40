"""The installed Spark: the location of spark-submit, its version, which Java it needs, which job it runs.

Nothing here imports PySpark: its files are inspected, which is all that a scheduler or a worker needs.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java, find_java
from airflow_kconnect.machine.spark_home import ARCHIVE, spark_home

SUPPORTED = ("4.0", "4.1", "4.2", "4.3")
"""The feature releases of Spark that jobs run on, in ascending order."""

_INSTALL = (
    "Install it (pip install 'airflow-kconnect[spark]', or `kconnect spark install` to keep it out of this Python)"
)
_JAR = re.compile(r"spark-core_[\d.]+-(.+)\.jar")
_RELEASE = re.compile(r"Spark (\S+)")
_VERSION = re.compile(r"__version__[^=]*=\s*['\"]([^'\"]+)")


@dataclass(frozen=True)
class SparkSubmit:
    """A spark-submit that is ready to be started.

    :param program: the script.
    :param java: the Java that it will run on.
    :param pyspark: PySpark's folder if the program belongs to a PySpark installed by pip, else None.
    :param home: the folder of its Spark; None if the program is a script that does not reveal it.
    """

    program: Path
    java: Java
    pyspark: Path | None
    home: Path | None = None

    @property
    def version(self) -> str:
        """That of its Spark, such as `4.1.4`; empty if it is not known."""
        return "" if self.home is None else jars_version(self.home) or ""


def find_spark_submit(name: str = "spark-submit") -> SparkSubmit:
    """Find spark-submit on PATH, under SPARK_HOME, in PySpark's folder or in the cache, and check its requirements.

    :param name: name of the program; some distributions have `spark3-submit`.
    :raises SetupError: there is no such program, no suitable Java, or this user has no name.
    :raises ConfigError: its Spark version is not supported, or its PySpark has a different version.
    """
    _check_user()
    home = spark_home()
    program = _spark_submit_path(name, home)
    if (used := _home_of(program)) is not None:
        check_spark(used)
    own = home if home is not None and program.is_relative_to(home) and not (home / "RELEASE").is_file() else None
    return SparkSubmit(program, find_java(), own, used)


def spark_version(name: str = "spark-submit") -> str:
    """Version of the Spark that `find_spark_submit` would find; empty if there is none, or it is not known."""
    try:
        home = _home_of(_spark_submit_path(name, spark_home()))
    except SetupError:
        return ""
    return "" if home is None else jars_version(home) or ""


def _check_user() -> None:
    """Containers can run with a user id that is not in the list of users: Java finds no name for it, and Spark ends."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError as error:
        raise SetupError(
            f"User id {os.getuid()} has no name on this machine, and Spark does not start without one. Add it to"
            f" /etc/passwd (spark:x:{os.getuid()}:0::/tmp:/bin/false) or run as a user that is in it."
        ) from error


def _spark_submit_path(name: str, home: Path | None) -> Path:
    scripts = Path(sys.executable).absolute().parent
    program = shutil.which(name)
    # pip's copy in the scripts folder is the same program as PySpark's, but starts a Python to find that folder.
    if program is not None and not Path(program).parent.samefile(scripts):
        return Path(program)
    if home is not None and (program := shutil.which(name, path=str(home / "bin"))) is not None:
        return Path(program)
    if setting := os.environ.get("SPARK_HOME"):
        raise SetupError(
            f"SPARK_HOME is set to {setting}, but {setting}/bin/{name} is not a program: correct it or unset it."
        )
    raise SetupError(
        f"`{name}` was not found: it is neither on PATH nor in {scripts}, and this Python has no PySpark."
        f" {_INSTALL} or put the `bin` folder of Spark on PATH."
    )


def check_pyspark() -> None:
    """:raises SetupError: this Python has no PySpark; pyspark-client is none."""
    if spark_home() is None:
        raise SetupError(f"This Python has no PySpark, which transforms the records. {_INSTALL}.")


def _home_of(program: Path) -> Path | None:
    """The Spark that a spark-submit starts; None if it is a script that does not reveal it."""
    if setting := os.environ.get("SPARK_HOME"):
        return Path(setting)
    home = program.resolve().parents[1]
    return home if (home / "jars").is_dir() or (home / "RELEASE").is_file() else None


def jars_version(home: Path) -> str | None:
    """Version of a Spark, by its jars or else by its RELEASE file; None if it has neither."""
    for jar in sorted((home / "jars").glob("spark-core_*.jar")):
        if match := _JAR.fullmatch(jar.name):
            return match[1]
    try:
        match = _RELEASE.match((home / "RELEASE").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return match[1] if match else None


def python_version(home: Path) -> str | None:
    """Version of the PySpark that jobs import: the one in `pyspark.zip`. None if there is none."""
    try:
        with zipfile.ZipFile(home / ARCHIVE) as archive:
            match = _VERSION.search(archive.read("pyspark/version.py").decode())
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    return match[1] if match else None


def check_spark(home: Path) -> None:
    """Check that a Spark is complete and has a supported version.

    Airflow's Spark provider depends on `pyspark-client`, which installs its Python files over those of `pyspark`. Jobs
    are not affected: they import PySpark from `pyspark.zip`, which only `pyspark` has.

    :raises SetupError: it has no jars. :raises ConfigError: its version is not supported, or its PySpark and its jars
        have different versions.
    """
    of_jars = jars_version(home)
    if of_jars is None:
        raise SetupError(
            f"{home} has no Spark jars: pip install 'airflow-kconnect[spark]', or set SPARK_HOME to the folder of a"
            f" Spark {_supported()}."
        )
    if not is_supported(of_jars):
        raise ConfigError(
            {
                "spark": [
                    f"{home} holds Spark {of_jars}; supported is Spark {_supported()}."
                    f" Install it (pip install 'airflow-kconnect[spark]') or set SPARK_HOME to the folder of one"
                ]
            }
        )
    of_python = python_version(home)
    if of_python != of_jars:
        raise ConfigError(
            {
                "pyspark": [
                    f"{home / ARCHIVE} is of version {of_python or 'unknown'}, and Spark's jars of version {of_jars}."
                    f" Run: pip install --force-reinstall --no-deps pyspark=={of_jars}"
                ]
            }
        )


def is_supported(version: str) -> bool:
    """Whether jobs run on this version of Spark: `4.3.1`, `4.3.0-SNAPSHOT`."""
    return re.split(r"[.-]", version)[:2] in [feature.split(".") for feature in SUPPORTED]


def _supported() -> str:
    return SUPPORTED[-1] if len(SUPPORTED) == 1 else f"{SUPPORTED[0]} to {SUPPORTED[-1]}"


def job_path(name: str = "connector_job.py") -> Path:
    """A spark-submit application: inside the package in a wheel, at the top of the repository otherwise.

    :raises SetupError: it is in neither location.
    """
    package = Path(__file__).parents[1]
    for folder in (package, package.parent):
        if (path := folder / "jobs" / name).is_file():
            return path
    raise SetupError(f"jobs/{name} is missing below {package}: install airflow-kconnect again.")
