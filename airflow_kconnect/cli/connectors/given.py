"""The configuration of the connector that a command names: that of a file, or the registered one of a name."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import resolved
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import CONNECTORS, registry
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import read_registered
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES
from airflow_kconnect.validation.dag_keys import GROUP_NAME

if TYPE_CHECKING:
    from airflow_kconnect.stores.config_topic.state import ConnectorState

_SUFFIXES = (".json", ".properties", *YAML_SUFFIXES)


@dataclass(frozen=True)
class Given:
    """A connector as a command was given it. Its repr shows no configuration: it may have secrets.

    :param config: flat, with its `name`; variables not resolved.
    :param worker: the worker's keys for its runs, variables not resolved.
    :param file: where the configuration was read; None if it is a registered one.
    """

    config: dict[str, Any]
    worker: dict[str, str]
    file: Path | None

    @property
    def origin(self) -> dict[str, str]:
        """Where its runs are started, and from which file; of a registered connector there is none."""
        of_file = {} if self.file is None else {"file": str(self.file.absolute())}
        return {**of_file, "host": socket.gethostname()}

    def __repr__(self) -> str:
        return f"Given({self.config.get('name')!r}, file={self.file})"


@dataclass(frozen=True)
class ManyGiven:
    """Connectors as a command was given them.

    :param found: in the order in which they are named.
    :param errors: of those that cannot be read or have no name, by what the command says of them.
    """

    found: list[Given] = field(default_factory=list)
    errors: dict[str, ConfigError] = field(default_factory=dict)


def given(connector: str, worker: Mapping[str, str]) -> Given:
    """What NAME|FILE means. A file that exists wins over a name.

    :param worker: the worker's keys, as they were written.
    :raises ConfigError: it is neither a file nor the name of a registered connector.
    :raises RetriableError: the broker is unavailable.
    """
    return _given(connector, worker, _Registered(worker))


def many_given(connectors: Iterable[str], worker: Mapping[str, str], group: str | None = None) -> ManyGiven:
    """What several NAME|FILE mean. The config topic is read once, if at all.

    :param worker: as for `given`.
    :param group: the registered connectors with this `kconnect.group`, too.
    :raises ConfigError: there are none. :raises RetriableError: the broker is unavailable.
    """
    registered, many = _Registered(worker), ManyGiven()
    of_group = [] if group is None else registered.of_group(group)
    for connector in dict.fromkeys([*connectors, *of_group]):
        try:
            each = _given(connector, worker, registered, is_name=connector in of_group)
            operations.connector_name(each.config)
        except ConfigError as error:
            many.errors[connector] = error
        else:
            many.found.append(each)
    return many


def _given(connector: str, worker: Mapping[str, str], registered: _Registered, *, is_name: bool = False) -> Given:
    if not is_name and (plugin := plugin_of(connector)) is not None:
        return Given(plugin_config(*plugin), dict(worker), plugin[0])
    name = connector if is_name else operations.registered_name(connector)
    if name is None:
        return Given(file_config(connector), dict(worker), Path(connector))
    return Given(registered.config(name), dict(worker), None)


def plugin_of(text: str) -> tuple[Path, str] | None:
    """FILE.py:NAME, a plug-in of a file, as its parts; None if the text is something else."""
    file, colon, name = text.rpartition(":")
    return (Path(file), name) if colon and file.endswith(".py") else None


def plugin_config(file: Path, name: str) -> dict[str, Any]:
    """The configuration that runs a plug-in of a file with its defaults, under its own name.

    :raises ConfigError: there is no such file, or no such plug-in in it.
    """
    plugin = PluginFile.read(file)
    connectors = [each for each, group in plugin.plugins.items() if group == CONNECTORS]
    if name not in connectors:
        has = (
            f"it has {', '.join(connectors)}"
            if connectors
            else "it has none: decorate a function with @source or @sink"
        )
        raise ConfigError({"plugin": [f"{file} has no connector {name}: {has}"]})
    registry().add(plugin)
    return {"name": name, "connector.class": f"{plugin.stem}.{name}"}


def file_config(file: str) -> dict[str, Any]:
    """The configuration in a file. :raises ConfigError: it cannot be read; there may be one of a similar name."""
    path = Path(file)
    if not path.exists():
        similar = get_close_matches(path.name, _files(path.parent), n=1)
        hint = f": did you mean `{path.with_name(similar[0])}`?" if similar else ""
        raise ConfigError({"connector": [f"there is no file {file}{hint}"]})
    return connector_config(path)


class _Registered:
    """The connectors of the config topic, which is read when it is first asked for. :param worker: as for `given`."""

    def __init__(self, worker: Mapping[str, str]) -> None:
        self._worker = worker

    def config(self, name: str) -> dict[str, Any]:
        """What is registered under a name. :raises ConfigError, RetriableError: as `given`."""
        if name in self._connectors:
            return {**self._connectors[name].texts, "name": name}
        raise ConfigError({"connector": [self._neither(name)]})

    def of_group(self, group: str) -> list[str]:
        """The names of those of a group. :raises ConfigError: there are none."""
        groups: dict[str, list[str]] = {}
        for name, each in self._connectors.items():
            groups.setdefault(each.texts.get(GROUP_NAME, "").strip(), []).append(name)
        if members := groups.get(group):
            return sorted(members)
        known = ", ".join(sorted(filter(None, groups))) or "none"
        raise ConfigError({"--group": [f"names no connector: none has `{GROUP_NAME}` {group}. Groups are: {known}"]})

    @cached_property
    def _connectors(self) -> Mapping[str, ConnectorState]:
        check_listening(self._worker)
        with resolved({}, self._worker) as (_, keys):
            return read_registered(keys).connectors

    @cached_property
    def _others(self) -> set[str]:
        with resolved({}, self._worker) as (_, keys):
            return operations.known_names(keys)

    @property
    def _servers(self) -> Any:
        with resolved({}, self._worker) as (_, keys):
            return keys.get("bootstrap.servers")

    def _neither(self, name: str) -> str:
        if name in self._others:
            return not_registered(name)
        meant = {Path(file).stem: file for file in _files(Path())}
        meant |= {each: each for each in (*self._others, *self._connectors)}
        similar = get_close_matches(name, meant, n=1)
        hint = "give the connector's file, or register it with `kconnect create FILE`"
        if similar:
            hint = f"did you mean `{meant[similar[0]]}`?"
        return f"`{name}` is neither a file nor a connector registered at {self._servers}: {hint}"


def not_registered(name: str) -> str:
    """Why the configuration of a connector is not known that the user has seen elsewhere."""
    return (
        f"`{name}` has run but is not registered: its runs have its configuration from a file or a DAG. See "
        f"`kconnect status {name}`, give its file, or register it with `kconnect create FILE`"
    )


def _files(folder: Path) -> list[str]:
    """Names of the files in a folder that may be connectors."""
    if not folder.is_dir():
        return []
    return [each.name for each in folder.iterdir() if each.suffix in _SUFFIXES]
