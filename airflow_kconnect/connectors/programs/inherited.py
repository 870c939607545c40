"""The environment variables that a program inherits: those of the job without what belongs to others."""

from __future__ import annotations

import os
import re
from pathlib import Path

from airflow_kconnect.machine.environment import child_environment

# Spark passes secrets of its processes by them, and options of JVMs, in which passwords may be. `KCONNECT_` is what
# variables of connectors begin with where a worker allows `${env:...}` by a pattern.
_OF_OTHERS = re.compile(
    r"KCONNECT_.*|_?(PY)?SPARK_.*|PYTHON_WORKER_FACTORY_.*|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV", re.DOTALL
)


def inherited_variables(environment: Path | None = None) -> dict[str, str]:
    """What finds the machine, its proxies, certificates and logins of clouds stays; Airflow's settings, this package's,
    Spark's, and what would lead to the Python of the job do not.

    :param environment: the folder of the Python environment that the program is in, if it has one.
    """
    env = {name: text for name, text in child_environment().items() if not _OF_OTHERS.fullmatch(name)}
    if environment is not None:  # a program may start others of its environment by their names
        env["VIRTUAL_ENV"] = str(environment)
        env["PATH"] = os.pathsep.join(filter(None, [str(environment / "bin"), env.get("PATH")]))
    return env
