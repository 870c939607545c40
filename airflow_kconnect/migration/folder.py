"""The folder into which connectors move: a file for each, and a DAG that runs them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.literal_secrets import is_literal_secret
from airflow_kconnect.submit.preflight import connector_config

DAG_FILE = "migrated_connectors.py"

# What the Kafka connection of Airflow need not know; how to reach Kafka and to log in is in that connection only.
_WORKER_KEYS = re.compile(
    r"group\.id|(offset|config)\.storage\.topic|(key|value|header)\.converter(\..+)?|exactly\.once\.source\.support"
    r"|connector\.client\.config\.override\..+|topic\.creation\.enable"
)
_DAG = Template('''"""Connectors that were moved here from a Connect cluster: each file in this folder is a task."""

from datetime import datetime

from airflow.sdk import DAG

from airflow_kconnect import connectors_from_folder

# How to reach Kafka is in the connection kafka_default. These keys are those of the worker file of the move.
WORKER = $worker

# Runs move what is new and end: the schedule is the longest time that a record waits.
with DAG("$dag_id", schedule="@hourly", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1) as dag:
    connectors_from_folder(".", worker_config=WORKER, retries=3)
''')


class ConnectorFolder:
    """Reads and writes connector files. An existing file is never changed: its user may have adapted it.

    :param path: created when the first file is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def file_of(self, name: str) -> Path:
        """Where the configuration of a connector is, or will be; any name of a connector makes a valid file name."""
        safe = quote(name, safe=" ")
        return self.path / f"{'%2E' + safe[1:] if safe.startswith('.') else safe}.json"

    def read(self, name: str) -> dict[str, Any] | None:
        """The configuration in a connector's file; None if there is no file yet.

        :raises ConfigError: the file is not a connector's, or is that of another one.
        """
        file = self.file_of(name)
        if not file.exists():
            return None
        config = connector_config(file)
        if config.get("name") != name:
            raise ConfigError({str(file): [f"is not of connector {name}: its `name` is {config.get('name')}"]})
        return config

    def write(self, name: str, config: Mapping[str, Any]) -> str:
        """Write a connector's file, unless there is one; returns what was done.

        :raises ConfigError: the folder cannot be written to.
        """
        file = self.file_of(name)
        if file.exists():
            return f"kept {file}"
        flat = {"name": name, **{key: value for key, value in config.items() if key != "name"}}
        private = any(is_literal_secret(key, value) for key, value in flat.items())
        _write(file, json.dumps(flat, indent=2, ensure_ascii=False) + "\n", 0o600 if private else 0o666)
        return f"wrote {file}" + (", readable by its owner only: it has secrets in it" if private else "")

    def write_dag(self, worker: Mapping[str, Any]) -> str | None:
        """Write the DAG file, unless the folder or the one above has a Python file that reads it.

        :param worker: the worker's keys, variables not resolved.
        """
        if any("connectors_from_folder" in _text(file) for file in (*self.path.glob("*.py"), *self._above())):
            return None
        keys = {key: str(text) for key, text in sorted(worker.items()) if _WORKER_KEYS.fullmatch(key)}
        public = {key: text for key, text in keys.items() if not is_literal_secret(key, text)}
        dag_id = re.sub(r"[^\w.-]+", "_", self.path.resolve().name) or "connectors"
        file = self.path / DAG_FILE
        _write(file, _DAG.substitute(worker=json.dumps(public, indent=4), dag_id=dag_id), 0o666)
        return f"wrote {file}, the DAG {dag_id}: set its schedule, and switch it on when all have moved"

    def _above(self) -> list[Path]:
        name = self.path.resolve().name
        return [file for file in self.path.resolve().parent.glob("*.py") if name in _text(file)]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _write(file: Path, text: str, mode: int) -> None:
    """Write a new file, all or nothing: a run must not find half of it."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as out:
            out.write(text)
        partial.replace(file)
    except OSError as error:
        raise ConfigError({"--to": [f"cannot write {file}: {error.strerror}"]}) from None
