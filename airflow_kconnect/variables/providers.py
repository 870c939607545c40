"""The config providers themselves: where the value of a variable is looked up (KIP-297, KIP-632, KIP-887)."""

from __future__ import annotations

import os
import re
import stat
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from airflow_kconnect.connect.config import java_pattern, java_trim, properties
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.environment import AIRFLOW_SETTINGS

MAX_BYTES = 1_000_000
"""Size limit of a file that a variable names, and of a value with its variables resolved."""


NEEDS_AIRFLOW = "needs Airflow, whose tasks look it up; elsewhere use ${file:...}, ${dir:...} or ${env:...}"


class ProviderProblem(Exception):
    """Why there is no value; the text is shown to users after the variable or the key and does not contain a value."""


class _Files:
    """Reads text files, only under certain paths if the worker says so."""

    def __init__(self, allowed: str | None) -> None:
        self._allowed = None if allowed is None else [_existing(java_trim(path)) for path in allowed.split(",")]

    def read(self, path: str) -> str:
        """Content of a file, which must be a regular file, not empty, not large, and UTF-8."""
        try:
            # Kafka compares the written path, so a symbolic link below an allowed path would lead out of it.
            real = Path(path).resolve()
            if self._allowed is not None and not any(real.is_relative_to(allowed) for allowed in self._allowed):
                raise ProviderProblem("is outside `allowed.paths` (symbolic links are followed)")
            content = _content(real)
        except OSError as error:
            raise ProviderProblem(f"cannot be read: {error.strerror or 'the file is not accessible'}") from None
        except (ValueError, RuntimeError):
            raise ProviderProblem("cannot be read: the path is not valid") from None
        return _text(content)


def _existing(path: str) -> Path:
    if not Path(path).is_absolute() or not Path(path).exists():
        raise ProviderProblem(f"Path '{printable(path)}' is not valid. The path should be absolute and exist")
    return Path(path).resolve()


def _content(path: Path) -> bytes:
    # Without O_NONBLOCK a named pipe would block the run; the path contains no symbolic links any more.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ProviderProblem("does not name a regular file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    finally:
        os.close(handle)


def _text(content: bytes) -> str:
    if not content:
        raise ProviderProblem("names an empty file")
    if len(content) > MAX_BYTES:
        raise ProviderProblem(f"names a file of more than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ProviderProblem("names a file that is not UTF-8 text")
    return text


class Provider(ABC):
    """Looks up values.

    :param setting: value of the provider's only parameter, None if it is not set.
    :raises ProviderProblem: the parameter is wrong.
    """

    parameter: ClassVar[str] = "allowed.paths"

    def __init__(self, setting: str | None) -> None:
        self._files = _Files(setting)

    @abstractmethod
    def get(self, path: str, key: str) -> str:
        """The value.

        :raises ProviderProblem: there is none.
        """


class FileConfigProvider(Provider):
    """`${file:/path:key}`: a key of a properties file. Each file is read once."""

    def __init__(self, setting: str | None) -> None:
        super().__init__(setting)
        self._read: dict[str, dict[str, str] | ProviderProblem] = {}

    def get(self, path: str, key: str) -> str:
        if path not in self._read:
            self._read[path] = self._properties(path)
        values = self._read[path]
        if isinstance(values, ProviderProblem):
            raise ProviderProblem(str(values))
        if key not in values:
            raise ProviderProblem("names a key that the file does not have")
        return values[key]

    def _properties(self, path: str) -> dict[str, str] | ProviderProblem:
        if not path:
            return ProviderProblem("has no path: write ${provider:/path/of/file.properties:key}")
        try:
            return properties.parse(self._files.read(path))
        except ProviderProblem as problem:
            return problem
        except ConfigError as error:
            return ProviderProblem(f"names a file that is not well-formed: {error.errors['properties'][0]}")


class DirectoryConfigProvider(Provider):
    """`${dir:/path:name}`: the whole content of a file in a directory, including a trailing newline."""

    def get(self, path: str, key: str) -> str:
        if not path:
            raise ProviderProblem("has no path: write ${provider:/path/of/directory:file}")
        if "/" in key or key in ("", ".", ".."):
            raise ProviderProblem("must name a file of the directory itself")
        return self._files.read(f"{path}/{key}")


class _ByPattern(Provider):
    """Restricted by a pattern that must match the whole name."""

    parameter = "allowlist.pattern"

    def __init__(self, setting: str | None) -> None:
        try:
            self._allowed = java_pattern(".*" if setting is None else setting)
        except re.error as error:
            raise ProviderProblem(f"is not a regular expression: {error}") from None

    def check(self, name: str) -> None:
        """:raises ProviderProblem: the worker forbids this name."""
        if not self._allowed.fullmatch(name):
            raise ProviderProblem("is not allowed by `allowlist.pattern`")


class EnvVarConfigProvider(_ByPattern):
    """`${env:NAME}`: an environment variable of the job."""

    def get(self, path: str, key: str) -> str:
        if path:
            raise ProviderProblem("has a path, which environment variables do not have: write ${provider:NAME}")
        self.check(key)
        if AIRFLOW_SETTINGS.fullmatch(key):
            cure = "use ${airflow:conn_id:field} or ${airflow-var:key}"
            raise ProviderProblem(f"names a variable of Airflow itself, which jobs do not get; {cure}")
        value = os.environ.get(key)
        if value is None:
            raise ProviderProblem("names an environment variable that is not set for the job")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ProviderProblem("names an environment variable that is not UTF-8 text") from None
        return value


class TaskConfigProvider(_ByPattern):
    """`${airflow:conn_id:field}` and `${airflow-var:key}`: values that an Airflow task has looked up before the job.

    The pattern applies to connection ids, or to the keys of variables.

    :param name: `airflow` or `airflow-var`.
    :param variables: value by `name:path:key`; None without Airflow.
    """

    def __init__(self, setting: str | None, name: str, variables: Mapping[str, str] | None = None) -> None:
        super().__init__(setting)
        self._name = name
        self._variables = variables

    def get(self, path: str, key: str) -> str:
        self.check(path or key)
        if self._variables is None:
            raise ProviderProblem(NEEDS_AIRFLOW)
        value = self._variables.get(f"{self._name}:{path}:{key}")
        if value is None:
            raise ProviderProblem("was not looked up before the job started")
        return value


CLASSES: dict[str, type[Provider]] = {
    provider.__name__: provider for provider in (FileConfigProvider, DirectoryConfigProvider, EnvVarConfigProvider)
}
DEFAULTS = {"file": "FileConfigProvider", "dir": "DirectoryConfigProvider", "env": "EnvVarConfigProvider"}
AIRFLOW_CONNECTION, AIRFLOW_VARIABLE = "airflow", "airflow-var"
IN_TASKS = (AIRFLOW_CONNECTION, AIRFLOW_VARIABLE)
"""Names of providers that only Airflow tasks have."""


def printable(text: str) -> str:
    """A text on a single line, shortened if necessary."""
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:200])
    return shown if len(text) <= 200 else f"{shown}..."
