"""Sources that a session was given, in addition to those that are installed. They are pickled with the data source."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.source import SourceConnector
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import CONNECTORS, PluginEntryPoint, registry
from airflow_kconnect.validation.connector import load_connector_file


@dataclass(frozen=True)
class GivenClass:
    """A class that no other process can find by its name, as one of a notebook: it is pickled itself."""

    name: str
    plugin: type[SourceConnector]

    @property
    def value(self) -> str:
        return f"{self.plugin.__module__}:{self.plugin.__qualname__}"

    def load(self) -> Any:
        return self.plugin

    def entry_points(self) -> Iterator[tuple[str, PluginEntryPoint]]:
        yield CONNECTORS, self


@dataclass(frozen=True)
class Registered:
    """What `register` was given, by all calls.

    :param plugins: by name of the class, or path of the file. :param worker: variables not resolved.
    """

    plugins: Mapping[str, GivenClass | PluginFile] = field(default_factory=dict)
    worker: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def found(self) -> AbstractContextManager[None]:
        """A block in which this process finds the plug-ins. Spark may use it for other sessions later."""
        return registry().having(self.plugins.values())


_registered = Registered()


def registered(plugins: Iterable[Any], worker: Mapping[str, Any] | str | Path | None) -> Registered:
    """What was given before and now. See `airflow_kconnect.spark.register`."""
    global _registered
    new = dict(map(_named, plugins))
    known = {name: plugin for name, plugin in _registered.plugins.items() if name not in new} | new  # the last one wins
    if isinstance(worker, str | Path):
        worker = load_connector_file(worker)
    _registered = Registered(known, _registered.worker if worker is None else dict(worker))
    return _registered


def _named(plugin: Any) -> tuple[str, GivenClass | PluginFile]:
    if isinstance(plugin, str | Path):
        file = PluginFile.read(Path(plugin))
        _ = file.plugins  # it is Python
        return file.path, file
    found = getattr(plugin, "plugin_class", plugin)
    if not (isinstance(found, type) and issubclass(found, SourceConnector)):
        raise TypeError(f"{plugin!r} is not a source: register a function with @source, a connector class, or a file")
    if _is_file_of_its_own(plugin):
        return _named(inspect.getfile(plugin))
    name = plugin.__name__ if plugin.__module__ == "__main__" else f"{plugin.__module__}.{plugin.__name__}"
    return name, GivenClass(name, found)


def _is_file_of_its_own(plugin: Any) -> bool:
    """Whether it is in a module without a package, which executors do not have, and at the top of it."""
    return plugin.__module__ != "__main__" and "." not in plugin.__module__ and "." not in plugin.__qualname__
