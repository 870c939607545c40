"""Installs Spark into the cache, for users who keep it out of Airflow's Python environment."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.machine.cache import CURE
from airflow_kconnect.machine.environment import child_environment
from airflow_kconnect.machine.errors import SetupError, readable_os_errors
from airflow_kconnect.machine.spark_home import install_folder, installed_spark

_OF_EXTRA = re.compile(r"extra\s*==\s*['\"]spark['\"]")


def requirements() -> list[str]:
    """What the extra `spark` installs."""
    parts = [required.partition(";") for required in requires("airflow-kconnect") or []]
    return [name.strip() for name, _, marker in parts if _OF_EXTRA.search(marker)]


def install_spark() -> Path:
    """Have pip install PySpark and what else jobs need; returns Spark's folder. pip's output goes to the terminal.

    Written next to its final location and then renamed: a Spark that is found is complete.

    :raises SetupError: there is neither pip nor uv, or the cache is not writable. :raises RetriableError: pip failed.
    """
    folder = install_folder()
    part = folder.with_name(f"{folder.name}.part")
    with readable_os_errors(part, CURE):
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
    try:
        command = [*_installer(), "--target", str(part), *requirements()]
        done = subprocess.run(command, env=child_environment(), check=False)
        if done.returncode != 0:
            failed = f"`{' '.join(command)}` has failed"
            raise RetriableError(f"Cannot install Spark into {folder}: {failed}, and says why above.")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    home = installed_spark()
    if home is None:
        raise SetupError(f"{folder / 'pyspark'} has no jars: the installed package is incomplete. Run this again.")
    return home


def _installer() -> list[str]:
    """The command that installs packages for this Python, without its target and the packages."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "install"]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    raise SetupError(f"{sys.executable} has no pip, and `uv` is not on PATH: install one of them.")
