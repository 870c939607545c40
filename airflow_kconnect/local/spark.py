"""The Spark that is installed: where spark-submit is, which Java it needs, whether PySpark is whole, which job it runs.

Nothing here imports PySpark: its files are looked at, which is all that a scheduler or a worker needs.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.local.errors import SetupError
from airflow_kconnect.local.java import Java, find_java


@dataclass(frozen=True)
class SparkSubmit:
    """A spark-submit that is ready to be started.

    :param program: the script.
    :param java: the Java that it will run on.
    :param pyspark: PySpark's folder if the program is the one of this Python's PySpark, else None.
    """

    program: Path
    java: Java
    pyspark: Path | None


def find_spark_submit(name: str = "spark-submit") -> SparkSubmit:
    """Find spark-submit on PATH, beside this Python, or in PySpark's folder; and check what it needs.

    :param name: name of the program; some distributions have `spark3-submit`.
    :raises SetupError: there is no such program, or no Java that fits.
    :raises ConfigError: the installed PySpark is a mixture of two versions.
    """
    pyspark = _pyspark_folder()
    program = _spark_submit_path(name, pyspark)
    own = pyspark if pyspark is not None and program.is_relative_to(pyspark) else None
    if own is not None:
        check_pyspark(own)
    return SparkSubmit(program, find_java(), own)


def _spark_submit_path(name: str, pyspark: Path | None) -> Path:
    scripts = Path(sys.executable).parent
    found = shutil.which(name) or shutil.which(name, path=str(scripts))
    if pyspark is not None and (found is None or Path(found).parent == scripts):
        # pip's copy in the scripts folder is the same program, but starts a Python to find this folder.
        found = shutil.which(name, path=str(pyspark / "bin")) or found
    if found is None:
        raise SetupError(
            f"`{name}` was not found: it is neither on PATH nor in {scripts}, and this Python has no PySpark. "
            "Install it (pip install 'airflow-kconnect[spark]') or put the `bin` folder of Spark on PATH."
        )
    return Path(found)


def _pyspark_folder() -> Path | None:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def check_pyspark(folder: Path) -> None:
    """Check that PySpark's Python files and jars are of one version.

    The Spark provider of Airflow depends on `pyspark-client`, which installs into the same folder as `pyspark`:
    whichever pip unpacks last wins, file by file.

    :raises SetupError: there are no jars, only the client.
    :raises ConfigError: Python files and jars differ.
    """
    jars = sorted((folder / "jars").glob("spark-core_*.jar"))
    if not jars:
        raise SetupError(f"PySpark in {folder} has no Spark jars: pip install 'airflow-kconnect[spark]'.")
    of_jars = jars[-1].stem.partition("-core_")[2].partition("-")[2]
    match = re.search(r"__version__[^=]*=\s*['\"]([^'\"]+)", (folder / "version.py").read_text(encoding="utf-8"))
    of_python = match[1] if match else "unknown"
    if of_python != of_jars:
        raise ConfigError(
            {
                "pyspark": [
                    f"{folder} holds Python files of version {of_python} and jars of version {of_jars}, because "
                    "`pyspark-client` has overwritten `pyspark`. "
                    f"Run: pip install --force-reinstall --no-deps pyspark=={of_jars}"
                ]
            }
        )


def job_path(name: str = "connector_job.py") -> Path:
    """A spark-submit application of ours: in the package in a wheel, at the top of the repository.

    :raises SetupError: it is in neither place.
    """
    package = Path(__file__).parents[1]
    for folder in (package, package.parent):
        if (path := folder / "jobs" / name).is_file():
            return path
    raise SetupError(f"jobs/{name} is missing below {package}: install airflow-kconnect again.")
