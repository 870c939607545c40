"""The configuration of the connector that a command names: that of a file, or the registered one of a name."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import resolved
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit import operations
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import read_registered
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES

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


def given(connector: str, worker: Mapping[str, str]) -> Given:
    """What NAME|FILE means. A file that exists wins over a name.

    :param worker: the worker's keys, as they were written.
    :raises ConfigError: it is neither a file nor the name of a registered connector.
    :raises RetriableError: the broker is unavailable.
    """
    name = operations.registered_name(connector)
    if name is None:
        return Given(file_config(connector), dict(worker), Path(connector))
    return Given(registered_config(name, worker), dict(worker), None)


def file_config(file: str) -> dict[str, Any]:
    """The configuration in a file. :raises ConfigError: it cannot be read; there may be one of a similar name."""
    path = Path(file)
    if not path.exists():
        similar = get_close_matches(path.name, _files(path.parent), n=1)
        hint = f": did you mean `{path.with_name(similar[0])}`?" if similar else ""
        raise ConfigError({"connector": [f"there is no file {file}{hint}"]})
    return connector_config(path)


def registered_config(name: str, worker: Mapping[str, str]) -> dict[str, Any]:
    """The configuration that is registered under a name. :raises ConfigError: there is none; see `given`."""
    check_listening(worker)
    with resolved({}, worker) as (_, keys):
        known = read_registered(keys).connectors
        if name in known:
            return {**known[name].texts, "name": name}
        raise ConfigError({"connector": [_neither(name, known, keys)]})


def _neither(name: str, registered: Mapping[str, object], keys: Mapping[str, Any]) -> str:
    others = operations.known_names(keys)
    if name in others:
        return not_registered(name)
    meant = {Path(file).stem: file for file in _files(Path())} | {each: each for each in (*others, *registered)}
    similar = get_close_matches(name, meant, n=1)
    hint = "give the connector's file, or register it with `kconnect create FILE`"
    if similar:
        hint = f"did you mean `{meant[similar[0]]}`?"
    return f"`{name}` is neither a file nor a connector registered at {keys.get('bootstrap.servers')}: {hint}"


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
