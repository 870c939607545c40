"""Environments of Python programs below the cache: each program has one of its own, with its requirements."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.programs.inherited import inherited_variables
from airflow_kconnect.machine.cache import CURE, cache_folder
from airflow_kconnect.machine.errors import readable_os_errors
from airflow_kconnect.machine.file_lock import locked
from airflow_kconnect.variables.secret_keys import passwords_in

log = logging.getLogger("kconnect.source")

_RECORD = ".complete.json"
_SAY_EVERY_S = 5.0
_READ = ("-r", "/dev/stdin")
_LICENCE = "License :: "
_CAUSES = re.compile(r"(?i)error|no matching|no solution|cause:|could not")


@dataclass(frozen=True)
class Installed:
    """A program in its environment.

    :param command: what starts it. :param name: of its package. :param licence: as its package says it.
    """

    command: tuple[str, ...]
    name: str
    version: str
    licence: str


def requirement_problem(text: str) -> str | None:
    """What is wrong with a requirement, such as `tap-github==4.0.0`; None: nothing."""
    try:
        Requirement(text)
    except InvalidRequirement as error:
        return f"`{text}` is not a requirement such as `name==1.2`: {str(error).splitlines()[0]}"
    return None


def package_of(requirement: str) -> str:
    """The name of the package that a requirement is about, in its normal form."""
    return str(canonicalize_name(Requirement(requirement).name))


def installed(requirements: Sequence[str], *, executable: str | None, key: str) -> Installed:
    """The program of the first requirement; installs it, if that was not done before.

    Safe to call from several processes at once: one installs, the others wait. What is there is complete: it has a
    record, which is written last and compared with what is in the folder.

    :param requirements: of the package, and of others that are to be in the same environment.
    :param executable: which of its programs; None: the one of its name, or its only one.
    :param key: which errors are about.
    :raises ConfigError: there is no such package, or no such program in it.
    :raises RetriableError: it could not be fetched, or the disk is full.
    """
    cache, name = cache_folder(), package_of(requirements[0])
    folder = cache / "programs" / _folder_name(requirements)
    with readable_os_errors(cache, CURE):
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f"{folder.name}.lock")
        with locked(lock, lambda: log.info("waiting for another process that is installing %s", name)):
            if not _is_complete(folder):
                _install(folder, requirements)
    return _program(folder, name, executable, key)


def _folder_name(requirements: Sequence[str]) -> str:
    wanted = "\n".join([sys.version, *requirements])
    return f"{package_of(requirements[0])}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"


def _is_complete(folder: Path) -> bool:
    """Whether all is there that was installed. Something may have removed a part: the cache is a cache."""
    try:
        record = json.loads((folder / _RECORD).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not (folder / "bin" / "python").exists():  # of a Python that is no longer there
        return False
    return bool(record.get("packages") == _packages(folder)) and all(
        _digest(folder / "bin" / name) == digest for name, digest in record["programs"].items()
    )


def _install(folder: Path, requirements: Sequence[str]) -> None:
    """Not next to the folder: the programs of an environment know where it is."""
    if folder.exists():
        shutil.rmtree(folder)
    name = package_of(requirements[0])
    log.info("installing %s into %s", _without_passwords(", ".join(requirements)), folder)
    began_s = time.monotonic()
    try:
        for step in _steps(folder):
            _run(step, name, "\n".join(requirements))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    programs = {path.name: _digest(path) for path in (folder / "bin").iterdir() if not path.is_symlink()}
    record = folder / f"{_RECORD}.part"
    record.write_text(json.dumps({"packages": _packages(folder), "programs": programs}), "utf-8")
    record.rename(folder / _RECORD)
    found = _distribution(folder, name)
    version = "" if found is None else f" {found.version}"
    licence = "not stated" if found is None else _licence(found)
    log.info("installed %s%s in %.0f s; its licence: %s", name, version, time.monotonic() - began_s, licence)


def _steps(folder: Path) -> list[list[str]]:
    """The commands that make an environment: uv is quickest, and a pip that is there need not be installed again. They
    read the requirements from their input: an address may have a login.
    """
    python, this = str(folder / "bin" / "python"), sys.executable
    if uv := shutil.which("uv"):
        return [
            [uv, "venv", "--python", this, str(folder)],
            [uv, "pip", "install", "--python", python, *_READ],
        ]
    options = ["--disable-pip-version-check", "--no-input"]
    # Not by `find_spec`: setuptools, if it is imported afterwards, would take that for pip's own import, and fail.
    if any(distributions(name="pip")):
        return [
            [this, "-m", "venv", "--without-pip", str(folder)],
            [this, "-m", "pip", "--python", python, "install", *options, *_READ],
        ]
    return [[this, "-m", "venv", str(folder)], [python, "-m", "pip", "install", *options, *_READ]]


def _run(command: list[str], name: str, requirements: str) -> None:
    """Run a step of an installation; its lines are its progress."""
    said: list[str] = []
    last_s = time.monotonic()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=inherited_variables(),  # what builds a package is code of that package
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # a step need not read them
            process.stdin.write(requirements)
            process.stdin.close()
        for line in map(str.strip, process.stdout):
            if not line:
                continue
            said.append(_without_passwords(line))
            if time.monotonic() - last_s >= _SAY_EVERY_S:
                log.info("installing %s: %s", name, said[-1])
                last_s = time.monotonic()
    if process.returncode != 0:
        causes = [line for line in said if _CAUSES.search(line)] or said[-1:]
        raise RetriableError(
            f"{name} cannot be installed: {' '.join(causes)[:1000] or 'the installer has not said why'}. Check the"
            " requirement, the network, and the settings of pip or uv"
        )


def _without_passwords(text: str) -> str:
    for password in list(passwords_in(text)):
        text = text.replace(password, "...")
    return text


def _program(folder: Path, name: str, executable: str | None, key: str) -> Installed:
    found = _distribution(folder, name)
    if found is None:
        raise ConfigError({key: [f"the package {name} was not among what was installed for it"]})
    own = sorted({point.name for point in found.entry_points if point.group == "console_scripts"})
    wanted = executable or next((each for each in own if each == name), own[0] if len(own) == 1 else None)
    if wanted is None or not (folder / "bin" / wanted).is_file():
        has = ", ".join(own) or "none"
        missing = f"has no program {executable}" if executable else "does not say which of its programs to start"
        raise ConfigError({key: [f"the package {name} {missing}; it has {has}"]})
    # By the interpreter: the first line of a program may be too long for some systems.
    command = (str(folder / "bin" / "python"), str(folder / "bin" / wanted))
    return Installed(command, name, found.version, _licence(found))


def _distributions(folder: Path) -> Iterator[Distribution]:
    yield from distributions(path=[str(path) for path in folder.glob("lib/python*/site-packages")])


def _distribution(folder: Path, name: str) -> Distribution | None:
    return next((each for each in _distributions(folder) if canonicalize_name(each.name) == name), None)


def _packages(folder: Path) -> dict[str, str]:
    """What is installed: names and versions."""
    return {str(canonicalize_name(each.name)): each.version for each in _distributions(folder)}


def _digest(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _licence(found: Distribution) -> str:
    metadata: Any = found.metadata
    stated = metadata.get("License-Expression") or metadata.get("License") or ""
    classifiers = [each for each in metadata.get_all("Classifier") or () if each.startswith(_LICENCE)]
    short = stated.strip().splitlines()[0] if stated.strip() else ""
    return short or ", ".join(each.rpartition(" :: ")[2] for each in classifiers) or "not stated"
