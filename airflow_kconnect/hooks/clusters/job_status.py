"""The status of a job that runs outside the worker: one vocabulary for all cluster managers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class JobOutcome(StrEnum):
    """How a job has ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    KILLED = "killed"
    LOST = "lost"


@dataclass(frozen=True)
class JobStatus:
    """A cluster manager's answer about a job.

    :param state: in the manager's own words: `RUNNING`, `Succeeded`, ...
    :param outcome: None while the job has not ended; `LOST` if the manager does not know it (any more).
    :param exit_code: that of the driver, None if the manager does not report it.
    :param reason: the manager's words about a failure.
    :param log: where the driver's log is, for display.
    :param report: the run's report, if the driver's output can be read.
    :param error: the job's error event, if the driver's output can be read.
    """

    state: str
    outcome: JobOutcome | None = None
    exit_code: int | None = None
    reason: str = ""
    log: str = ""
    report: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class ClusterManagerUnavailableError(Exception):
    """The cluster manager did not answer, or its answer says nothing about the job. Ask again later."""
