"""Runs the jobs of services that answer as their documentation says: by spark-submit, on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.submit.class_archive import class_archive_options, java_option
from airflow_kconnect.submit.spark import find_spark_submit
from tests.support.stores import Store

_QUICK_JAVA = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass
class Run:
    """A job on a service. :param request: what it was started with, as JSON."""

    request: dict[str, Any]
    objects: CopiedObjects
    process: subprocess.Popen[bytes] | None = None
    cancelled: bool = False

    @property
    def log(self) -> Path:
        """Its output."""
        return self.objects.folder / "log"

    @property
    def exit_code(self) -> int | None:
        """None while it runs. When it has ended, what it has written is in the store."""
        code = None if self.process is None else self.process.poll()
        if code is not None:
            self.objects.put_back()
        return code


@dataclass
class JobRunner:
    """Runs jobs on ``local[2]``, in folders of their own, with copies of the objects that they name.

    :param folder: for their output. :param store: of S3.
    """

    folder: Path
    store: Store
    runs: dict[str, Run] = field(default_factory=dict)

    def start(self, request: dict[str, Any], application: str, arguments: list[str], conf: Mapping[str, str]) -> str:
        """Start a job as spark-submit does. Returns its id."""
        run_id = f"00job{len(list(self.folder.glob('00job*'))):04d}"  # a service may forget jobs
        run = self.runs[run_id] = Run(request, CopiedObjects(self.store, self.folder / run_id))
        spark = find_spark_submit()
        java_options = map(java_option, (*_QUICK_JAVA, *class_archive_options(spark)))
        settings = {
            **conf,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": " ".join(java_options),
            "spark.pyspark.python": sys.executable,
        }
        options = [word for key, value in settings.items() for word in ("--conf", f"{key}={run.objects.here(value)}")]
        words = [run.objects.here(word) for word in (application, *arguments)]
        environment = {key: text for key, text in os.environ.items() if not key.startswith("AIRFLOW")}
        with run.log.open("wb") as log:
            run.process = subprocess.Popen(
                [spark.program, "--master", "local[2]", *options, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=run.objects.folder,
                env=environment,
                start_new_session=True,
            )
        return run_id

    def cancel(self, run_id: str) -> None:
        """End a job."""
        run = self.runs[run_id]
        if run.exit_code is None and run.process is not None:
            run.cancelled = True
            kill_tree(run.process.pid)
            run.process.wait(30)

    def end(self) -> None:
        """End all jobs."""
        for run_id in self.runs:
            self.cancel(run_id)


class CopiedObjects:
    """Objects and folders of a store as files here, and what becomes of these folders in the store again."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._client, self.folder = store.s3_client(), folder
        folder.mkdir()
        self._folders: dict[Path, tuple[str, str, set[str]]] = {}

    def here(self, text: str) -> str:
        """A text with the files here in place of addresses."""
        return re.sub(r"s3://([^/]+)/([^,#\s]+)", lambda match: f"file://{self._copied(match[1], match[2])}", text)

    def _copied(self, bucket: str, key: str) -> Path:
        (parent := self.folder / "objects" / str(len(list(self.folder.glob("objects/*"))))).mkdir(parents=True)
        path = parent / key.rpartition("/")[2]
        keys = self._keys(bucket, key)
        if keys == [key]:
            self._client.download_file(bucket, key, str(path))
            return path
        path.mkdir()
        for each in keys:
            self._client.download_file(bucket, each, str(path / each.removeprefix(f"{key}/")))
        self._folders[path] = bucket, key, {each.removeprefix(f"{key}/") for each in keys}
        return path

    def put_back(self) -> None:
        """Make the folders in the store what they are here."""
        while self._folders:
            path, (bucket, key, before) = self._folders.popitem()
            now = {file.name for file in path.iterdir() if not file.name.startswith(".")}
            for name in before - now:
                self._client.delete_object(Bucket=bucket, Key=f"{key}/{name}")
            for name in now - before:
                self._client.upload_file(str(path / name), bucket, f"{key}/{name}")

    def _keys(self, bucket: str, prefix: str) -> list[str]:
        found = self._client.list_objects_v2(Bucket=bucket, Prefix=prefix)
        return [each["Key"] for each in found.get("Contents", ())]
