"""The class that is tested: found by name or in a file, and made known to the jobs that run it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.functions.decorated import Decorated
from airflow_kconnect.plugins.registry import CONNECTORS, registry


def loaded(text: str, option: str) -> Any:
    """What `module:Name` or `file.py:Name` names. Its folder is on Python's path from now on.

    :param option: which argument says so, for errors.
    :raises ConfigError: it names nothing, or cannot be imported.
    """
    where, colon, name = text.rpartition(":")
    if not (colon and where and name.isidentifier()):
        raise ConfigError({option: [f"is {text!r}; expected module:Name or file.py:Name"]})
    file = Path(where)
    folder, module = (file.resolve().parent, file.stem) if where.endswith(".py") else (Path.cwd(), where)
    if where.endswith(".py") and not file.is_file():
        raise ConfigError({option: [f"names {file}, which is not a file"]})
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = importlib.import_module(module)
    except Exception as error:  # the file is the user's: whatever it raises, it cannot be imported
        raise ConfigError({option: [f"{where} cannot be imported: {in_one_line(error)}"]}) from error
    other = getattr(found, "__file__", None)
    if where.endswith(".py") and (other is None or Path(other).resolve() != file.resolve()):
        text = f"names {file}, but Python has another module {module}, {other or 'its own'}: rename the file"
        raise ConfigError({option: [text]})
    if not hasattr(found, name):
        raise ConfigError({option: [f"{where} has no {name}"]})
    return getattr(found, name)


@dataclass(frozen=True)
class Subject:
    """A connector class, and the name by which configurations find it.

    :param path: folders for `PYTHONPATH` of its jobs; empty if it is installed.
    """

    connector: type[Connector]
    name: str
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: str | type[Connector] | Decorated[..., Any], folder: Path) -> Subject:
        """An installed connector by its name, `module:Name`, `file.py:Name`, the class itself, or a decorated function.

        :param folder: gets what makes a class known that is not installed.
        :raises ConfigError: there is no such class, or it is not a connector.
        """
        if isinstance(given, str) and ":" not in given:
            return cls(registry().connector(given, key="CLASS"), given)
        found = loaded(given, "CLASS") if isinstance(given, str) else given
        found = getattr(found, "plugin_class", found)  # of a decorated function
        if not (isinstance(found, type) and issubclass(found, Connector)):
            raise ConfigError({"CLASS": [f"{given} is neither a connector class nor a decorated function"]})
        installed = registry().name_of(CONNECTORS, found)
        if registry().knows(CONNECTORS, installed):
            return cls(found, installed)
        return cls(found, installed, (str(_entry_point(found, installed, folder)), *_origin(found)))

    def environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of a job that finds the class."""
        path = os.pathsep.join(filter(None, (*self.path, environment.get("PYTHONPATH", ""))))
        return {**environment, "PYTHONPATH": path} if path else dict(environment)


def _entry_point(connector: type[Connector], name: str, folder: Path) -> Path:
    """A folder with the metadata of a package that has the class."""
    root = Path(tempfile.mkdtemp(dir=folder, prefix="plugin-"))
    metadata = root / "kconnect_conformance-0.dist-info"
    metadata.mkdir()
    metadata.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: kconnect-conformance\nVersion: 0\n")
    target = f"{connector.__module__}:{connector.__qualname__}"
    metadata.joinpath("entry_points.txt").write_text(f"[{CONNECTORS}]\n{name} = {target}\n")
    return root


def _origin(connector: type[Connector]) -> tuple[str, ...]:
    """The folder from which the class is imported."""
    file = getattr(sys.modules[connector.__module__], "__file__", None)
    if file is None:
        return ()
    above = connector.__module__.count(".") + (Path(file).name == "__init__.py")
    return (str(Path(file).resolve().parents[above]),)
