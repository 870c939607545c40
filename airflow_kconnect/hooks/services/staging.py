"""The folder through which a worker and a job on a service exchange files: what the job needs, and how it has ended."""

from __future__ import annotations

import hashlib
import shutil
import time
from pathlib import Path

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.worker import configurations
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.keys import CONNECTION, define_store_keys
from airflow_kconnect.places.local import LocalPlace
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.mailbox import END, RUN_SPEC

STAGING, STAGING_CONNECTION = "staging", "staging_conn_id"
"""Extras of a Spark connection: the folder, and the Airflow connection with the worker's login to it."""

_LIBRARY, _RUNS = "library", "runs"
_BLOCK = 8 * 1024 * 1024
_LEFT_MS = 24 * 3600 * 1000
"""After which what a killed worker has left is removed."""


class Staging:
    """A folder of a store.

    * ``library/<digest>/<name>``: files that every job may use again, such as this package; put there once.
    * ``runs/<id>/``: the mailbox of one run. Its run spec, which may contain secrets, is there until the job has read
      it; how the job has ended, until the worker has.
    """

    def __init__(self, folder: str, place: Place) -> None:
        # With its scheme as it was written: a job's file systems may know `s3a://` and not `s3://`.
        self._address = f"{'file://' if folder.startswith('/') else ''}{folder.rstrip('/')}"
        self._place = place

    @classmethod
    def of(cls, folder: str, conn_id: str | None) -> Staging:
        """Open a folder with the login of an Airflow connection; without one, as the store's own programs log in.

        :raises ConfigError: the address is none, or the connection does not fit.
        """
        given = {"directory": folder} | ({CONNECTION: conn_id} if conn_id else {})
        try:
            config, _ = configurations(given, {}, None).resolved()
            values = define_store_keys(ConfigDef()).parse({key: str(value) for key, value in config.items()})
            return cls(folder, open_place(folder, values))
        except ConfigError as error:
            texts = [f"its staging folder {folder}: {text}" for texts in error.errors.values() for text in texts]
            raise ConfigError({"spark_conn_id": texts}) from None

    def library(self, file: Path) -> str:
        """The address of a file of this machine for jobs, put there if it is not there yet."""
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
        name = f"{_LIBRARY}/{digest}/{file.name}"
        if self._place.find(name) is None:
            self._put(name, file)
        return self._uri(name)

    def mailbox(self, run: str) -> str:
        """The address of the mailbox of a run."""
        return self._uri(f"{_RUNS}/{run}")

    def put_run_spec(self, run: str, file: Path) -> None:
        """Put the file with a run spec into the mailbox of its run."""
        self._remove_left()
        if isinstance(self._place, LocalPlace):  # a store's own rules say who may read
            Path(self._place.at.path, _RUNS, run).mkdir(mode=0o700, parents=True)
        self._put(f"{_RUNS}/{run}/{RUN_SPEC}", file)

    def end_of(self, run: str) -> str:
        """What the job has said at its end; empty if it has not said anything."""
        found = self._place.find(f"{_RUNS}/{run}/{END}")
        if found is None:
            return ""
        with self._place.read(found) as file:
            return file.read().decode(errors="replace")

    def clear(self, run: str) -> None:
        """Remove the mailbox of a run."""
        self._remove(f"{_RUNS}/{run}/")
        self._place.remove_folder(f"{_RUNS}/{run}")

    def _uri(self, name: str) -> str:
        return f"{self._address}/{name}"

    def _put(self, name: str, file: Path) -> None:
        staging = self._place.stage(name)
        try:
            with file.open("rb") as content:
                shutil.copyfileobj(content, staging, _BLOCK)
            staged = staging.finish()
        except BaseException:
            staging.abort()
            raise
        self._place.publish(staged)

    def _remove_left(self) -> None:
        self._remove(f"{_RUNS}/", before_ms=int(time.time() * 1000) - _LEFT_MS)

    def _remove(self, prefix: str, before_ms: int | None = None) -> None:
        old = [file for file in self._place.files(prefix) if before_ms is None or file.changed_ms < before_ms]
        for file in old:
            self._place.remove(file)
        for folder in {file.name.rpartition("/")[0] for file in old}:
            self._place.remove_folder(folder)
