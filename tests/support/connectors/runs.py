"""Runs of one connector that reads a program or an API, none of them with Spark, and what they have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.runtime.process.session import LazySession
from tests.support import unique
from tests.support.kafka import Record, read_all
from tests.support.spark.jobs import Job, kill_job_at, start_job

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_KEYS = {
    "transaction.boundary.interval.ms": "100",
    "key.converter": _JSON,
    "key.converter.schemas.enable": "false",
    "value.converter": _JSON,
    "value.converter.schemas.enable": "false",
}
# A job that started Spark's JVM would end.
_WITHOUT_JVM = {"spark.driver.extraJavaOptions": "-XX:NoSuchOption"}


class Runs:
    """Of one connector, whose topics have its name and a dot before those of its streams.

    :param session: for runs in this process. :param keys: the connector's own; those of a single run may be added to
        each.
    """

    def __init__(self, worker: Mapping[str, str], folder: Path, session: LazySession, keys: Mapping[str, str]) -> None:
        self.name, self.worker, self._folder, self._session = unique("runs"), worker, folder / "jobs", session
        self.config = {**_KEYS, **keys, "name": self.name, "topic.prefix": f"{self.name}."}

    def start(self, keys: Mapping[str, str] | None = None) -> Job:
        """A job that has begun."""
        return start_job({**self.config, **(keys or {})}, self.worker, self._folder, conf=_WITHOUT_JVM)

    def run(self, keys: Mapping[str, str] | None = None) -> RunReport:
        """A run in this process."""
        return run(RunSpec({**self.config, **(keys or {})}, self.worker, run_id=unique("run")), self._session)

    def failed(self, keys: Mapping[str, str], code: int) -> str:
        """The output of a job that has ended with this exit code."""
        job = self.start(keys)
        assert job.wait(280) == code, job.text()
        return job.text()

    def kill_at(self, point: str, keys: Mapping[str, str] | None = None) -> None:
        """A job that is killed at a failpoint."""
        kill_job_at(point, {**self.config, **(keys or {})}, self.worker, self._folder, conf=_WITHOUT_JVM)

    def records(self, stream: str) -> list[Record]:
        """Those of a stream that consumers see."""
        return read_all(self.worker["bootstrap.servers"], f"{self.name}.{stream}")

    def values(self, stream: str) -> list[dict[str, Any]]:
        """Their values."""
        return [json.loads(record.value or b"") for record in self.records(stream)]

    def column(self, stream: str, field: str) -> list[Any]:
        """One field of each."""
        return [value[field] for value in self.values(stream)]
