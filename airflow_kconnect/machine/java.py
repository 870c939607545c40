"""Finds the Java that runs Spark and the embedded broker, and says what to do if there is no suitable one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from airflow_kconnect.machine.environment import child_environment
from airflow_kconnect.machine.errors import SetupError

MIN_VERSION = 17
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_CURE = f"Install a JRE {MIN_VERSION} or newer, and set JAVA_HOME to its folder or put `java` on PATH."


@dataclass(frozen=True)
class Java:
    """A Java launcher and the version it reported.

    :param path: the `java` program.
    :param version: feature version, for example 17.
    """

    path: Path
    version: int


def find_java(env: Mapping[str, str] | None = None) -> Java:
    """Find Java 17 or newer: the one of `JAVA_HOME` if that is set, otherwise the first on `PATH`.

    :param env: the environment to search; None means that of this process.
    :raises SetupError: there is no Java, or it is too old; the text says what was found and what to install.
    """
    env = os.environ if env is None else env
    path = _java_path(env)
    version = _version_of(path, path.stat().st_mtime_ns)
    if version < MIN_VERSION:
        raise SetupError(
            f"Java {version} was found at {path}, but Spark and Kafka need {MIN_VERSION} or newer. {_CURE}"
        )
    return Java(path, version)


def java_environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment in which Java can open files with any characters in their names: not the locale `C`, which is
    ASCII. Airflow's settings are not in it.

    :param env: the environment to start from; None means that of this process.
    """
    env = child_environment(env)
    # The first of them that is set wins.
    name = next((name for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), "LC_CTYPE")
    if env.get(name, "C") in ("C", "POSIX"):
        return {**env, ("LC_ALL" if name == "LC_ALL" else "LC_CTYPE"): "C.UTF-8"}
    return env


def _java_path(env: Mapping[str, str]) -> Path:
    home = env.get("JAVA_HOME")
    if home:
        program = shutil.which(str(Path(home) / "bin" / "java"))
        if program is None:
            raise SetupError(f"JAVA_HOME is set to {home}, but there is no program {home}/bin/java. {_CURE}")
        return Path(program)
    program = shutil.which("java", path=env.get("PATH", ""))
    if program is None:
        raise SetupError(f"No Java was found: JAVA_HOME is not set and `java` is not on PATH. {_CURE}")
    return Path(program)


@lru_cache
def _version_of(java: Path, _changed_ns: int) -> int:
    """Asked once of each program, since that takes as long as to start a JVM; again when it was replaced."""
    try:
        completed = subprocess.run(
            [java, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            env=child_environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{java} does not run: {error}. {_CURE}") from error
    output = completed.stderr + completed.stdout
    match = _VERSION.search(output)
    if completed.returncode != 0 or match is None:
        first_line = (output.strip().splitlines() or ["it printed nothing"])[0]
        raise SetupError(f"{java} -version failed (exit code {completed.returncode}): {first_line}. {_CURE}")
    major, minor = match.groups()
    # Up to Java 8 the version was written as 1.8.0_392.
    return int(minor) if major == "1" and minor else int(major)
