"""Reads connectors for DAG files: from the config topic of a worker, and from a folder of connector files."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.hooks.worker import configurations
from airflow_kconnect.operators.registered.entries import Entry, broken_entry, entry_of
from airflow_kconnect.submit.folder import connector_files
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import read_registered
from airflow_kconnect.variables.secret_keys import is_secret_key

log = logging.getLogger(__name__)

# Airflow gives a DAG file 30 s.
_TIMEOUT_S = 8.0
# For what is not looked at: plugins that were installed meanwhile.
_AGAIN_AFTER_S = 3600.0
_NO_WORKER = {"bootstrap.servers": "localhost:9092"}


def topic_entries(
    kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None, known: Iterable[Entry] = ()
) -> list[Entry]:
    """The connectors in the config topic, by name.

    :param known: entries of an earlier call: only connectors that were changed since are validated.
    :raises ConfigError: the connection is missing or wrong, or the topic may not be read.
    :raises RetriableError: the broker is unavailable.
    """
    worker = configurations({}, worker_config, kafka_conn_id)
    cluster = read_registered(worker.resolved()[1], _TIMEOUT_S)
    surroundings, previous = _surroundings(worker.worker), {entry.version: entry for entry in known if entry.version}
    entries: dict[str, Entry] = {}
    for name, state in cluster.connectors.items():
        version = "" if state.written is None else f"{name} {state.written[0]}@{state.written[1]} {surroundings}"
        entry = previous.get(version)
        if entry is None:
            entry = replace(entry_of(name, {**state.texts, "name": name}, worker.worker), version=version)
        entries[name] = entry
    unreadable = {name: broken_entry(name, why) for name, why in cluster.unreadable.items() if name not in entries}
    return [entry for _, entry in sorted({**unreadable, **entries}.items())]


def _surroundings(worker: Mapping[str, Any]) -> str:
    """Changes with all that a validation depends on besides the configuration, and once an hour."""
    keys = sorted((key, str(value)) for key, value in worker.items() if not is_secret_key(key))
    return hashlib.sha256(repr((int(time.time() // _AGAIN_AFTER_S), keys)).encode()).hexdigest()[:16]


def folder_signature(folder: Path) -> str:
    """A text that changes with the files of a folder. :raises ConfigError: there is no such folder."""
    facts = [(file.name, state.st_ino, state.st_mtime_ns, state.st_size)
             for file in connector_files(folder) for state in (file.stat(),)]  # fmt: skip
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def folder_entries(folder: Path, kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None) -> list[Entry]:
    """The connectors in a folder's files, by name. A file that is not one becomes an entry with the name of the file.

    :raises ConfigError: there is no such folder.
    """
    worker = _known_worker(kafka_conn_id, worker_config)
    entries: dict[str, Entry] = {}
    for file in connector_files(folder):
        entry = _file_entry(file, worker)
        other = entries.get(entry.name)
        if other is not None:
            text = f"both {Path(str(other.file)).name} and {file.name} are connector `{entry.name}`; rename one"
            entry = broken_entry(entry.name, ConfigError({"name": [text]}), other.file)
        entries[entry.name] = entry
    return [entry for _, entry in sorted(entries.items())]


def merged(from_topic: Iterable[Entry], from_folder: Iterable[Entry]) -> list[Entry]:
    """All connectors by name; one that is in both is run from its file."""
    return [entry for _, entry in sorted({entry.name: entry for entry in (*from_topic, *from_folder)}.items())]


def _file_entry(file: Path, worker: Mapping[str, Any]) -> Entry:
    try:
        config = connector_config(file)
        return entry_of(str(config.get("name") or file.stem), config, worker, str(file))
    except ConfigError as error:
        return broken_entry(file.stem, error, str(file))


def _known_worker(kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The worker's keys, for defaults and policies; files can be shown without them."""
    try:
        return {**_NO_WORKER, **configurations({}, worker_config, kafka_conn_id).worker}
    except ConnectError as error:
        log.warning("Connector files are checked without the keys of the worker: %s", error)
        return _NO_WORKER
