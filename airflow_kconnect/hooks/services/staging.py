"""The folder through which a worker and a job on a service exchange files: what the job needs, and how it has ended."""

from __future__ import annotations

import hashlib
import logging
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.hooks.worker import configurations
from airflow_kconnect.places.base import Place, PlacedFile
from airflow_kconnect.places.keys import CONNECTION, define_store_keys
from airflow_kconnect.places.local import LocalPlace
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.mailbox import END, RUN_SPEC

log = logging.getLogger("kconnect.staging")

STAGING, STAGING_CONNECTION = "staging", "staging_conn_id"
"""Extras of a Spark connection: the folder, and the Airflow connection with the worker's login to it."""

_LIBRARY, _RUNS = "library", "runs"
_BLOCK = 8 * 1024 * 1024
_DAY_MS = 24 * 3600 * 1000
_SPEC_LEFT_MS, _END_LEFT_MS = _DAY_MS, 7 * _DAY_MS
"""After which a mailbox for which nothing waits, such as that of a killed worker, is removed: with a run spec soon, as
there may be secrets in it; an end may be waited for by a trigger whose triggerer does not run.
"""
KEEP_S = 3600.0
"""How often what waits for a job says so in its mailbox."""
_WAITED_FOR = "waited-for"


class Staging:
    """A folder of a store.

    * ``library/<digest>/<name>``: files that every job may use again, such as this package; put there once.
    * ``runs/<id>/``: the mailbox of one run. Its run spec, which may contain secrets, is there until the job has read
      it; how the job has ended, until the worker has. A job may be queued for days: what waits for it says so there.

    :param folder, conn_id: see `of`.
    """

    def __init__(self, folder: str, conn_id: str | None, place: Place) -> None:
        self._folder, self._conn_id = folder, conn_id
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
            return cls(folder, conn_id, open_place(folder, values))
        except ConfigError as error:
            texts = [f"its staging folder {folder}: {text}" for texts in error.errors.values() for text in texts]
            raise ConfigError({"spark_conn_id": texts}) from None

    def library(self, file: Path) -> str:
        """The address of a file of this machine for jobs, put there if it is not there yet."""
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
            name = f"{_LIBRARY}/{digest}/{file.name}"
            if self._place.find(name) is None:
                content.seek(0)
                self._put(name, content)
        return self._uri(name)

    def mailbox(self, run: str) -> str:
        """The address of the mailbox of a run."""
        return self._uri(f"{_RUNS}/{run}")

    def put_run_spec(self, run: str, file: Path) -> None:
        """Put the file with a run spec into the mailbox of its run."""
        self._remove_left()
        if isinstance(self._place, LocalPlace):  # a store's own rules say who may read
            Path(self._place.at.path, _RUNS, run).mkdir(mode=0o700, parents=True)
        with file.open("rb") as content:
            self._put(f"{_RUNS}/{run}/{RUN_SPEC}", content)

    def end_of(self, run: str) -> str:
        """What the job has said at its end; empty if it has not said anything."""
        found = self._place.find(f"{_RUNS}/{run}/{END}")
        if found is None:
            return ""
        with self._place.read(found) as file:
            return file.read().decode(errors="replace")

    def facts(self, run: str) -> dict[str, str | None]:
        """What a trigger has to know about the mailbox of a run, to keep it."""
        return {"folder": self._folder, "conn_id": self._conn_id, "run": run}

    def keep(self, run: str) -> None:
        """Say in the mailbox of a run that its job is waited for. :raises ConnectError: the store is unavailable."""
        self._put(f"{_RUNS}/{run}/{_WAITED_FOR}", BytesIO(b"The job of this run is waited for.\n"))

    @contextmanager
    def keeping(self, run: str) -> Iterator[None]:
        """Say so as long as the block takes."""
        over = threading.Event()

        def keep() -> None:
            while not over.wait(KEEP_S):
                try:
                    self.keep(run)
                except ConnectError as error:
                    log.warning("Mailbox %s may be removed before its job has begun: %s", self.mailbox(run), error)

        thread = threading.Thread(target=keep, name="mailbox", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def clear(self, run: str) -> None:
        """Remove the mailbox of a run."""
        self._remove(f"{_RUNS}/{run}", self._place.files(f"{_RUNS}/{run}/"))

    def _uri(self, name: str) -> str:
        return f"{self._address}/{name}"

    def _put(self, name: str, content: BinaryIO) -> None:
        staging = self._place.stage(name)
        try:
            shutil.copyfileobj(content, staging, _BLOCK)
            staged = staging.finish()
        except BaseException:
            staging.abort()
            raise
        self._place.publish(staged)

    def _remove_left(self) -> None:
        now_ms = int(time.time() * 1000)
        by_folder = groupby(self._place.files(f"{_RUNS}/"), key=lambda file: file.name.rpartition("/")[0])
        for folder, files in [(folder, list(found)) for folder, found in by_folder]:
            with_spec = any(file.name == f"{folder}/{RUN_SPEC}" for file in files)
            before_ms = now_ms - (_SPEC_LEFT_MS if with_spec else _END_LEFT_MS)
            if all(file.changed_ms < before_ms for file in files):
                self._remove(folder, files)

    def _remove(self, folder: str, files: Iterable[PlacedFile]) -> None:
        for file in list(files):
            self._place.remove(file)
        self._place.remove_folder(folder)
