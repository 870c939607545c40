"""A service that starts no jobs: a test says what becomes of each, and leaves in its mailbox what the job would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob, SparkService
from airflow_kconnect.runs.events import EVENT_PREFIX


class FakeService(SparkService):
    """A service with a staging folder of this machine.

    :ivar meanwhile: called while a job is started. :ivar answers: whether it does when a job is to be ended.
    """

    title = "the service"

    def __init__(self, staging: Path) -> None:
        super().__init__("", ServiceExtras(staging=str(staging)))
        self.mailboxes = staging / "runs"
        self.started: list[ServiceJob] = []
        self.ended: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self.answers = True
        self._forgotten: set[str] = set()

    def check(self) -> None:
        """It is there."""

    def start(self, job: ServiceJob) -> str:
        """Keep what is to be started."""
        self.started.append(job)
        self.meanwhile()
        return str(len(self.started))

    def status(self, job_id: str) -> JobStatus:
        """It runs until it is forgotten."""
        return JobStatus("GONE", JobOutcome.LOST) if job_id in self._forgotten else JobStatus("RUNNING")

    def end(self, job_id: str) -> None:
        """Keep that it was ended."""
        if not self.answers:
            raise ClusterManagerUnavailableError("the service does not answer")
        self.ended.append(job_id)

    def forget(self, *events: str) -> None:
        """The last job takes its run spec and leaves these events at its end; then it is forgotten."""
        mailbox = self.mailboxes / self.started[-1].request
        token = json.loads((mailbox / "run.json").read_text())["token"]
        (mailbox / "run.json").unlink()
        lines = [event.replace(EVENT_PREFIX, f"{EVENT_PREFIX}{token} ", 1) for event in events]
        (mailbox / "end.jsonl").write_text("".join(f"{line}\n" for line in lines))
        self._forgotten.add(str(len(self.started)))
